// Repulsion summed over all pairs, as in t-SNE.
#pragma once

#include "../array_view.hpp"

namespace pixelsne {

// Writes push (n, 2), not divided by the normalizer and without the factor 4. Returns the normalizer.
double exact_repulsion(Positions positions, int threads, ArrayView<float> push);

}  // namespace pixelsne
