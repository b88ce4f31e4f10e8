#include "projection_tree.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "../kernels.hpp"
#include "../random_stream.hpp"

namespace pixelsne {
namespace {

class Grower {
public:
    Grower(Points points, std::size_t leaf_size, RandomStream random, ProjectionTree& tree, ProgressToken& token)
        : points_(points), leaf_size_(leaf_size), random_(random), tree_(tree), token_(token), margins_(points.rows) {}

    // The hyperplane halfway between two random points, moved so that it splits the run in half.
    void split(std::uint32_t begin, std::uint32_t end) {
        const std::uint32_t size = end - begin;
        if (size <= leaf_size_) {
            for (std::uint32_t place = begin; place < end; ++place) {
                tree_.leaf_of[tree_.order[place]] = static_cast<std::uint32_t>(tree_.leaf_begin.size());
            }
            tree_.leaf_begin.push_back(begin);
            return;
        }
        token_.advance(0);
        const std::uint32_t first = random_.below(size);
        const std::uint32_t second = (first + 1 + random_.below(size - 1)) % size;
        const float* one = points_.row(tree_.order[begin + first]);
        const float* other = points_.row(tree_.order[begin + second]);
        const Kernels& kernel = kernels();
        for (std::uint32_t place = begin; place < end; ++place) {
            const float* row = points_.row(tree_.order[place]);
            const float margin = kernel.squared_distance(row, one, points_.columns) -
                                 kernel.squared_distance(row, other, points_.columns);
            margins_[place] = {margin, tree_.order[place]};
        }
        const std::uint32_t half = begin + size / 2;
        std::nth_element(margins_.begin() + begin, margins_.begin() + half, margins_.begin() + end);
        for (std::uint32_t place = begin; place < end; ++place) tree_.order[place] = margins_[place].second;
        split(begin, half);
        split(half, end);
    }

private:
    Points points_;
    std::size_t leaf_size_;
    RandomStream random_;
    ProjectionTree& tree_;
    ProgressToken& token_;
    std::vector<std::pair<float, std::uint32_t>> margins_;
};

}  // namespace

ProjectionTree grow_projection_tree(Points points, std::size_t leaf_size, std::uint64_t seed, std::uint64_t tree,
                                    ProgressToken& token) {
    ProjectionTree grown;
    grown.order.resize(points.rows);
    grown.leaf_of.resize(points.rows);
    std::iota(grown.order.begin(), grown.order.end(), 0u);
    const auto n = static_cast<std::uint32_t>(points.rows);
    Grower(points, leaf_size, RandomStream(seed, tree), grown, token).split(0, n);
    grown.leaf_begin.push_back(n);
    return grown;
}

}  // namespace pixelsne
