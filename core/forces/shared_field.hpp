// The field of a map whose points are distributed over several processes (shards). All shards deposit their points on
// the same lattice, one process adds up the nodes and convolves them, and all shards read the result. Between
// processes, nodes are (rows, columns) without padding.
#pragma once

#include "../array_view.hpp"
#include "convolution.hpp"
#include "field_lattice.hpp"
#include "lattice_points.hpp"

namespace pixelsne {

// The points of one shard on the lattice that all shards use.
class ShardField {
public:
    ShardField(Positions positions, const FieldLattice& lattice, int threads);

    const FieldLattice& lattice() const { return lattice_; }
    std::size_t points() const { return count_; }

    // Writes the nodes of this shard's points.
    void deposit(int threads, ArrayView<float> nodes);

    // Writes push (points, 2) and returns the sum of the field's values.
    double read(ArrayView<const float> nodes, int threads, ArrayView<float> push);

private:
    FieldLattice lattice_;
    std::size_t count_;
    LatticePoints points_;
    Nodes nodes_;
};

// Convolves the nodes. Keeps the kernel's spectrum from call to call.
class FieldConvolution {
public:
    // Replaces the sum of all shards' nodes by its convolution and returns the normalizer. points: of all shards.
    double apply(const FieldLattice& lattice, std::size_t points, int threads, ArrayView<float> nodes);

private:
    Convolution convolution_;
    Nodes nodes_;
};

}  // namespace pixelsne
