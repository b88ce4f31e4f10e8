// Scores of the clusters near a point's own cluster: the lower the score, the likelier the cluster holds neighbors.
//
// Let q be a query in the cluster of center c0, and c another center. The points of c's cluster lie beyond the
// bisecting plane of c and c0. The distance of q from that plane is b = (|q - c|^2 - |q - c0|^2) / (2 |c - c0|). A
// cluster with b above the distance of the k-th neighbor found so far holds no better neighbor. A cluster with a
// somewhat smaller b holds few, because most of a cell is farther away than its boundary. So the score is b times
// max(1, rank / rank scale), where the rank is that of c among the centers nearest to q. On all data measured, one rank
// scale for all points needs fewer comparisons for the same recall than one limit of the rank, or of b alone
// (benchmarks/recall.py).
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"

namespace pixelsne {

class ProbeScores {
public:
    // Scores the centers listed in `nearby` for the points listed in `rows`. own: the center of the points' own
    // cluster. gaps: ascending distances of the nearby centers from the own center.
    void fill(Points points, const std::vector<std::uint32_t>& rows, Points centers, std::size_t own,
              const std::uint32_t* nearby, const float* gaps, std::size_t count, float rank_scale);

    // Returns (rows) the scores of nearby[index]: finite, not negative.
    const float* scores_of(std::size_t index) const { return values_.data() + index * rows_; }

private:
    void fill_tile(std::size_t first, std::size_t filled, std::size_t padded, const float* own_squared,
                   float rank_scale);

    std::size_t rows_ = 0;
    std::vector<float> values_;   // (centers, rows)
    std::vector<float> squared_;  // (rows of a tile, centers) squared distances, then scores
    std::vector<float> inverse_;  // (centers) 1 / (2 gap)
};

}  // namespace pixelsne
