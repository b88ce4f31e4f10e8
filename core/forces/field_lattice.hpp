// Chooses the lattice of the pixel field. Spacing and size are a pure function of the map's extent, the number of
// points, the spacing asked for, and whether the points are crowded.
//
// With a spacing of kSpacing embedding units, the error of quintic splines is about 0.7 % for the kernel 1 / (1 + d2)
// (RMS, benchmarks/field_error.py). While a map unfolds, a coarser lattice will do. The lattice is finer where that
// costs little compared with the points. Sizes and spacings change in discrete steps, so the kernel's spectrum seldom
// changes while the map grows, and a resumed run chooses the same lattice.
#pragma once

#include <cstddef>

#include "../bounds.hpp"

namespace pixelsne {

// Limits of the nodes along an axis. Both are multiples of 16, because columns are transformed 16 at a time.
constexpr std::size_t kMinNodes = 32;
constexpr std::size_t kMaxNodes = 4096;

inline bool is_lattice_side(std::size_t nodes) { return nodes >= kMinNodes && nodes <= kMaxNodes && nodes % 16 == 0; }

constexpr double kSpacing = 0.42;  // of an accurate field, while the map fits the lattice

// A lattice with a larger spacing is too coarse for the kernel.
constexpr double kMaxSpacing = 1.2;

// Where many points coincide, the spacing is smaller by this factor. The error at a point grows with the mass around
// it, but the force from distant points does not. At a third of kSpacing, the error of a pair is a thousandth.
constexpr double kCrowdedFactor = 3.0;

struct FieldLattice {
    double spacing;              // embedding units, equal along both axes
    double origin[2];            // position of node (0, 0)
    std::size_t nodes[2];        // columns, rows
    bool uses_kernel_minus_one;  // convolve with K - 1 instead of K

    bool same_kernel(const FieldLattice& other) const {
        return spacing == other.spacing && nodes[0] == other.nodes[0] && nodes[1] == other.nodes[1] &&
               uses_kernel_minus_one == other.uses_kernel_minus_one;
    }
};

// Returns whether 2, 3 and 5 are the only prime factors, as the transforms require.
bool has_small_factors(std::size_t number);

struct LatticeLimits {
    std::size_t max_nodes;      // along each axis; where the map needs more, the spacing grows
    double spacing = kSpacing;  // upper limit while the map fits the lattice
};

// crowded: whether many points coincide.
FieldLattice choose_lattice(const Bounds& bounds, std::size_t points, const LatticeLimits& limits,
                            bool crowded = false);

}  // namespace pixelsne
