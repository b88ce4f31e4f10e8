#include "exact_repulsion.hpp"

#include <vector>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

// Buffers that the calling thread keeps from iteration to iteration, so that the loop allocates no memory.
struct Workspace {
    std::vector<float> xs, ys;
    std::vector<double> sums;
};

}  // namespace

double exact_repulsion(Positions positions, PointWeights weights, int threads, ArrayView<float> push) {
    constexpr std::size_t kPointsPerChunk = 64;
    const std::size_t n = positions.rows;
    thread_local Workspace reused;
    Workspace& workspace = reused;  // the calling thread's buffers, shared with all workers
    workspace.xs.resize(n);
    workspace.ys.resize(n);
    workspace.sums.resize(chunk_count(n, kPointsPerChunk));
    for (std::size_t point = 0; point < n; ++point) {
        workspace.xs[point] = positions.row(point)[0];
        workspace.ys[point] = positions.row(point)[1];
    }
    const Kernels& kernel = kernels();
    parallel_for(n, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        workspace.sums[chunk] =
            kernel.exact_repulsion(workspace.xs.data(), workspace.ys.data(), weights.data, n, begin, end, push.data);
    });
    double normalizer = 0.0;
    for (const double sum : workspace.sums) normalizer += sum;
    return normalizer;
}

}  // namespace pixelsne
