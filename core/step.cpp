#include "step.hpp"

#include <vector>

#include "parallel_for.hpp"

namespace pixelsne {
namespace {

// Shifts the map so that `center` moves to 0, and returns its bounds.
Bounds recenter(ArrayView<float> positions, const float (&center)[2], int threads) {
    return bounds_around(positions.rows, threads, [&](std::size_t point) {
        float* position = positions.row(point);
        position[0] -= center[0];
        position[1] -= center[1];
        return position;
    });
}

}  // namespace

CoordinateSums move_points(const StepSettings& settings, Positions attraction, Positions push, int threads,
                           DescentState& state) {
    const std::size_t n = state.positions.rows;
    thread_local std::vector<CoordinateSums> reused_sums;
    std::vector<CoordinateSums>& sums = reused_sums;  // the calling thread's buffer, shared with all workers
    sums.resize(chunk_count(n, kPositionsPerChunk));
    const Kernels& kernel = kernels();
    parallel_for(n, kPositionsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        kernel.step(settings, attraction.data, push.data, begin, end, state.positions.data, state.velocity.data,
                    state.gains.data, sums[chunk].axis);
    });
    return total_of(sums);
}

Bounds take_step(const StepSettings& settings, Positions attraction, Positions push, int threads, DescentState& state) {
    const CoordinateSums sums = move_points(settings, attraction, push, threads, state);
    const auto n = static_cast<double>(state.positions.rows);
    const float center[2] = {static_cast<float>(sums.axis[0] / n), static_cast<float>(sums.axis[1] / n)};
    return recenter(state.positions, center, threads);
}

}  // namespace pixelsne
