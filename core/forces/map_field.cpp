#include "map_field.hpp"

#include <cmath>
#include <vector>

#include "../spline.hpp"

namespace pixelsne {
namespace {

constexpr SplinePolynomials kSplines = spline_polynomials();

// A lattice made once may be larger than one made in every iteration.
constexpr std::size_t kMostFieldNodes = kMostNodes;

void add_kernel(const double* position, const float* point, FieldValue& value) {
    const double x = position[0] - point[0];
    const double y = position[1] - point[1];
    const double kernel = 1.0 / (1.0 + x * x + y * y);
    value.sum += kernel;
    value.slope[0] -= 2.0 * kernel * kernel * x;
    value.slope[1] -= 2.0 * kernel * kernel * y;
}

// Weights of the taps around a place `beyond` their node, and the weights' derivatives.
struct Taps {
    double weight[kTaps] = {};
    double slope[kTaps] = {};

    explicit Taps(double beyond) {
        for (std::size_t power = kTaps; power-- > 0;) {
            for (std::size_t tap = 0; tap < kTaps; ++tap) {
                weight[tap] = weight[tap] * beyond + kSplines.weight[power][tap];
                slope[tap] = slope[tap] * beyond + kSplines.slope[power][tap];
            }
        }
    }
};

}  // namespace

MapField::MapField(Positions map, int threads) : map_(map), field_(true) {
    std::vector<float> push(map.rows * 2);
    field_.repulsion(map, kMostFieldNodes, threads, {push.data(), map.rows, 2});
    summed_ = field_.used_tree();
}

FieldValue MapField::at(const double* position) const {
    const FieldLattice& lattice = field_.lattice();
    double place[2];
    bool outside = summed_;
    for (int axis = 0; axis < 2 && !outside; ++axis) {
        place[axis] = (position[axis] - lattice.origin[axis]) / lattice.spacing;
        const double end = static_cast<double>(lattice.nodes[axis] - kTaps + kTapsBelow + 1);
        outside = !(place[axis] >= static_cast<double>(kTapsBelow) && place[axis] < end);
    }
    if (!outside) {
        FieldValue value = on_lattice(place);
        for (const std::uint32_t outlier : field_.outlier_places()) add_kernel(position, map_.row(outlier), value);
        if (value.sum > 0.0) return value;  // far from all points, rounding may take all there is
    }
    FieldValue value{0.0, {0.0, 0.0}};
    for (std::size_t point = 0; point < map_.rows; ++point) add_kernel(position, map_.row(point), value);
    return value;
}

FieldValue MapField::on_lattice(const double* place) const {
    const FieldLattice& lattice = field_.lattice();
    const auto column = static_cast<std::size_t>(place[0]);
    const auto row = static_cast<std::size_t>(place[1]);
    const Taps along_x(place[0] - static_cast<double>(column));
    const Taps along_y(place[1] - static_cast<double>(row));
    double sum = 0.0, slope_x = 0.0, slope_y = 0.0;
    for (std::size_t tap = 0; tap < kTaps; ++tap) {
        const float* nodes = field_.row(row - kTapsBelow + tap) + column - kTapsBelow;
        double line = 0.0, line_slope = 0.0;
        for (std::size_t other = 0; other < kTaps; ++other) {
            line += along_x.weight[other] * nodes[other];
            line_slope += along_x.slope[other] * nodes[other];
        }
        sum += along_y.weight[tap] * line;
        slope_x += along_y.weight[tap] * line_slope;
        slope_y += along_y.slope[tap] * line;
    }
    if (lattice.differences) sum += static_cast<double>(map_.rows - field_.outliers());
    return {sum, {slope_x / lattice.spacing, slope_y / lattice.spacing}};
}

}  // namespace pixelsne
