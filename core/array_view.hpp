// A non-owning rectangle of numbers: rows lie one after another without gaps.
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

// (n, d) input rows and (n, 2) map positions, the two rectangles the core reads most.
using Points = ArrayView<const float>;
using Positions = ArrayView<const float>;

}  // namespace pixelsne
