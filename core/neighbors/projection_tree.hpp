// A random-projection tree: halves the points again and again at a random hyperplane.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"

namespace pixelsne {

struct ProjectionTree {
    std::vector<std::uint32_t> order;       // (n) points, leaf after leaf
    std::vector<std::uint32_t> leaf_begin;  // (leaves + 1) where each leaf starts in `order`
    std::vector<std::uint32_t> leaf_of;     // (n) the leaf each point is in

    std::size_t leaves() const { return leaf_begin.size() - 1; }
};

// Leaves hold between leaf_size / 2 and leaf_size points (all of them, if there are fewer).
// Looks at the token whether to go on, but reports nothing.
ProjectionTree grow_projection_tree(Points points, std::size_t leaf_size, std::uint64_t seed, std::uint64_t tree,
                                    ProgressToken& token);

}  // namespace pixelsne
