// Points on a lattice: in the order of its rows, to be deposited on it and to read it, both spread over threads.
#pragma once

#include <cstdint>
#include <vector>

#include "../aligned_vector.hpp"
#include "../array_view.hpp"
#include "../field_kernels.hpp"
#include "field_lattice.hpp"

namespace pixelsne {

// A lattice's nodes: (rows, row_stride) floats.
using Nodes = AlignedVector<float>;

inline std::size_t row_stride(const FieldLattice& lattice) { return lattice.nodes[0] + kRowPadding; }

class LatticePoints {
public:
    // Sorts the points by bands of rows; those outside the box are set aside. The lattice must hold the box.
    void place(Positions positions, const FieldLattice& lattice, const Bounds& box, int threads);

    std::size_t inside() const { return sorted_.size(); }
    const std::vector<std::uint32_t>& outside() const { return outside_; }

    // Replaces the nodes by the weights of all points.
    void deposit(int threads, Nodes& nodes);

    // How crowded the points are: the mean over them of the mass at the nodes they touch, by the deposited nodes. A
    // point by itself has 0.15, one that shares its spot with m others m + 1 times as much.
    double crowding(const Nodes& nodes, int threads);

    // push (n, 2), written for the points inside: -1/2 the gradient of what the nodes interpolate, in embedding units.
    // Returns the sum of its values.
    double read(const Nodes& nodes, int threads, ArrayView<float> push);

private:
    // Points of one band of rows, or a part of them where they are many, deposited by one task.
    struct Unit {
        std::size_t band;
        std::size_t begin, end;  // in sorted_
    };

    void turn_counts_into_places(std::size_t kinds);
    void cut_units();
    void fill_units(int threads);
    std::size_t bands() const;
    std::size_t stride() const { return row_stride(lattice_); }

    FieldLattice lattice_{};
    std::vector<LatticePoint> placed_;       // as they come
    std::vector<std::uint16_t> kinds_;       // (n) the band of each, or one more for those outside
    std::vector<LatticePoint> sorted_;       // by band of rows, then as they came
    std::vector<std::uint32_t> band_begin_;  // (bands + 1) in sorted_
    std::vector<std::uint32_t> counts_;      // (chunks, bands + 1): scratch of the sorting
    std::vector<std::uint32_t> outside_;
    std::vector<Unit> units_;
    std::vector<double> sums_;        // one a unit
    AlignedVector<float> unit_rows_;  // (units, rows of a band and those below it that it touches, stride)
};

}  // namespace pixelsne
