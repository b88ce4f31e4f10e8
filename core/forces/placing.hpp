// New points on a finished map, which does not move.
//
// A new point with affinities p_j to its neighbors on the map, which sum to 1, settles where
//
//     F(y) = sum over j of p_j log(1 + |y - y_j|^2) + log S(y)
//
// is smallest: t-SNE's cost of one row, with the map's own field S as its normalizer. No new point sees another.
#pragma once

#include <cstdint>

#include "../array_view.hpp"
#include "../progress_token.hpp"

namespace pixelsne {

struct NewPoints {
    ArrayView<const std::int32_t> neighbors;  // (m, k), nearest first, rows of the map
    ArrayView<const float> affinities;        // (m, k)
};

// settled: (m, 2), embedding units. Advances the token by m.
void place_new_points(Positions map, const NewPoints& points, int threads, ProgressToken& token,
                      ArrayView<float> settled);

}  // namespace pixelsne
