// A random-projection tree: repeatedly splits the points into halves at random hyperplanes.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"

namespace pixelsne {

struct ProjectionTree {
    std::vector<std::uint32_t> order;       // (n) points, one leaf after the other
    std::vector<std::uint32_t> leaf_begin;  // (leaves + 1) first index of each leaf in `order`
    std::vector<std::uint32_t> leaf_of;     // (n) the leaf of each point

    std::size_t leaves() const { return leaf_begin.size() - 1; }
};

// Leaves hold between leaf_size / 2 and leaf_size points, or all points if there are fewer. stream: the tree's stream
// of random numbers. Checks the token for cancellation, but reports no progress.
ProjectionTree build_projection_tree(Points points, std::size_t leaf_size, std::uint64_t seed, std::uint64_t stream,
                                     ProgressToken& token);

}  // namespace pixelsne
