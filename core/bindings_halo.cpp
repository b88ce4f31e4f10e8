// Bindings of the messages between shards of a map: positions, and the nodes of a field.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <new>

#include "bindings_common.hpp"
#include "bounds.hpp"
#include "forces/field_lattice.hpp"
#include "forces/shared_field.hpp"
#include "halo.hpp"

namespace pixelsne {
namespace {

using Pair = std::pair<double, double>;
using CodingTuple = std::tuple<double, double, double, double>;  // low x, low y, step x, step y
// spacing, origin x, origin y, columns, rows, uses_kernel_minus_one
using LatticeTuple = std::tuple<double, double, double, std::size_t, std::size_t, bool>;

std::pair<CodingTuple, Matrix<std::uint16_t>> encode(const Matrix<const float>& positions,
                                                     const Vector<const std::int32_t>& rows, int threads) {
    const auto from = positions_view(positions);
    require_columns_below(rows.data(), rows.size(), from.rows, "rows: indices of positions");
    auto codes = new_matrix<std::uint16_t>(rows.shape(0), 2);
    Coding coding{};
    {
        GilRelease released;
        coding = encode_positions(from, rows.data(), rows.shape(0), threads, codes.data());
    }
    return {{coding.low[0], coding.low[1], coding.step[0], coding.step[1]}, codes};
}

void decode(const CodingTuple& coding, const Matrix<const std::uint16_t>& codes, const Vector<const std::int32_t>& rows,
            Pair center, Matrix<float> out, int threads) {
    require(codes.shape(1) == 2, "codes: (n, 2)");
    require_columns_below(rows.data(), rows.size(), std::max<std::size_t>(codes.shape(0), 1), "rows: indices of codes");
    require(codes.shape(0) > 0 || rows.shape(0) == 0, "rows: indices of codes");
    const auto result = map_view(out, rows.shape(0), "out: (rows, 2)");
    const auto [low_x, low_y, step_x, step_y] = coding;
    const double center_point[2] = {center.first, center.second};
    GilRelease released;
    decode_positions({{low_x, low_y}, {step_x, step_y}}, codes.data(), rows.data(), rows.shape(0), center_point,
                     threads, result.data);
}

Pair sums_of(const Matrix<const float>& positions, int threads) {
    const auto from = positions_view(positions);
    GilRelease released;
    const CoordinateSums sums = sum_positions(from, threads);
    return {sums.axis[0], sums.axis[1]};
}

void center(const Matrix<const float>& positions, Pair center, Matrix<float> out, int threads) {
    const auto from = positions_view(positions);
    const auto result = map_view(out, from.rows, "out: the shape of positions");
    const double center_point[2] = {center.first, center.second};
    GilRelease released;
    center_positions(from, center_point, threads, result.data);
}

Bounds as_bounds(const BoundsTuple& bounds) {
    const auto [low_x, low_y, high_x, high_y] = bounds;
    require(low_x <= high_x && low_y <= high_y && std::isfinite(high_x - low_x) && std::isfinite(high_y - low_y),
            "bounds: finite low x, low y, high x, high y");
    return {{static_cast<float>(low_x), static_cast<float>(low_y)},
            {static_cast<float>(high_x), static_cast<float>(high_y)}};
}

LatticeTuple lattice_for(const BoundsTuple& bounds, std::size_t points, std::size_t max_nodes) {
    require(is_lattice_side(max_nodes), "max_nodes: a multiple of 16 from 32 to 4096");
    const FieldLattice lattice = choose_lattice(as_bounds(bounds), points, {max_nodes});
    return {lattice.spacing,  lattice.origin[0], lattice.origin[1],
            lattice.nodes[0], lattice.nodes[1],  lattice.uses_kernel_minus_one};
}

FieldLattice as_lattice(const LatticeTuple& lattice) {
    const auto [spacing, x, y, columns, rows, uses_kernel_minus_one] = lattice;
    for (const std::size_t side : {columns, rows}) {
        require(is_lattice_side(side) && has_small_factors(side),
                "lattice: sides are multiples of 16 from 32 to 4096, without factors above 5");
    }
    require(spacing > 0.0 && std::isfinite(spacing + x + y), "lattice: a finite origin and a positive spacing");
    return {spacing, {x, y}, {columns, rows}, uses_kernel_minus_one};
}

template <class Number>
ArrayView<Number> nodes_view(const Matrix<Number>& nodes, const FieldLattice& lattice) {
    require(nodes.shape(0) == lattice.nodes[1] && nodes.shape(1) == lattice.nodes[0],
            "nodes: (rows, columns) of the lattice");
    return view(nodes);
}

void construct_shard(ShardField* shard, const Matrix<const float>& positions, const LatticeTuple& lattice,
                     int threads) {
    const auto from = positions_view(positions);
    const FieldLattice checked = as_lattice(lattice);
    GilRelease released;
    new (shard) ShardField(from, checked, threads);
}

void deposit_shard(ShardField& shard, const Matrix<float>& nodes, int threads) {
    const auto out = nodes_view(nodes, shard.lattice());
    GilRelease released;
    shard.deposit(threads, out);
}

double interpolate_shard(ShardField& shard, const Matrix<const float>& nodes, const Matrix<float>& push, int threads) {
    const auto from = nodes_view(nodes, shard.lattice());
    const auto out = map_view(push, shard.points(), "push: the shape of positions");
    GilRelease released;
    return shard.interpolate(from, threads, out);
}

double convolve(FieldConvolution& convolution, const Matrix<float>& nodes, const LatticeTuple& lattice,
                std::size_t points, int threads) {
    const FieldLattice checked = as_lattice(lattice);
    const auto in_place = nodes_view(nodes, checked);
    GilRelease released;
    return convolution.apply(checked, points, threads, in_place);
}

}  // namespace

void bind_halo(nb::module_& module) {
    module.def("encode_positions", &encode, "positions"_a.noconvert(), "rows"_a.noconvert(), "threads"_a);
    module.def("decode_positions", &decode, "coding"_a, "codes"_a.noconvert(), "rows"_a.noconvert(), "center"_a,
               "out"_a.noconvert(), "threads"_a);
    module.def("sum_positions", &sums_of, "positions"_a.noconvert(), "threads"_a);
    module.def("center_positions", &center, "positions"_a.noconvert(), "center"_a, "out"_a.noconvert(), "threads"_a);
    module.def("choose_lattice", &lattice_for, "bounds"_a, "points"_a, "max_nodes"_a);
    nb::class_<ShardField>(module, "ShardField")
        .def("__init__", &construct_shard, "positions"_a.noconvert(), "lattice"_a, "threads"_a)
        .def("deposit", &deposit_shard, "nodes"_a.noconvert(), "threads"_a)
        .def("interpolate", &interpolate_shard, "nodes"_a.noconvert(), "push"_a.noconvert(), "threads"_a);
    nb::class_<FieldConvolution>(module, "FieldConvolution")
        .def(nb::init<>())
        .def("apply", &convolve, "nodes"_a.noconvert(), "lattice"_a, "points"_a, "threads"_a);
}

}  // namespace pixelsne
