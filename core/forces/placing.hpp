// Places new points on a finished map, which does not move.
//
// A new point has affinities p_j to its neighbors on the map, which sum to 1. It is placed at the minimum of
//
//     F(y) = sum over j of p_j log(1 + |y - y_j|^2) + log S(y)
//
// This is t-SNE's cost of one row, with the map's field S as its normalizer. New points do not affect each other.
#pragma once

#include <cstdint>

#include "../array_view.hpp"
#include "../point_weights.hpp"
#include "../progress_token.hpp"

namespace pixelsne {

struct NewPoints {
    ArrayView<const std::int32_t> neighbors;  // (m, k) rows of the map, nearest first
    ArrayView<const float> affinities;        // (m, k)
};

// weights: of the map's points, in S. Writes placed (m, 2), embedding units. Advances the token by m.
void place_new_points(Positions map, PointWeights weights, const NewPoints& points, int threads, ProgressToken& token,
                      ArrayView<float> placed);

}  // namespace pixelsne
