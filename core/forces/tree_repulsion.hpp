// Repulsion by a quadtree over either grid. The buffers are kept from iteration to iteration.
#pragma once

#include <chrono>
#include <vector>

#include "quadtree.hpp"

namespace pixelsne {

class TreeRepulsion {
public:
    // Both functions write push (n, 2) and return the normalizer.
    double barnes_hut(Positions positions, PointWeights weights, double theta, int threads, ArrayView<float> push);
    double pixel_tree(Positions positions, PointWeights weights, const LeafGrid& pixels, Center center, double theta,
                      int threads, ArrayView<float> push);

    // Results of the last call.
    const std::vector<TreeCell>& cells() const { return tree_.cells(); }
    double build_seconds() const { return build_seconds_; }
    double walk_seconds() const { return walk_seconds_; }

private:
    using Clock = std::chrono::steady_clock;

    // start: time at which the call began. The time for finding the grid counts as building the tree.
    double build_and_walk(Clock::time_point start, Positions positions, PointWeights weights, const LeafGrid& grid,
                          Center center, double theta, int threads, ArrayView<float> push);

    Quadtree tree_;
    double build_seconds_ = 0.0;
    double walk_seconds_ = 0.0;
};

}  // namespace pixelsne
