// The loops that must run at vector speed.
//
// kernels.cpp is compiled once per instruction set, each time into a namespace of its own; kernels()
// returns the table of the best set this processor has. PIXELSNE_SIMD=baseline|avx2|avx512 in the
// environment forces one, for tests. This header must stay free of the standard library's inline
// functions beyond plain types: a function compiled for AVX2 and merged by the linker would crash
// older processors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pixelsne {

// One cell of a quadtree. Cells lie in preorder: the children of a cell follow it, and `skip` is the
// first cell after all of them, so a walk needs no stack. A leaf has skip == its own place + 1.
struct TreeCell {
    float x, y;          // center, embedding units: of mass or of the cell
    float count;         // points inside
    float reach;         // squared distance beyond which the cell may stand for its points
    std::int32_t begin;  // the points inside, in Morton order: begin <= place < end
    std::int32_t end;
    std::int32_t skip;
    std::int32_t level;  // 0 is the root
};

// Always used, whatever the distance: reach of a leaf.
constexpr float kLeafReach = -1.0f;

// Queries and points of one squared_distances call.
constexpr std::size_t kTileQueries = 6;
constexpr std::size_t kPanelPoints = 16;

// Floats of the widest instruction set's vectors.
constexpr std::size_t kWidestVector = 16;

struct StepSettings {
    float exaggeration;
    float inverse_normalizer;
    float learning_rate;
    float momentum;
    float step_limit;  // embedding units; infinity = none
};

struct FieldKernels;

struct Kernels {
    const char* name;

    const FieldKernels* field;  // field_kernels.hpp

    // queries: 6 rows of d floats; panel: (d, 16), points in columns, on a 64-byte border; out: (6, 16).
    // any_within[q] tells whether a point lies within limits[q]. Sums run over d in order, so the
    // distance of a pair has the same bits wherever the pair turns up.
    void (*squared_distances)(const float* const* queries, const float* panel, std::size_t dimensions,
                              const float* limits, float* out, bool* any_within);

    // The same comparison at half the arithmetic, as a product: queries (6, d); panel (1 + d, 16), whose
    // first row holds -|p|^2 / 2 and minus infinity where there is no point; out (6, 16) receives
    // q.p - |p|^2 / 2 = (|q|^2 - |q - p|^2) / 2. Bit p of within[q] tells whether out reaches bounds[q];
    // a row of out without such a bit is not written.
    void (*products)(const float* queries, const float* panel, std::size_t dimensions, const float* bounds, float* out,
                     std::uint32_t* within);

    // out[i] = the squared distance of the query to row places[i] of rows (n, d).
    void (*distances_to_rows)(const float* query, const float* rows, std::size_t dimensions,
                              const std::uint32_t* places, std::size_t count, float* out);

    float (*squared_distance)(const float* first, const float* second, std::size_t dimensions);

    // Where `value` stands among the k of a row, or -1.
    std::int32_t (*find)(std::int32_t value, const std::int32_t* row, std::size_t k);

    // weights = exp(-precision * gaps), gaps >= 0, k of them, both arrays padded to kWidestVector more. sums
    // receives the sums of weight, weight * gap and weight * gap^2.
    void (*gaussian_weights)(const float* gaps, std::size_t k, float precision, float* weights, double* sums);

    // force[i] = sum over j of p_ij (y_i - y_j) / (1 + d2), for rows begin <= i < end of a CSR matrix.
    void (*attraction)(const std::int64_t* offsets, const std::int32_t* columns, const float* values,
                       const float* positions, std::size_t begin, std::size_t end, float* force);

    // Sum over the same rows of p_ij log(1 + d2), d2 finite.
    double (*log_distances)(const std::int64_t* offsets, const std::int32_t* columns, const float* values,
                            const float* positions, std::size_t begin, std::size_t end);

    // Sum of p log p over `count` values >= 0, and of p.
    double (*entropy)(const float* values, std::size_t count, double* mass);

    // push[i] = sum over j of (y_i - y_j) / (1 + d2)^2 for begin <= i < end against all n points, given
    // as xs and ys. Returns the sum over these i of sum over j != i of 1 / (1 + d2).
    double (*exact_repulsion)(const float* xs, const float* ys, std::size_t n, std::size_t begin, std::size_t end,
                              float* push);

    // The same sums, with a quadtree standing for the points. Points and push are in Morton order:
    // xs, ys, and push (n, 2). A point's own leaf is left out.
    double (*tree_repulsion)(const TreeCell* cells, std::size_t cell_count, const float* xs, const float* ys,
                             std::size_t begin, std::size_t end, float* push);

    // One step of gradient descent with gains and momentum for points begin <= i < end, in place;
    // all arrays (n, 2). sums (2) receives the sums of the new positions.
    void (*step)(const StepSettings& settings, const float* attraction, const float* push, std::size_t begin,
                 std::size_t end, float* positions, float* velocity, float* gains, double* sums);
};

const Kernels& kernels();

}  // namespace pixelsne
