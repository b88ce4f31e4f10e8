#include "map_field.hpp"

#include <cmath>
#include <vector>

#include "../spline.hpp"

namespace pixelsne {
namespace {

constexpr SplinePolynomials kSplines = spline_polynomials();

// This lattice is computed once, so it may have the largest size.
constexpr std::size_t kMaxFieldNodes = kMaxNodes;

// Spline weights of the taps around a coordinate, and their derivatives. fraction: distance from the node below.
struct Taps {
    double weight[kTaps] = {};
    double slope[kTaps] = {};

    explicit Taps(double fraction) {
        for (std::size_t power = kTaps; power-- > 0;) {
            for (std::size_t tap = 0; tap < kTaps; ++tap) {
                weight[tap] = weight[tap] * fraction + kSplines.weight[power][tap];
                slope[tap] = slope[tap] * fraction + kSplines.slope[power][tap];
            }
        }
    }
};

}  // namespace

MapField::MapField(Positions map, PointWeights weights, int threads) : map_(map), weights_(weights), field_(true) {
    std::vector<float> push(map.rows * 2);
    field_.repulsion(map, weights, {kMaxFieldNodes}, threads, {push.data(), map.rows, 2});
    direct_sum_ = field_.used_tree();
}

void MapField::add_kernel(const double* position, std::size_t point, FieldValue& value) const {
    const double x = position[0] - map_.row(point)[0];
    const double y = position[1] - map_.row(point)[1];
    const double kernel = 1.0 / (1.0 + x * x + y * y);
    const double weighted = weights_[point] * kernel;
    value.sum += weighted;
    value.slope[0] -= 2.0 * weighted * kernel * x;
    value.slope[1] -= 2.0 * weighted * kernel * y;
}

FieldValue MapField::at(const double* position) const {
    const FieldLattice& lattice = field_.lattice();
    double coordinates[2];
    bool outside = direct_sum_;
    for (int axis = 0; axis < 2 && !outside; ++axis) {
        coordinates[axis] = (position[axis] - lattice.origin[axis]) / lattice.spacing;
        const double end = static_cast<double>(lattice.nodes[axis] - kTaps + kTapsBelow + 1);
        outside = !(coordinates[axis] >= static_cast<double>(kTapsBelow) && coordinates[axis] < end);
    }
    if (!outside) {
        FieldValue value = on_lattice(coordinates);
        for (const std::uint32_t outlier : field_.outlier_indices()) add_kernel(position, outlier, value);
        if (value.sum > 0.0) return value;  // far from all points, rounding may cancel the whole value
    }
    FieldValue value{0.0, {0.0, 0.0}};
    for (std::size_t point = 0; point < map_.rows; ++point) add_kernel(position, point, value);
    return value;
}

FieldValue MapField::on_lattice(const double* coordinates) const {
    const FieldLattice& lattice = field_.lattice();
    const auto column = static_cast<std::size_t>(coordinates[0]);
    const auto row = static_cast<std::size_t>(coordinates[1]);
    const Taps along_x(coordinates[0] - static_cast<double>(column));
    const Taps along_y(coordinates[1] - static_cast<double>(row));
    double sum = 0.0, slope_x = 0.0, slope_y = 0.0;
    for (std::size_t tap = 0; tap < kTaps; ++tap) {
        const float* node_values = field_.row(row - kTapsBelow + tap) + column - kTapsBelow;
        double row_sum = 0.0, row_slope = 0.0;
        for (std::size_t column_tap = 0; column_tap < kTaps; ++column_tap) {
            row_sum += along_x.weight[column_tap] * node_values[column_tap];
            row_slope += along_x.slope[column_tap] * node_values[column_tap];
        }
        sum += along_y.weight[tap] * row_sum;
        slope_x += along_y.weight[tap] * row_slope;
        slope_y += along_y.slope[tap] * row_sum;
    }
    if (lattice.uses_kernel_minus_one) sum += field_.inside_weight();
    return {sum, {slope_x / lattice.spacing, slope_y / lattice.spacing}};
}

}  // namespace pixelsne
