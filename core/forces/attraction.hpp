// The pull of the affinities.
#pragma once

#include <cstdint>

#include "../array_view.hpp"

namespace pixelsne {

// A square sparse matrix by rows: row i has columns[offsets[i]] .. columns[offsets[i + 1] - 1].
struct SparseRows {
    const std::int64_t* offsets;  // (rows + 1)
    const std::int32_t* columns;
    const float* values;
    std::size_t rows;
};

// force: (n, 2), sum over j of p_ij (y_i - y_j) / (1 + d2), without exaggeration or the factor 4.
void attraction(const SparseRows& affinities, Positions positions, int threads, ArrayView<float> force);

// Sum over p_ij > 0 of p_ij log(p_ij (1 + d2)): the KL divergence is this plus the normalizer's
// logarithm times the sum of all p_ij. sums receives the two sums.
void divergence_sums(const SparseRows& affinities, Positions positions, int threads, double sums[2]);

}  // namespace pixelsne
