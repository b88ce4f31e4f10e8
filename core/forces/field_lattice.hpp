// Which lattice carries the pixel field: spacing and nodes, a pure function of the map's extent, the number of
// points, and whether they are crowded.
//
// The kernel 1 / (1 + d2) asks for a spacing of kSpacing embedding units: quintic splines then err by
// about 0.7 % (RMS, benchmarks/field_error.py). Where a finer lattice costs little beside the points, it is
// finer. Sizes climb a ladder, so that the kernel's spectrum changes seldom while the map grows, and a
// resumed run takes the same lattice.
#pragma once

#include <cstddef>

#include "../bounds.hpp"

namespace pixelsne {

// Nodes a side: columns are transformed 16 at a time, hence multiples of 16.
constexpr std::size_t kFewestNodes = 32;
constexpr std::size_t kMostNodes = 4096;

constexpr double kSpacing = 0.42;  // at most, as long as the map fits

// Where many points share a spot. The error at a point grows with the mass around it, and the push of what is farther
// away does not; at a third of the spacing the error of a pair is a thousandth.
constexpr double kFineSpacing = kSpacing / 3;

struct FieldLattice {
    double spacing;        // embedding units, the same along both axes
    double origin[2];      // of node (0, 0)
    std::size_t nodes[2];  // columns, rows
    bool differences;      // convolve with K - 1 instead of K

    bool same_kernel(const FieldLattice& other) const {
        return spacing == other.spacing && nodes[0] == other.nodes[0] && nodes[1] == other.nodes[1] &&
               differences == other.differences;
    }
};

// Whether 2, 3 and 5 are its only prime factors, as transforms want it.
bool has_small_factors(std::size_t number);

// most_nodes: a side; where the map needs more, the spacing grows instead. crowded: kFineSpacing, if that fits.
FieldLattice choose_lattice(const Bounds& bounds, std::size_t points, std::size_t most_nodes, bool crowded = false);

}  // namespace pixelsne
