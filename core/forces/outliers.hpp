// Outliers: points far from all others, which would stretch a lattice until it is useless. They are excluded from the
// lattice, and their forces are summed pair by pair.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../bounds.hpp"
#include "../point_weights.hpp"

namespace pixelsne {

// Upper limit of the points outside each of the four sides of a box.
constexpr std::size_t kOutliersPerSide = 16;

inline bool inside(const Bounds& box, const float* position) {
    return position[0] >= box.low[0] && position[0] <= box.high[0] && position[1] >= box.low[1] &&
           position[1] <= box.high[1];
}

// Returns a box around all but a few points, or `bounds` if that box does not halve a side.
Bounds box_without_outliers(Positions positions, const Bounds& bounds, int threads);

// Adds the forces between the outliers and all points, in both directions, to push, which must be 0 at the outliers.
// Returns the contribution of these pairs to the normalizer.
double add_outlier_forces(Positions positions, PointWeights weights, const std::vector<std::uint32_t>& outliers,
                          int threads, ArrayView<float> push);

}  // namespace pixelsne
