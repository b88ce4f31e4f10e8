// The field of a map whose points several processes share: all deposit theirs on the same lattice, one adds up the
// nodes and convolves them, and all read the result. On the way nodes are (rows, columns), without padding.
#pragma once

#include "../array_view.hpp"
#include "convolution.hpp"
#include "field_lattice.hpp"
#include "lattice_points.hpp"

namespace pixelsne {

// Points of one share on the lattice that all shares have in common.
class FieldShare {
public:
    FieldShare(Positions positions, const FieldLattice& lattice, int threads);

    const FieldLattice& lattice() const { return lattice_; }
    std::size_t points() const { return count_; }

    // nodes: written.
    void deposit(int threads, ArrayView<float> nodes);

    // Writes push, (points, 2), and returns the sum of the field's values.
    double read(ArrayView<const float> nodes, int threads, ArrayView<float> push);

private:
    FieldLattice lattice_;
    std::size_t count_;
    LatticePoints points_;
    Nodes nodes_;
};

// Keeps the kernel's spectrum from call to call.
class FieldConvolution {
public:
    // Replaces the nodes of all shares together by their convolution; returns the normalizer. points: of all shares.
    double apply(const FieldLattice& lattice, std::size_t points, int threads, ArrayView<float> nodes);

private:
    Convolution convolution_;
    Nodes nodes_;
};

}  // namespace pixelsne
