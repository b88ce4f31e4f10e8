// A non-owning view of a matrix whose rows are contiguous and follow each other without gaps.
#pragma once

#include <cstddef>

namespace pixelsne {

template <class Number>
struct ArrayView {
    Number* data;
    std::size_t rows;
    std::size_t columns;

    Number* row(std::size_t index) const { return data + index * columns; }
};

// The two matrices that the core reads most: input rows (n, d) and map positions (n, 2).
using Points = ArrayView<const float>;
using Positions = ArrayView<const float>;

}  // namespace pixelsne
