// Rows along a few directions: a product of matrices in which every row is worked out by itself, so that it has
// the same bits whichever rows come with it, and however many threads work.
#pragma once

#include "array_view.hpp"

namespace pixelsne {

// rows (n, d), directions (d, p) -> out (n, p)
void project_rows(ArrayView<const float> rows, ArrayView<const float> directions, int threads, ArrayView<float> out);

}  // namespace pixelsne
