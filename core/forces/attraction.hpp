// Attraction along the edges of the affinities, and the sums of the KL divergence.
#pragma once

#include <cstdint>

#include "../array_view.hpp"
#include "../kernels.hpp"

namespace pixelsne {

// Writes force (rows, 2): the sum over j of p_ij (y_i - y_j) / (1 + d2), without exaggeration or the factor 4.
void attraction(const SparseRows& affinities, Positions positions, int threads, ArrayView<float> force);

// Sums over all p_ij > 0: of p_ij log(p_ij), which does not depend on the map, and of p_ij.
struct AffinitySums {
    double negative_entropy;
    double mass;
};
AffinitySums sum_affinities(const SparseRows& affinities, int threads);

// Returns the sum of p_ij log(1 + d2). The KL divergence is negative_entropy + this sum + mass * log(normalizer).
double sum_log_distances(const SparseRows& affinities, Positions positions, int threads);

}  // namespace pixelsne
