// The weights of points. A point of weight w acts on others like w points in one position.
#pragma once

#include <cstddef>

namespace pixelsne {

struct PointWeights {
    const float* data = nullptr;  // (n) positive; null: all weights are 1

    explicit operator bool() const { return data != nullptr; }
    float operator[](std::size_t point) const { return data == nullptr ? 1.0f : data[point]; }
};

}  // namespace pixelsne
