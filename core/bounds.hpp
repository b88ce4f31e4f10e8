// Where a map lies: its bounds, and sums of its coordinates, from which the center follows.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "array_view.hpp"
#include "parallel_for.hpp"

namespace pixelsne {

// Of a loop over a map's points: what is found in a chunk is kept, and combined in the order of the chunks.
constexpr std::size_t kPositionsPerChunk = 4096;

struct Bounds {
    float low[2];
    float high[2];
};

// Around nothing: low > high.
constexpr Bounds no_bounds() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return {{kInfinity, kInfinity}, {-kInfinity, -kInfinity}};
}

// NaN changes nothing.
inline void widen(const float* position, Bounds& bounds) {
    for (int axis = 0; axis < 2; ++axis) {
        bounds.low[axis] = position[axis] < bounds.low[axis] ? position[axis] : bounds.low[axis];
        bounds.high[axis] = position[axis] > bounds.high[axis] ? position[axis] : bounds.high[axis];
    }
}

Bounds joined(const std::vector<Bounds>& parts);

// Bounds of a loop's chunks. Kept by the calling thread from iteration to iteration, so that the loop allocates
// nothing.
std::vector<Bounds>& kept_bounds(std::size_t chunks);

// Around position_of(place) for all places below `count`; each is asked for once.
template <class PositionOf>
Bounds bounds_around(std::size_t count, int threads, PositionOf&& position_of) {
    std::vector<Bounds>& parts = kept_bounds(chunk_count(count, kPositionsPerChunk));
    parallel_for(count, kPositionsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        Bounds bounds = no_bounds();
        for (std::size_t place = begin; place < end; ++place) widen(position_of(place), bounds);
        parts[chunk] = bounds;
    });
    return joined(parts);
}

// Smallest and largest coordinates, NaN left aside; low > high where there are none.
Bounds find_bounds(Positions positions, int threads);

// Sums of all coordinates, along each axis.
struct CoordinateSums {
    double axis[2];
};

CoordinateSums added(const std::vector<CoordinateSums>& parts);

CoordinateSums sum_positions(Positions positions, int threads);

}  // namespace pixelsne
