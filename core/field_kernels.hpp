// The loops of the pixel field that must run at vector speed; see kernels.hpp for how they are chosen.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pixelsne {

// A point in units of the lattice: node 0 is at 0, node 1 at 1.
struct LatticePoint {
    float x, y;
    std::uint32_t index;
};

// A point touches this many nodes a side: quintic B-splines. The first is this far below the node at
// or below the point.
constexpr std::size_t kTaps = 6;
constexpr std::size_t kTapsBelow = 2;

// Rows of a lattice have this many floats more than nodes, so that whole vectors may be read and written.
constexpr std::size_t kRowPadding = 8;

// Numbers travel through a transform eight at a time, each lane a transform of its own. A line is one
// complex number of each: eight real parts, then eight imaginary ones, one cache line.
constexpr std::size_t kLineLanes = 8;
constexpr std::size_t kLineFloats = 2 * kLineLanes;

// One pass of a transform: every group of `radix` lines, `length` * `stride` / radix lines apart.
struct FourierStage {
    std::size_t radix;
    std::size_t length;
    std::size_t stride;
    const float* twiddles;  // (length / radix, radix - 1, 2): cosine and sine
};

constexpr std::size_t kMostStages = 16;

// A complex transform of `size` lines. The first and the last stage have radix 4.
struct FourierPlan {
    std::size_t size;
    std::size_t stages;
    FourierStage stage[kMostStages];
};

// A real lattice (height, width) in a plane twice as high and wide, else empty, and its spectrum: rows
// 0 to height of the plane's transform in y, lines along x, for which the lattice's own width suffices.
struct SpectrumView {
    float* lines;  // (height + 1, width / 8) lines, rows row_floats apart
    std::size_t row_floats;
    std::size_t width;  // multiples of 16
    std::size_t height;
};

struct FieldKernels {
    // Adds the weights of points to rows of a lattice; rows[0] is the lattice's row first_row.
    void (*deposit)(const LatticePoint* points, std::size_t count, std::size_t first_row, std::size_t stride,
                    float* rows);

    // Reads the lattice's interpolant at points: push[index] = slope * its gradient. Returns the sum of
    // its values.
    double (*read)(const LatticePoint* points, std::size_t count, const float* lattice, std::size_t stride, float slope,
                   float* push);

    // Transforms the lines in `data`, with `scratch` of the same size; returns where the result is.
    float* (*transform)(const FourierPlan& plan, float* data, float* scratch);

    // The 16 columns from `column` on: the lattice's transform in y, into the spectrum.
    void (*forward_columns)(const FourierPlan& plan, const float* lattice, std::size_t stride, std::size_t column,
                            SpectrumView spectrum, float* scratch);

    // The 8 rows of the spectrum from `row` on: transform in x, times kernel (width + 1, 8), and back.
    void (*convolve_rows)(const FourierPlan& plan, std::size_t row, const float* kernel, SpectrumView spectrum,
                          float* scratch);

    // The 16 columns from `column` on: back from the spectrum into the lattice.
    void (*backward_columns)(const FourierPlan& plan, SpectrumView spectrum, std::size_t column, float* lattice,
                             std::size_t stride, float* scratch);
};

}  // namespace pixelsne
