#include "attraction.hpp"

#include <vector>

#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kRowsPerChunk = 512;

}  // namespace

void attraction(const SparseRows& affinities, Positions positions, int threads, ArrayView<float> force) {
    const Kernels& kernel = kernels();
    parallel_for(affinities.rows, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        kernel.attraction(affinities, positions.data, begin, end, force.data);
    });
}

AffinitySums sum_affinities(const SparseRows& affinities, int threads) {
    std::vector<AffinitySums> parts(chunk_count(affinities.rows, kRowsPerChunk), AffinitySums{0.0, 0.0});
    parallel_for(affinities.rows, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        const std::int64_t first = affinities.offsets[begin];
        const auto count = static_cast<std::size_t>(affinities.offsets[end] - first);
        double mass = 0.0;
        const double negative_entropy = kernels().negative_entropy(affinities.values + first, count, &mass);
        parts[chunk] = {negative_entropy, mass};
    });
    AffinitySums sums{0.0, 0.0};
    for (const AffinitySums& part : parts) {
        sums.negative_entropy += part.negative_entropy;
        sums.mass += part.mass;
    }
    return sums;
}

double sum_log_distances(const SparseRows& affinities, Positions positions, int threads) {
    std::vector<double> parts(chunk_count(affinities.rows, kRowsPerChunk));
    const Kernels& kernel = kernels();
    parallel_for(affinities.rows, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        parts[chunk] = kernel.log_distances(affinities, positions.data, begin, end);
    });
    double total = 0.0;
    for (const double part : parts) total += part;
    return total;
}

}  // namespace pixelsne
