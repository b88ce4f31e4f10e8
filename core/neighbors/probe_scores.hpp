// How near a point is to each of the clusters around its own.
//
// Points nearer to a center c than to the point's own center c0 lie beyond the plane halfway between the two. For a
// point q the plane is at the distance b = (|q - c|^2 - |q - c0|^2) / (2 |c - c0|), so that a cluster with b above the
// distance of the k-th neighbor found so far holds no better one. Long before, it holds few: most of a cell is farther
// away than its border. So b is multiplied by the rank of c among the centers nearest to q, divided by a patience, but
// by 1 at least; this product is the score. On all data measured, one patience for all points needs fewer comparisons
// for the same recall than one limit of the rank, or of b alone (benchmarks/recall.py).
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"

namespace pixelsne {

class ProbeScores {
public:
    // Scores the centers in `around`, ordered by `gaps`, their distances from the own center `own`, for the rows of
    // `points` that `rows` names.
    void fill(Points points, const std::vector<std::uint32_t>& rows, Points centers, std::size_t own,
              const std::uint32_t* around, const float* gaps, std::size_t count, float patience);

    // (rows): finite, not negative
    const float* of(std::size_t rank) const { return values_.data() + rank * rows_; }

private:
    void fill_tile(std::size_t first, std::size_t filled, std::size_t padded, const float* own_squared, float patience);

    std::size_t rows_ = 0;
    std::vector<float> values_;   // (centers, rows)
    std::vector<float> squared_;  // (a tile of rows, centers) squared distances, then scores
    std::vector<float> inverse_;  // (centers) 1 / (2 gap)
};

}  // namespace pixelsne
