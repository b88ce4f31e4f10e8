#include "halo.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel_for.hpp"
#include "step.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kPointsPerChunk = 4096;
constexpr double kLargestNumber = 65535.0;

Bounds bounds_of_chosen(Positions positions, const std::int32_t* chosen, std::size_t count, int threads) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Bounds none{{kInfinity, kInfinity}, {-kInfinity, -kInfinity}};
    std::vector<Bounds> parts(chunk_count(count, kPointsPerChunk), none);
    parallel_for(count, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        Bounds bounds = none;
        for (std::size_t place = begin; place < end; ++place) {
            const float* position = positions.row(static_cast<std::size_t>(chosen[place]));
            for (int axis = 0; axis < 2; ++axis) {
                bounds.low[axis] = std::min(bounds.low[axis], position[axis]);
                bounds.high[axis] = std::max(bounds.high[axis], position[axis]);
            }
        }
        parts[chunk] = bounds;
    });
    Bounds whole = none;
    for (const Bounds& part : parts) {
        for (int axis = 0; axis < 2; ++axis) {
            whole.low[axis] = std::min(whole.low[axis], part.low[axis]);
            whole.high[axis] = std::max(whole.high[axis], part.high[axis]);
        }
    }
    return whole;
}

}  // namespace

Coding encode_positions(Positions positions, const std::int32_t* chosen, std::size_t count, int threads,
                        std::uint16_t* numbers) {
    if (count == 0) return {{0.0, 0.0}, {1.0, 1.0}};
    const Bounds bounds = bounds_of_chosen(positions, chosen, count, threads);
    Coding coding{};
    double inverse[2];
    for (int axis = 0; axis < 2; ++axis) {
        const double span = static_cast<double>(bounds.high[axis]) - bounds.low[axis];
        coding.low[axis] = bounds.low[axis];
        coding.step[axis] = span > 0.0 ? span / kLargestNumber : 1.0;
        inverse[axis] = 1.0 / coding.step[axis];
    }
    parallel_for(count, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t place = begin; place < end; ++place) {
            const float* position = positions.row(static_cast<std::size_t>(chosen[place]));
            for (int axis = 0; axis < 2; ++axis) {
                const double steps = (position[axis] - coding.low[axis]) * inverse[axis] + 0.5;
                // What is no number becomes 0 here; the bounds that are told beside it give it away.
                const double bounded = steps > 0.0 ? std::min(steps, kLargestNumber) : 0.0;
                numbers[2 * place + static_cast<std::size_t>(axis)] = static_cast<std::uint16_t>(bounded);
            }
        }
    });
    return coding;
}

void decode_positions(const Coding& coding, const std::uint16_t* numbers, const std::int32_t* chosen, std::size_t count,
                      const double (&center)[2], int threads, float* to) {
    const double low[2] = {coding.low[0] - center[0], coding.low[1] - center[1]};
    parallel_for(count, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t place = begin; place < end; ++place) {
            const std::uint16_t* from = numbers + 2 * static_cast<std::size_t>(chosen[place]);
            to[2 * place] = static_cast<float>(low[0] + coding.step[0] * from[0]);
            to[2 * place + 1] = static_cast<float>(low[1] + coding.step[1] * from[1]);
        }
    });
}

void sum_positions(Positions positions, int threads, double (&sums)[2]) {
    std::vector<double> parts(2 * chunk_count(positions.rows, kPointsPerChunk));
    parallel_for(positions.rows, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        double x = 0.0;
        double y = 0.0;
        for (std::size_t point = begin; point < end; ++point) {
            x += positions.row(point)[0];
            y += positions.row(point)[1];
        }
        parts[2 * chunk] = x;
        parts[2 * chunk + 1] = y;
    });
    sums[0] = sums[1] = 0.0;
    for (std::size_t part = 0; part < parts.size(); part += 2) {
        sums[0] += parts[part];
        sums[1] += parts[part + 1];
    }
}

void center_positions(Positions positions, const double (&center)[2], int threads, float* to) {
    parallel_for(positions.rows, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t point = begin; point < end; ++point) {
            const float* position = positions.row(point);
            to[2 * point] = static_cast<float>(position[0] - center[0]);
            to[2 * point + 1] = static_cast<float>(position[1] - center[1]);
        }
    });
}

}  // namespace pixelsne
