// Conditional affinities: Gaussian kernels whose bandwidths are calibrated to the perplexity.
#pragma once

#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"

namespace pixelsne {

// Writes conditional (n, k), whose rows sum to 1: the mean of the kernels of all perplexities. distances: (n, k), not
// squared, ascending. Where the distances cannot reach a perplexity (too many are equal), the nearest reachable one is
// used.
void calibrate(ArrayView<const float> distances, const std::vector<double>& perplexities, int threads,
               ProgressToken& token, ArrayView<float> conditional);

}  // namespace pixelsne
