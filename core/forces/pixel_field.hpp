// Repulsion by a field: deposits points on a lattice, convolves the lattice with the kernel, and interpolates the
// field's value and gradient at the points.
//
// With S(y) = sum over j of 1 / (1 + |y - y_j|^2), the normalizer is the sum over i of (S(y_i) - 1), and the push on i
// is -1/2 the gradient of S. So one scalar field gives both. With weights, S is the sum of w_j / (1 + |y - y_j|^2), and
// the normalizer is the sum over i of w_i (S(y_i) - w_i).
//
// A quadtree replaces the lattice where the map is so wide that the lattice would be coarse or would have far more
// nodes than points. The tree is as accurate, and empty space costs it nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "convolution.hpp"
#include "field_lattice.hpp"
#include "lattice_points.hpp"
#include "tree_repulsion.hpp"

namespace pixelsne {

// Returns the normalizer, given the sum of the field's values at all points. Subtracts the contribution of each point
// to itself. With the kernel K - 1, adds the missing 1 of every pair. weight, squares: the sum of the points' weights,
// and of their squares; without weights, both are the number of points.
double normalizer_of(const FieldLattice& lattice, double sum, double weight, double squares);

class PixelField {
public:
    // may_be_sparse: keep the lattice however many nodes it has per point, which suits a field that is computed once.
    // Fewer than kFewPoints points still use the tree, and so do maps too wide for kMaxSpacing.
    explicit PixelField(bool may_be_sparse = false) : may_be_sparse_(may_be_sparse) {}

    // Writes push (n, 2) and returns the normalizer.
    double repulsion(Positions positions, PointWeights weights, const LatticeLimits& limits, int threads,
                     ArrayView<float> push);

    // Results of the last call.
    const FieldLattice& lattice() const { return lattice_; }
    std::size_t outliers() const { return outlier_indices().size(); }
    const std::vector<std::uint32_t>& outlier_indices() const { return used_tree_ ? none_ : points_.outside(); }
    const float* row(std::size_t row) const {
        return node_values_.data() + row * row_stride(lattice_);
    }  // after the convolution
    bool used_tree() const { return used_tree_; }
    double inside_weight() const { return points_.inside_weight(); }  // of the points on the lattice

private:
    Bounds choose_box_and_lattice(Positions positions, const LatticeLimits& limits, int threads);
    bool needs_tree(std::size_t n) const;
    bool is_crowded(double requested_spacing, int threads);
    double repulsion_by_field(Positions positions, PointWeights weights, const Bounds& box, const LatticeLimits& limits,
                              int threads, ArrayView<float> push);

    bool may_be_sparse_;
    bool used_tree_ = false;
    TreeRepulsion tree_;
    FieldLattice lattice_{};
    Convolution convolution_;
    LatticePoints points_;
    NodeValues node_values_;
    std::vector<std::uint32_t> none_;
};

}  // namespace pixelsne
