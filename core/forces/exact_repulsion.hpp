// Repulsion summed over all pairs, as in t-SNE.
#pragma once

#include "../array_view.hpp"
#include "../point_weights.hpp"

namespace pixelsne {

// Writes push (n, 2), not divided by the normalizer and without the factor 4. Returns the normalizer: without the pairs
// within a weighted point, as all repulsions do.
double exact_repulsion(Positions positions, PointWeights weights, int threads, ArrayView<float> push);

}  // namespace pixelsne
