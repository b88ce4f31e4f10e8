#include "bounds.hpp"

#include <algorithm>

namespace pixelsne {

Bounds merged(const std::vector<Bounds>& parts) {
    Bounds whole = empty_bounds();
    for (const Bounds& part : parts) {
        for (int axis = 0; axis < 2; ++axis) {
            whole.low[axis] = std::min(whole.low[axis], part.low[axis]);
            whole.high[axis] = std::max(whole.high[axis], part.high[axis]);
        }
    }
    return whole;
}

std::vector<Bounds>& reused_bounds(std::size_t chunks) {
    thread_local std::vector<Bounds> reused;
    reused.resize(chunks);
    return reused;
}

Bounds find_bounds(Positions positions, int threads) {
    return bounds_around(positions.rows, threads, [&](std::size_t point) { return positions.row(point); });
}

CoordinateSums total_of(const std::vector<CoordinateSums>& parts) {
    CoordinateSums whole{{0.0, 0.0}};
    for (const CoordinateSums& part : parts) {
        for (int axis = 0; axis < 2; ++axis) whole.axis[axis] += part.axis[axis];
    }
    return whole;
}

CoordinateSums sum_positions(Positions positions, int threads) {
    std::vector<CoordinateSums> parts(chunk_count(positions.rows, kPositionsPerChunk));
    parallel_for(positions.rows, kPositionsPerChunk, threads,
                 [&](std::size_t begin, std::size_t end, std::size_t chunk) {
                     CoordinateSums sums{{0.0, 0.0}};
                     for (std::size_t point = begin; point < end; ++point) {
                         for (int axis = 0; axis < 2; ++axis) sums.axis[axis] += positions.row(point)[axis];
                     }
                     parts[chunk] = sums;
                 });
    return total_of(parts);
}

}  // namespace pixelsne
