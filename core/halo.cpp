#include "halo.hpp"

#include <algorithm>

#include "bounds.hpp"
#include "parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr double kMaxCode = 65535.0;

}  // namespace

Coding encode_positions(Positions positions, const std::int32_t* rows, std::size_t count, int threads,
                        std::uint16_t* codes) {
    if (count == 0) return {{0.0, 0.0}, {1.0, 1.0}};
    const auto position_of = [&](std::size_t index) { return positions.row(static_cast<std::size_t>(rows[index])); };
    const Bounds bounds = bounds_around(count, threads, position_of);
    Coding coding{};
    double inverse[2];
    for (int axis = 0; axis < 2; ++axis) {
        const double span = static_cast<double>(bounds.high[axis]) - bounds.low[axis];
        coding.low[axis] = bounds.low[axis];
        coding.step[axis] = span > 0.0 ? span / kMaxCode : 1.0;
        inverse[axis] = 1.0 / coding.step[axis];
    }
    parallel_for(count, kPositionsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t index = begin; index < end; ++index) {
            const float* position = position_of(index);
            for (int axis = 0; axis < 2; ++axis) {
                const double steps = (position[axis] - coding.low[axis]) * inverse[axis] + 0.5;
                // NaN becomes 0 here. The receiver detects it by the bounds, which are sent with the codes.
                const double bounded = steps > 0.0 ? std::min(steps, kMaxCode) : 0.0;
                codes[2 * index + static_cast<std::size_t>(axis)] = static_cast<std::uint16_t>(bounded);
            }
        }
    });
    return coding;
}

void decode_positions(const Coding& coding, const std::uint16_t* codes, const std::int32_t* rows, std::size_t count,
                      const double (&center)[2], int threads, float* out) {
    const double low[2] = {coding.low[0] - center[0], coding.low[1] - center[1]};
    parallel_for(count, kPositionsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t index = begin; index < end; ++index) {
            const std::uint16_t* from = codes + 2 * static_cast<std::size_t>(rows[index]);
            out[2 * index] = static_cast<float>(low[0] + coding.step[0] * from[0]);
            out[2 * index + 1] = static_cast<float>(low[1] + coding.step[1] * from[1]);
        }
    });
}

void center_positions(Positions positions, const double (&center)[2], int threads, float* out) {
    parallel_for(positions.rows, kPositionsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t point = begin; point < end; ++point) {
            const float* position = positions.row(point);
            out[2 * point] = static_cast<float>(position[0] - center[0]);
            out[2 * point + 1] = static_cast<float>(position[1] - center[1]);
        }
    });
}

}  // namespace pixelsne
