// The field of a finished map at any position: S(y) = sum over its points of w_j / (1 + |y - y_j|^2), and its gradient.
#pragma once

#include "../array_view.hpp"
#include "pixel_field.hpp"

namespace pixelsne {

struct FieldValue {
    double sum;       // S
    double slope[2];  // its gradient
};

class MapField {
public:
    // Positions and weights must outlive the field.
    MapField(Positions map, PointWeights weights, int threads);

    FieldValue at(const double* position) const;

private:
    FieldValue on_lattice(const double* coordinates) const;

    void add_kernel(const double* position, std::size_t point, FieldValue& value) const;

    Positions map_;
    PointWeights weights_;
    PixelField field_;
    bool direct_sum_;  // sum over all points, because they are few or far apart
};

}  // namespace pixelsne
