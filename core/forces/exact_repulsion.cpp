#include "exact_repulsion.hpp"

#include <vector>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {

double exact_repulsion(Positions positions, int threads, ArrayView<float> push) {
    constexpr std::size_t kPointsPerChunk = 64;
    const std::size_t n = positions.rows;
    std::vector<float> xs(n);
    std::vector<float> ys(n);
    for (std::size_t point = 0; point < n; ++point) {
        xs[point] = positions.row(point)[0];
        ys[point] = positions.row(point)[1];
    }
    std::vector<double> sums(chunk_count(n, kPointsPerChunk));
    const Kernels& kernel = kernels();
    parallel_for(n, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        sums[chunk] = kernel.exact_repulsion(xs.data(), ys.data(), n, begin, end, push.data);
    });
    double normalizer = 0.0;
    for (const double sum : sums) normalizer += sum;
    return normalizer;
}

}  // namespace pixelsne
