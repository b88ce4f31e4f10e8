// The bounds of a map, and the sums of its coordinates, from which its center follows.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "array_view.hpp"
#include "parallel_for.hpp"

namespace pixelsne {

// Chunk size of loops over a map's points. Each chunk's result is stored, and results are combined in chunk order.
constexpr std::size_t kPositionsPerChunk = 4096;

struct Bounds {
    float low[2];
    float high[2];
};

// Returns the bounds of no points: low > high.
constexpr Bounds empty_bounds() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return {{kInfinity, kInfinity}, {-kInfinity, -kInfinity}};
}

// Extends the bounds to a position. NaN has no effect.
inline void widen(const float* position, Bounds& bounds) {
    for (int axis = 0; axis < 2; ++axis) {
        bounds.low[axis] = position[axis] < bounds.low[axis] ? position[axis] : bounds.low[axis];
        bounds.high[axis] = position[axis] > bounds.high[axis] ? position[axis] : bounds.high[axis];
    }
}

Bounds merged(const std::vector<Bounds>& parts);

// Returns a buffer for the bounds of a loop's chunks. The calling thread keeps it from iteration to iteration, so that
// the loop allocates no memory.
std::vector<Bounds>& reused_bounds(std::size_t chunks);

// Returns the bounds of position_of(index) for all indices below `count`. Calls position_of once per index.
template <class PositionOf>
Bounds bounds_around(std::size_t count, int threads, PositionOf&& position_of) {
    std::vector<Bounds>& parts = reused_bounds(chunk_count(count, kPositionsPerChunk));
    parallel_for(count, kPositionsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        Bounds bounds = empty_bounds();
        for (std::size_t index = begin; index < end; ++index) widen(position_of(index), bounds);
        parts[chunk] = bounds;
    });
    return merged(parts);
}

// Returns the smallest and largest coordinates, ignoring NaN; low > high if there are none.
Bounds find_bounds(Positions positions, int threads);

// Sums of all coordinates along each axis.
struct CoordinateSums {
    double axis[2];
};

CoordinateSums total_of(const std::vector<CoordinateSums>& parts);

CoordinateSums sum_positions(Positions positions, int threads);

}  // namespace pixelsne
