// Projects rows onto a few directions: a matrix product that computes every row separately. So a row has the same bits
// with any other rows and with any number of threads.
#pragma once

#include "array_view.hpp"

namespace pixelsne {

// rows (n, d), directions (d, p) -> out (n, p)
void project_rows(ArrayView<const float> rows, ArrayView<const float> directions, int threads, ArrayView<float> out);

}  // namespace pixelsne
