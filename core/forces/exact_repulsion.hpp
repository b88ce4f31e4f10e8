// All pairs, as t-SNE has it.
#pragma once

#include "../array_view.hpp"

namespace pixelsne {

// push: (n, 2), undivided, without the factor 4. Returns the normalizer.
double exact_repulsion(Positions positions, int threads, ArrayView<float> push);

}  // namespace pixelsne
