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

#include "../aligned_vector.hpp"
#include "../array_view.hpp"
#include "../field_kernels.hpp"
#include "convolution.hpp"
#include "field_lattice.hpp"
#include "quadtree.hpp"

namespace pixelsne {

class PixelField {
public:
    // may_be_sparse: the lattice is kept however few points it has, as is right for one that is made once.
    explicit PixelField(bool may_be_sparse = false) : may_be_sparse_(may_be_sparse) {}

    // Writes push, (n, 2), and returns the normalizer. Of a side, the lattice has most_nodes at most.
    double repulsion(Positions positions, std::size_t most_nodes, int threads, ArrayView<float> push);

    // Of the last call.
    const FieldLattice& lattice() const { return lattice_; }
    std::size_t outliers() const { return outliers_.size(); }
    const std::vector<std::uint32_t>& outlier_places() const { return outliers_; }
    const float* row(std::size_t row) const { return nodes_.data() + row * stride(); }  // of the convolved lattice
    bool used_tree() const { return used_tree_; }

private:
    // Points of one band of rows, or a part of them where they are many, deposited by one task.
    struct Unit {
        std::size_t band;
        std::size_t begin, end;  // in sorted_
    };

    Bounds choose_box(Positions positions, std::size_t most_nodes, int threads);
    bool outgrown(std::size_t n) const;
    double repulsion_by_tree(Positions positions, int threads, ArrayView<float> push);
    double repulsion_by_field(Positions positions, const Bounds& box, int threads, ArrayView<float> push);
    void sort_by_band(Positions positions, const Bounds& box, int threads);
    void turn_counts_into_places(std::size_t kinds);
    void cut_units();
    void deposit(int threads);
    void add_up(int threads);
    double read(int threads, ArrayView<float> push);

    std::size_t bands() const;
    std::size_t stride() const { return lattice_.nodes[0] + kRowPadding; }

    bool may_be_sparse_;
    bool used_tree_ = false;
    Quadtree tree_;
    FieldLattice lattice_{};
    Convolution convolution_;
    std::vector<LatticePoint> placed_;       // as they come
    std::vector<std::uint16_t> kinds_;       // (n) the band of each, or one more for outliers
    std::vector<LatticePoint> sorted_;       // by band of rows, then as they came
    std::vector<std::uint32_t> band_begin_;  // (bands + 1) in sorted_
    std::vector<std::uint32_t> counts_;      // (chunks, bands + 1): scratch of the sorting
    std::vector<std::uint32_t> outliers_;
    std::vector<Unit> units_;
    std::vector<double> sums_;        // one a unit
    AlignedVector<float> unit_rows_;  // (units, rows of a band and those below it that it touches, stride)
    AlignedVector<float> nodes_;      // (rows, stride)
};

}  // namespace pixelsne
