// The vectorized loops.
//
// kernels.cpp is compiled once per instruction set, each time into its own namespace. kernels() returns the table of
// the best set that this processor has. The environment variable PIXELSNE_SIMD=baseline|avx2|avx512 forces one, for
// tests. This header must not use inline functions of the standard library, only plain types: the linker could merge a
// function compiled for AVX2 into code for older processors, which would crash.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pixelsne {

// One cell of a quadtree. Cells are in preorder: the children of a cell follow it, and `skip` is the first cell after
// all of them, so a traversal needs no stack. A leaf has skip == its own index + 1.
struct TreeCell {
    float x, y;                    // center of mass or of the cell, embedding units
    float weight;                  // total weight of the points inside; without weights their number
    float squared_opening_radius;  // beyond this squared distance, the cell may replace its points
    std::int32_t begin;            // the points inside, as indices in Morton order: begin <= index < end
    std::int32_t end;
    std::int32_t skip;
    std::int32_t level;  // 0 is the root
};

// The opening radius of a leaf, which is always used, whatever the distance.
constexpr float kLeafOpeningRadius = -1.0f;

// Numbers of queries and points of one squared_distances call.
constexpr std::size_t kTileQueries = 6;
constexpr std::size_t kPanelPoints = 32;

// Floats per vector of the widest instruction set.
constexpr std::size_t kMaxVectorFloats = 16;

struct StepSettings {
    float exaggeration;
    float inverse_normalizer;
    float learning_rate;
    float momentum;
    float step_limit;  // embedding units; infinity = none
};

// A sparse matrix in CSR form: row i has columns[offsets[i]] .. columns[offsets[i + 1] - 1]. On one machine, rows and
// columns are the same points. In a shard, the rows are the shard's own points, and the columns also index the points
// of its halo, which follow them.
struct SparseRows {
    const std::int64_t* offsets;  // (rows + 1)
    const std::int32_t* columns;
    const float* values;
    std::size_t rows;
};

struct FieldKernels;

struct Kernels {
    const char* name;

    const FieldKernels* field;  // field_kernels.hpp

    // Computes out (6, 32), the squared distances of queries and points. queries: 6 rows of d floats; panel: (d, 32),
    // points in columns, aligned to 64 bytes. any_within[q] is set if a point lies within limits[q]. Sums run over d in
    // order, so a pair has the same bits wherever it is computed.
    void (*squared_distances)(const float* const* queries, const float* panel, std::size_t dimensions,
                              const float* limits, float* out, bool* any_within);

    // Computes the same comparison as a product, with half the arithmetic. queries: (6, d); panel: (1 + d, 32), whose
    // first row holds -|p|^2 / 2, or minus infinity where there is no point. out (6, 32) receives q.p - |p|^2 / 2 =
    // (|q|^2 - |q - p|^2) / 2. Bit p of reaches_limit[q] is set if out is at least lower_limits[q]. Values
    // of out without such a bit are unspecified.
    void (*half_distance_products)(const float* queries, const float* panel, std::size_t dimensions,
                                   const float* lower_limits, float* out, std::uint32_t* reaches_limit);

    // out[i] = squared distance between the query and row indices[i] of rows (n, d).
    void (*squared_distances_to_rows)(const float* query, const float* rows, std::size_t dimensions,
                                      const std::uint32_t* indices, std::size_t count, float* out);

    float (*squared_distance)(const float* first, const float* second, std::size_t dimensions);

    // Returns the index of `value` among the k entries of a row, or -1.
    std::int32_t (*find)(std::int32_t value, const std::int32_t* row, std::size_t k);

    // weights = exp(-precision * gaps) for k gaps >= 0. Both arrays have kMaxVectorFloats more elements. sums receives
    // the sums of weight, weight * gap and weight * gap^2.
    void (*gaussian_weights)(const float* gaps, std::size_t k, float precision, float* weights, double* sums);

    // force[i] = sum over j of p_ij (y_i - y_j) / (1 + d2), for rows begin <= i < end. Positions are finite.
    void (*attraction)(const SparseRows& matrix, const float* positions, std::size_t begin, std::size_t end,
                       float* force);

    // Returns the sum over the same rows of p_ij log(1 + d2), d2 finite.
    double (*log_distances)(const SparseRows& matrix, const float* positions, std::size_t begin, std::size_t end);

    // Returns the sum of p log p over `count` values >= 0, and in `mass` the sum of p.
    double (*negative_entropy)(const float* values, std::size_t count, double* mass);

    // push[i] = sum over j of (y_i - y_j) / (1 + d2)^2 for begin <= i < end and all n points, given as xs and ys.
    // Returns the sum over these i of sum over j != i of 1 / (1 + d2). With weights (n), terms of the push have the
    // factor w_j, and those of the result w_i w_j; null: no weights.
    double (*exact_repulsion)(const float* xs, const float* ys, const float* weights, std::size_t n, std::size_t begin,
                              std::size_t end, float* push);

    // Computes the same sums with the cells of a quadtree in place of distant points. Points and push are in Morton
    // order: xs, ys, weights (null: none), and push (n, 2). A point's own leaf is not included.
    double (*tree_repulsion)(const TreeCell* cells, std::size_t cell_count, const float* xs, const float* ys,
                             const float* weights, std::size_t begin, std::size_t end, float* push);

    // Moves points begin <= i < end by one step of gradient descent with gains and momentum, in place. All arrays are
    // (n, 2). sums (2) receives the sums of the new positions.
    void (*step)(const StepSettings& settings, const float* attraction, const float* push, std::size_t begin,
                 std::size_t end, float* positions, float* velocity, float* gains, double* sums);
};

const Kernels& kernels();

}  // namespace pixelsne
