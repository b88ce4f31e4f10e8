#include "step.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kPointsPerChunk = 4096;

void include(const float* position, Bounds& bounds) {
    for (int axis = 0; axis < 2; ++axis) {
        bounds.low[axis] = position[axis] < bounds.low[axis] ? position[axis] : bounds.low[axis];
        bounds.high[axis] = position[axis] > bounds.high[axis] ? position[axis] : bounds.high[axis];
    }
}

Bounds empty_bounds() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return Bounds{{kInfinity, kInfinity}, {-kInfinity, -kInfinity}};
}

// Kept by the calling thread from iteration to iteration, so that the loop allocates nothing.
std::vector<Bounds>& kept_parts(std::size_t chunks) {
    thread_local std::vector<Bounds> parts;
    parts.assign(chunks, empty_bounds());
    return parts;
}

Bounds combine(const std::vector<Bounds>& parts) {
    Bounds whole = empty_bounds();
    for (const Bounds& part : parts) {
        for (int axis = 0; axis < 2; ++axis) {
            whole.low[axis] = std::fmin(whole.low[axis], part.low[axis]);
            whole.high[axis] = std::fmax(whole.high[axis], part.high[axis]);
        }
    }
    return whole;
}

}  // namespace

Bounds find_bounds(Positions positions, int threads) {
    std::vector<Bounds>& parts = kept_parts(chunk_count(positions.rows, kPointsPerChunk));
    parallel_for(positions.rows, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        for (std::size_t point = begin; point < end; ++point) include(positions.row(point), parts[chunk]);
    });
    return combine(parts);
}

CoordinateSums move_points(const StepSettings& settings, Positions attraction, Positions push, int threads,
                           DescentState& state) {
    const std::size_t n = state.positions.rows;
    const std::size_t chunks = chunk_count(n, kPointsPerChunk);
    thread_local std::vector<double> kept_sums;
    std::vector<double>& sums = kept_sums;  // the caller's, for all threads
    sums.resize(2 * chunks);
    const Kernels& kernel = kernels();
    parallel_for(n, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        kernel.step(settings, attraction.data, push.data, begin, end, state.positions.data, state.velocity.data,
                    state.gains.data, &sums[2 * chunk]);
    });
    CoordinateSums totals{{0.0, 0.0}};
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        totals.axis[0] += sums[2 * chunk];
        totals.axis[1] += sums[2 * chunk + 1];
    }
    return totals;
}

Bounds recenter(ArrayView<float> positions, const float (&center)[2], int threads) {
    std::vector<Bounds>& parts = kept_parts(chunk_count(positions.rows, kPointsPerChunk));
    parallel_for(positions.rows, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        for (std::size_t point = begin; point < end; ++point) {
            float* position = positions.row(point);
            position[0] -= center[0];
            position[1] -= center[1];
            include(position, parts[chunk]);
        }
    });
    return combine(parts);
}

Bounds take_step(const StepSettings& settings, Positions attraction, Positions push, int threads, DescentState& state) {
    const CoordinateSums sums = move_points(settings, attraction, push, threads, state);
    const auto n = static_cast<double>(state.positions.rows);
    const float center[2] = {static_cast<float>(sums.axis[0] / n), static_cast<float>(sums.axis[1] / n)};
    return recenter(state.positions, center, threads);
}

}  // namespace pixelsne
