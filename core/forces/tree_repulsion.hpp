// Repulsion by a quadtree, over either grid, in one workspace that is kept from iteration to iteration.
#pragma once

#include <chrono>
#include <vector>

#include "quadtree.hpp"

namespace pixelsne {

class TreeRepulsion {
public:
    // Both write push, (n, 2), and return the normalizer.
    double barnes_hut(Positions positions, double theta, int threads, ArrayView<float> push);
    double pixel_tree(Positions positions, const LeafGrid& pixels, Center center, double theta, int threads,
                      ArrayView<float> push);

    // Of the last call.
    const std::vector<TreeCell>& cells() const { return tree_.cells(); }
    double build_seconds() const { return build_seconds_; }
    double walk_seconds() const { return walk_seconds_; }

private:
    using Clock = std::chrono::steady_clock;

    // start: when the call began; finding the grid is a part of building the tree.
    double build_and_walk(Clock::time_point start, Positions positions, const LeafGrid& grid, Center center,
                          double theta, int threads, ArrayView<float> push);

    Quadtree tree_;
    double build_seconds_ = 0.0;
    double walk_seconds_ = 0.0;
};

}  // namespace pixelsne
