// Chooses the lattice of the pixel field. Spacing and size are a pure function of the map's extent, the number of
// points, and whether the points are crowded.
//
// The kernel 1 / (1 + d2) needs a spacing of kSpacing embedding units. The error of quintic splines is then about 0.7 %
// (RMS, benchmarks/field_error.py). The lattice is finer where that costs little compared with the points. Sizes and
// spacings change in discrete steps, so the kernel's spectrum seldom changes while the map grows, and a resumed run
// chooses the same lattice.
#pragma once

#include <cstddef>

#include "../bounds.hpp"

namespace pixelsne {

// Limits of the nodes along an axis. Both are multiples of 16, because columns are transformed 16 at a time.
constexpr std::size_t kMinNodes = 32;
constexpr std::size_t kMaxNodes = 4096;

inline bool is_lattice_side(std::size_t nodes) { return nodes >= kMinNodes && nodes <= kMaxNodes && nodes % 16 == 0; }

constexpr double kSpacing = 0.42;  // upper limit while the map fits the lattice

// The spacing where many points coincide. The error at a point grows with the mass around it, but the force from
// distant points does not. At a third of the spacing, the error of a pair is a thousandth.
constexpr double kFineSpacing = kSpacing / 3;

struct FieldLattice {
    double spacing;        // embedding units, equal along both axes
    double origin[2];      // position of node (0, 0)
    std::size_t nodes[2];  // columns, rows
    bool differences;      // convolve with K - 1 instead of K

    bool same_kernel(const FieldLattice& other) const {
        return spacing == other.spacing && nodes[0] == other.nodes[0] && nodes[1] == other.nodes[1] &&
               differences == other.differences;
    }
};

// Returns whether 2, 3 and 5 are the only prime factors, as the transforms require.
bool has_small_factors(std::size_t number);

// max_nodes: limit along each axis; where the map needs more nodes, the spacing grows. crowded: use kFineSpacing if it
// fits.
FieldLattice choose_lattice(const Bounds& bounds, std::size_t points, std::size_t max_nodes, bool crowded = false);

}  // namespace pixelsne
