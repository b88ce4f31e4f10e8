#include "attraction.hpp"

#include <cmath>
#include <vector>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kRowsPerChunk = 512;

}  // namespace

void attraction(const SparseRows& affinities, Positions positions, int threads, ArrayView<float> force) {
    const Kernels& kernel = kernels();
    parallel_for(affinities.rows, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        kernel.attraction(affinities.offsets, affinities.columns, affinities.values, positions.data, begin, end,
                          force.data);
    });
}

AffinitySums sum_affinities(const SparseRows& affinities, int threads) {
    std::vector<AffinitySums> parts(chunk_count(affinities.rows, kRowsPerChunk), AffinitySums{0.0, 0.0});
    parallel_for(affinities.rows, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        for (std::int64_t edge = affinities.offsets[begin]; edge < affinities.offsets[end]; ++edge) {
            const double value = affinities.values[edge];
            if (value > 0.0) parts[chunk].entropy += value * std::log(value);
            parts[chunk].mass += value;
        }
    });
    AffinitySums sums{0.0, 0.0};
    for (const AffinitySums& part : parts) {
        sums.entropy += part.entropy;
        sums.mass += part.mass;
    }
    return sums;
}

double sum_log_distances(const SparseRows& affinities, Positions positions, int threads) {
    std::vector<double> parts(chunk_count(affinities.rows, kRowsPerChunk));
    const Kernels& kernel = kernels();
    parallel_for(affinities.rows, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        parts[chunk] =
            kernel.log_distances(affinities.offsets, affinities.columns, affinities.values, positions.data, begin, end);
    });
    double total = 0.0;
    for (const double part : parts) total += part;
    return total;
}

}  // namespace pixelsne
