// Points far away from all others, which would stretch a lattice until it is useless: they are found, left
// out of it, and their forces summed pair by pair.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../bounds.hpp"

namespace pixelsne {

// At most this many points on each of the four sides of a box may be outside.
constexpr std::size_t kOutliersPerSide = 16;

inline bool inside(const Bounds& box, const float* position) {
    return position[0] >= box.low[0] && position[0] <= box.high[0] && position[1] >= box.low[1] &&
           position[1] <= box.high[1];
}

// A box around all but a few points: `bounds` itself unless leaving them out halves a side.
Bounds box_without_outliers(Positions positions, const Bounds& bounds, int threads);

// Adds the forces between the outliers and all points, both ways, to push; it must be 0 at the outliers.
// Returns what these pairs add to the normalizer.
double add_outlier_forces(Positions positions, const std::vector<std::uint32_t>& outliers, int threads,
                          ArrayView<float> push);

}  // namespace pixelsne
