// Conditional affinities: each point's Gaussian kernel, as wide as its perplexity asks.
#pragma once

#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"

namespace pixelsne {

// distances: (n, k), not squared, in ascending order. conditional: (n, k), each row sums to 1: the mean
// of the kernels of all perplexities. Where the distances cannot carry a perplexity (too many equal
// ones), the nearest that can be reached counts.
void calibrate(ArrayView<const float> distances, const std::vector<double>& perplexities, int threads,
               ProgressToken& token, ArrayView<float> conditional);

}  // namespace pixelsne
