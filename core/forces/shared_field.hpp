// The field of a map whose points are distributed over several processes (shards). All shards deposit their points on
// the same lattice, one process adds up the node values and convolves them, and all shards interpolate the result.
// Between processes, node values are (rows, columns) without padding.
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

    // Writes the node values of this shard's points.
    void deposit(int threads, ArrayView<float> node_values);

    // Writes push (points, 2) and returns the sum of the field's values.
    double interpolate(ArrayView<const float> node_values, int threads, ArrayView<float> push);

private:
    FieldLattice lattice_;
    std::size_t count_;
    LatticePoints points_;
    NodeValues node_values_;
};

// Convolves the node values. Keeps the kernel's spectrum from call to call.
class FieldConvolution {
public:
    // Replaces the sum of all shards' node values by its convolution and returns the normalizer. points: of all shards.
    double apply(const FieldLattice& lattice, std::size_t points, int threads, ArrayView<float> node_values);

private:
    Convolution convolution_;
    NodeValues node_values_;
};

}  // namespace pixelsne
