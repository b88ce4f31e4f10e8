#include "projection_tree.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "../kernels.hpp"
#include "../random_stream.hpp"

namespace pixelsne {
namespace {

class TreeBuilder {
public:
    TreeBuilder(Points points, std::size_t leaf_size, RandomStream random, ProjectionTree& tree, ProgressToken& token)
        : points_(points), leaf_size_(leaf_size), random_(random), tree_(tree), token_(token), margins_(points.rows) {}

    // Splits a run of points into halves at a hyperplane parallel to the bisecting plane of two random points.
    void split(std::uint32_t begin, std::uint32_t end) {
        const std::uint32_t size = end - begin;
        if (size <= leaf_size_) {
            for (std::uint32_t slot = begin; slot < end; ++slot) {
                tree_.leaf_of[tree_.order[slot]] = static_cast<std::uint32_t>(tree_.leaf_begin.size());
            }
            tree_.leaf_begin.push_back(begin);
            return;
        }
        token_.throw_if_cancelled();
        const std::uint32_t first = random_.below(size);
        const std::uint32_t second = (first + 1 + random_.below(size - 1)) % size;
        const float* first_pivot = points_.row(tree_.order[begin + first]);
        const float* second_pivot = points_.row(tree_.order[begin + second]);
        const Kernels& kernel = kernels();
        for (std::uint32_t slot = begin; slot < end; ++slot) {
            const float* row = points_.row(tree_.order[slot]);
            const float margin = kernel.squared_distance(row, first_pivot, points_.columns) -
                                 kernel.squared_distance(row, second_pivot, points_.columns);
            margins_[slot] = {margin, tree_.order[slot]};
        }
        const std::uint32_t half = begin + size / 2;
        std::nth_element(margins_.begin() + begin, margins_.begin() + half, margins_.begin() + end);
        for (std::uint32_t slot = begin; slot < end; ++slot) tree_.order[slot] = margins_[slot].second;
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

ProjectionTree build_projection_tree(Points points, std::size_t leaf_size, std::uint64_t seed, std::uint64_t stream,
                                     ProgressToken& token) {
    ProjectionTree built;
    built.order.resize(points.rows);
    built.leaf_of.resize(points.rows);
    std::iota(built.order.begin(), built.order.end(), 0u);
    const auto n = static_cast<std::uint32_t>(points.rows);
    TreeBuilder(points, leaf_size, RandomStream(seed, stream), built, token).split(0, n);
    built.leaf_begin.push_back(n);
    return built;
}

}  // namespace pixelsne
