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
        kernel.attraction(affinities.offsets, affinities.columns, affinities.values, positions.data, begin, end, force.data);
    });
}

void divergence_sums(const SparseRows& affinities, Positions positions, int threads, double sums[2]) {
    const std::size_t chunks = chunk_count(affinities.rows, kRowsPerChunk);
    std::vector<double> logarithms(chunks);
    std::vector<double> masses(chunks);
    parallel_for(affinities.rows, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        for (std::size_t row = begin; row < end; ++row) {
            const float* here = positions.row(row);
            for (std::int64_t edge = affinities.offsets[row]; edge < affinities.offsets[row + 1]; ++edge) {
                const double value = affinities.values[edge];
                if (value <= 0.0) continue;
                const float* there = positions.row(static_cast<std::size_t>(affinities.columns[edge]));
                const double dx = static_cast<double>(here[0]) - there[0];
                const double dy = static_cast<double>(here[1]) - there[1];
                logarithms[chunk] += value * std::log(value * (1.0 + dx * dx + dy * dy));
                masses[chunk] += value;
            }
        }
    });
    sums[0] = sums[1] = 0.0;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        sums[0] += logarithms[chunk];
        sums[1] += masses[chunk];
    }
}

}  // namespace pixelsne
