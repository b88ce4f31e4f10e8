// Repulsion by a field: points are deposited on a lattice, the lattice is convolved with the kernel, and
// the field's value and slope are read where the points are.
//
// With S(y) = sum over j of 1 / (1 + |y - y_j|^2), the normalizer is the sum over i of S(y_i) - 1, and
// the push on i is -1/2 the gradient of S: one scalar field gives both.
//
// A map so wide that the lattice would be coarse, or have far more nodes than there are points, goes to a
// quadtree instead, which is as accurate and does not mind empty space.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "convolution.hpp"
#include "field_lattice.hpp"
#include "lattice_points.hpp"
#include "tree_repulsion.hpp"

namespace pixelsne {

// The normalizer from the sum of the field's values at all points: none counts itself, and K - 1 is 1 short everywhere.
double normalizer_of(const FieldLattice& lattice, double sum, std::size_t points);

class PixelField {
public:
    // may_be_sparse: the lattice is kept however few points it has, as is right for one that is made once.
    explicit PixelField(bool may_be_sparse = false) : may_be_sparse_(may_be_sparse) {}

    // Writes push, (n, 2), and returns the normalizer. Of a side, the lattice has most_nodes at most.
    double repulsion(Positions positions, std::size_t most_nodes, int threads, ArrayView<float> push);

    // Of the last call.
    const FieldLattice& lattice() const { return lattice_; }
    std::size_t outliers() const { return outlier_places().size(); }
    const std::vector<std::uint32_t>& outlier_places() const { return used_tree_ ? none_ : points_.outside(); }
    const float* row(std::size_t row) const { return nodes_.data() + row * row_stride(lattice_); }  // convolved
    bool used_tree() const { return used_tree_; }

private:
    Bounds choose_box(Positions positions, std::size_t most_nodes, int threads);
    bool outgrown(std::size_t n) const;
    bool is_crowded(int threads);
    double repulsion_by_field(Positions positions, const Bounds& box, std::size_t most_nodes, int threads,
                              ArrayView<float> push);

    bool may_be_sparse_;
    bool used_tree_ = false;
    TreeRepulsion tree_;
    FieldLattice lattice_{};
    Convolution convolution_;
    LatticePoints points_;
    Nodes nodes_;
    std::vector<std::uint32_t> none_;
};

}  // namespace pixelsne
