// Points sorted along the rows of a lattice. They are deposited on the lattice, and its values are interpolated at
// them, both in parallel.
#pragma once

#include <cstdint>
#include <vector>

#include "../aligned_vector.hpp"
#include "../array_view.hpp"
#include "../field_kernels.hpp"
#include "../point_weights.hpp"
#include "field_lattice.hpp"

namespace pixelsne {

// Values at the nodes of a lattice: (rows, row_stride) floats.
using NodeValues = AlignedVector<float>;

inline std::size_t row_stride(const FieldLattice& lattice) { return lattice.nodes[0] + kRowPadding; }

class LatticePoints {
public:
    // Sorts the points by bands of rows. Points outside the box are listed in outside(). The lattice must contain the
    // box. The weights must stay valid until the last call of interpolate().
    void assign(Positions positions, PointWeights weights, const FieldLattice& lattice, const Bounds& box, int threads);

    // Returns the total weight of the points inside the box, and the sum of the squared weights of these points.
    double inside_weight() const { return inside_weight_; }
    double inside_squared_weights() const { return inside_squared_weights_; }
    const std::vector<std::uint32_t>& outside() const { return outside_; }

    // Replaces the node values by the sum of the points' spline weights, each times the weight of its point.
    void deposit(int threads, NodeValues& node_values);

    // Returns how crowded the points are: the mean over the points of the mass at the nodes they touch. node_values:
    // as deposited. An isolated point contributes 0.15, and a point that coincides with m others m + 1 times as much. A
    // point of weight w counts as w points.
    double crowding(const NodeValues& node_values, int threads);

    // Writes push (n, 2) for the points inside the box: -1/2 the gradient of the nodes' interpolant, in embedding
    // units. Returns the sum of the interpolant's values at the points, each times the weight of its point.
    double interpolate(const NodeValues& node_values, int threads, ArrayView<float> push);

private:
    // The points of one band of rows, or a part of them where they are many. One task deposits them.
    struct Task {
        std::size_t band;
        std::size_t begin, end;  // indices into sorted_
    };

    void counts_to_offsets(std::size_t groups);
    void sum_weights();
    void make_tasks();
    void run_tasks(int threads);
    std::size_t bands() const;
    std::size_t stride() const { return row_stride(lattice_); }

    FieldLattice lattice_{};
    PointWeights weights_;
    double inside_weight_ = 0.0;
    double inside_squared_weights_ = 0.0;
    std::vector<LatticePoint> unsorted_;     // in input order
    std::vector<std::uint16_t> groups_;      // (n) band of each point; points outside the box have the number of bands
    std::vector<LatticePoint> sorted_;       // by band of rows, then in input order
    std::vector<std::uint32_t> band_begin_;  // (bands + 1) indices into sorted_
    std::vector<std::uint32_t> counts_;      // (chunks, bands + 1): buffer of the sort
    std::vector<std::uint32_t> outside_;
    std::vector<Task> tasks_;
    std::vector<double> sums_;        // buffer: one per task in interpolate(), one per band in crowding()
    AlignedVector<float> task_rows_;  // (tasks, rows of a band and the rows below it that its points touch, stride)
};

}  // namespace pixelsne
