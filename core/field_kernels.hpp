// The vectorized loops of the pixel field. kernels.hpp describes how they are chosen.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pixelsne {

// A point in lattice coordinates: node 0 is at 0, node 1 at 1.
struct LatticePoint {
    float x, y;
    std::uint32_t index;
};

// A point touches this many nodes along each axis, because the splines are quintic. The first one is kTapsBelow below
// the node at or below the point.
constexpr std::size_t kTaps = 6;
constexpr std::size_t kTapsBelow = 2;

// Rows of a lattice have this many floats more than nodes, so that whole vectors can be read and written.
constexpr std::size_t kRowPadding = 8;

// Transforms work on eight numbers at a time, and each lane is a separate transform. A line holds one complex number
// per lane: eight real parts, then eight imaginary parts, which together fill one cache line.
constexpr std::size_t kLineLanes = 8;
constexpr std::size_t kLineFloats = 2 * kLineLanes;

// One stage of a transform. It combines groups of `radix` lines that are `length` * `stride` / radix lines apart.
struct FourierStage {
    std::size_t radix;
    std::size_t length;
    std::size_t stride;
    const float* twiddles;  // (length / radix, radix - 1, 2): cosine and sine
};

constexpr std::size_t kMaxStages = 16;

// A complex transform of `size` lines. The first and the last stage have radix 4.
struct FourierPlan {
    std::size_t size;
    std::size_t stages;
    FourierStage stage[kMaxStages];
};

// A real lattice (height, width) in a plane of twice its height and width, zero elsewhere, and its spectrum. The view
// holds rows 0 to height of the plane's transform in y, as lines along x. It needs only the lattice's own width.
struct SpectrumView {
    float* lines;  // (height + 1, width / 8) lines; rows are row_floats apart
    std::size_t row_floats;
    std::size_t width;  // multiples of 16
    std::size_t height;
};

struct FieldKernels {
    // Adds the spline weights of points to rows of a lattice. rows[0] is the lattice's row first_row. weights: factors
    // of the points, by their index; null: none.
    void (*deposit)(const LatticePoint* points, std::size_t count, const float* weights, std::size_t first_row,
                    std::size_t stride, float* rows);

    // Evaluates the lattice's interpolant at points: push[index] = gradient_scale * its gradient. Returns the sum of
    // its values, each times the weight of its point.
    double (*interpolate)(const LatticePoint* points, std::size_t count, const float* weights, const float* lattice,
                          std::size_t stride, float gradient_scale, float* push);

    // Transforms the lines in `data`. scratch: a buffer of the same size. Returns the buffer that holds the result.
    float* (*transform)(const FourierPlan& plan, float* data, float* scratch);

    // Transforms the 16 columns from `column` on in y, from the lattice into the spectrum.
    void (*forward_columns)(const FourierPlan& plan, const float* lattice, std::size_t stride, std::size_t column,
                            SpectrumView spectrum, float* scratch);

    // Transforms the 8 rows of the spectrum from `row` on in x, multiplies them by kernel (width + 1, 8), and
    // transforms them back.
    void (*convolve_rows)(const FourierPlan& plan, std::size_t row, const float* kernel, SpectrumView spectrum,
                          float* scratch);

    // Transforms the 16 columns from `column` on back from the spectrum into the lattice.
    void (*backward_columns)(const FourierPlan& plan, SpectrumView spectrum, std::size_t column, float* lattice,
                             std::size_t stride, float* scratch);
};

}  // namespace pixelsne
