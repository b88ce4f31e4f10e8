// The pull of the affinities.
#pragma once

#include <cstdint>

#include "../array_view.hpp"

namespace pixelsne {

// A sparse matrix by rows: row i has columns[offsets[i]] .. columns[offsets[i + 1] - 1]. Rows are the first of the
// points that columns stand for; on one machine, all of them.
struct SparseRows {
    const std::int64_t* offsets;  // (rows + 1)
    const std::int32_t* columns;
    const float* values;
    std::size_t rows;
};

// force: (rows, 2), sum over j of p_ij (y_i - y_j) / (1 + d2), without exaggeration or the factor 4.
void attraction(const SparseRows& affinities, Positions positions, int threads, ArrayView<float> force);

// Of all p_ij > 0: the sum of p_ij log(p_ij), which no map changes, and the sum of p_ij.
struct AffinitySums {
    double entropy;
    double mass;
};
AffinitySums sum_affinities(const SparseRows& affinities, int threads);

// Sum of p_ij log(1 + d2). The KL divergence is entropy + this + mass * log(normalizer).
double sum_log_distances(const SparseRows& affinities, Positions positions, int threads);

}  // namespace pixelsne
