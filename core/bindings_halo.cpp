// What processes that share a map tell each other, for Python: positions, and the nodes of a field.
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
using BoundsTuple = std::tuple<double, double, double, double>;  // low x, low y, high x, high y
// spacing, origin x, origin y, columns, rows, differences
using LatticeTuple = std::tuple<double, double, double, std::size_t, std::size_t, bool>;

std::pair<CodingTuple, Matrix<std::uint16_t>> encode(const Matrix<const float>& positions,
                                                     const Vector<const std::int32_t>& chosen, int threads) {
    const auto from = positions_view(positions);
    require_columns_below(chosen.data(), chosen.size(), from.rows, "chosen: rows of positions");
    auto numbers = new_matrix<std::uint16_t>(chosen.shape(0), 2);
    Coding coding{};
    {
        Unlocked unlocked;
        coding = encode_positions(from, chosen.data(), chosen.shape(0), threads, numbers.data());
    }
    return {{coding.low[0], coding.low[1], coding.step[0], coding.step[1]}, numbers};
}

void decode(const CodingTuple& coding, const Matrix<const std::uint16_t>& numbers,
            const Vector<const std::int32_t>& chosen, Pair center, Matrix<float> to, int threads) {
    require(numbers.shape(1) == 2, "numbers: (n, 2)");
    require_columns_below(chosen.data(), chosen.size(), std::max<std::size_t>(numbers.shape(0), 1),
                          "chosen: rows of numbers");
    require(numbers.shape(0) > 0 || chosen.shape(0) == 0, "chosen: rows of numbers");
    const auto out = map_view(to, chosen.shape(0), "to: (chosen, 2)");
    const auto [low_x, low_y, step_x, step_y] = coding;
    const double middle[2] = {center.first, center.second};
    Unlocked unlocked;
    decode_positions({{low_x, low_y}, {step_x, step_y}}, numbers.data(), chosen.data(), chosen.shape(0), middle,
                     threads, out.data);
}

Pair sums_of(const Matrix<const float>& positions, int threads) {
    const auto from = positions_view(positions);
    Unlocked unlocked;
    const CoordinateSums sums = sum_positions(from, threads);
    return {sums.axis[0], sums.axis[1]};
}

void center(const Matrix<const float>& positions, Pair middle, Matrix<float> to, int threads) {
    const auto from = positions_view(positions);
    const auto out = map_view(to, from.rows, "to: the shape of positions");
    const double about[2] = {middle.first, middle.second};
    Unlocked unlocked;
    center_positions(from, about, threads, out.data);
}

Bounds as_bounds(const BoundsTuple& bounds) {
    const auto [low_x, low_y, high_x, high_y] = bounds;
    require(low_x <= high_x && low_y <= high_y && std::isfinite(high_x - low_x) && std::isfinite(high_y - low_y),
            "bounds: finite low x, low y, high x, high y");
    return {{static_cast<float>(low_x), static_cast<float>(low_y)},
            {static_cast<float>(high_x), static_cast<float>(high_y)}};
}

LatticeTuple lattice_for(const BoundsTuple& bounds, std::size_t points, std::size_t most_nodes) {
    require(most_nodes >= kFewestNodes && most_nodes <= kMostNodes && most_nodes % 16 == 0,
            "most_nodes: a multiple of 16 from 32 to 4096");
    const FieldLattice lattice = choose_lattice(as_bounds(bounds), points, most_nodes);
    return {lattice.spacing,  lattice.origin[0], lattice.origin[1],
            lattice.nodes[0], lattice.nodes[1],  lattice.differences};
}

FieldLattice as_lattice(const LatticeTuple& lattice) {
    const auto [spacing, x, y, columns, rows, differences] = lattice;
    for (const std::size_t side : {columns, rows}) {
        require(side >= kFewestNodes && side <= kMostNodes && side % 16 == 0 && has_small_factors(side),
                "lattice: sides are multiples of 16 from 32 to 4096, without factors above 5");
    }
    require(spacing > 0.0 && std::isfinite(spacing + x + y), "lattice: a finite origin and a positive spacing");
    return {spacing, {x, y}, {columns, rows}, differences};
}

template <class Number>
ArrayView<Number> nodes_view(const Matrix<Number>& nodes, const FieldLattice& lattice) {
    require(nodes.shape(0) == lattice.nodes[1] && nodes.shape(1) == lattice.nodes[0],
            "nodes: (rows, columns) of the lattice");
    return view(nodes);
}

void place_share(FieldShare* share, const Matrix<const float>& positions, const LatticeTuple& lattice, int threads) {
    const auto from = positions_view(positions);
    const FieldLattice checked = as_lattice(lattice);
    Unlocked unlocked;
    new (share) FieldShare(from, checked, threads);
}

void deposit_share(FieldShare& share, const Matrix<float>& nodes, int threads) {
    const auto to = nodes_view(nodes, share.lattice());
    Unlocked unlocked;
    share.deposit(threads, to);
}

double read_share(FieldShare& share, const Matrix<const float>& nodes, const Matrix<float>& push, int threads) {
    const auto from = nodes_view(nodes, share.lattice());
    const auto to = map_view(push, share.points(), "push: the shape of positions");
    Unlocked unlocked;
    return share.read(from, threads, to);
}

double convolve(FieldConvolution& convolution, const Matrix<float>& nodes, const LatticeTuple& lattice,
                std::size_t points, int threads) {
    const FieldLattice checked = as_lattice(lattice);
    const auto in_place = nodes_view(nodes, checked);
    Unlocked unlocked;
    return convolution.apply(checked, points, threads, in_place);
}

}  // namespace

void bind_halo(nb::module_& module) {
    module.def("encode_positions", &encode, "positions"_a.noconvert(), "chosen"_a.noconvert(), "threads"_a);
    module.def("decode_positions", &decode, "coding"_a, "numbers"_a.noconvert(), "chosen"_a.noconvert(), "center"_a,
               "to"_a.noconvert(), "threads"_a);
    module.def("sum_positions", &sums_of, "positions"_a.noconvert(), "threads"_a);
    module.def("center_positions", &center, "positions"_a.noconvert(), "center"_a, "to"_a.noconvert(), "threads"_a);
    module.def("choose_lattice", &lattice_for, "bounds"_a, "points"_a, "most_nodes"_a);
    nb::class_<FieldShare>(module, "FieldShare")
        .def("__init__", &place_share, "positions"_a.noconvert(), "lattice"_a, "threads"_a)
        .def("deposit", &deposit_share, "nodes"_a.noconvert(), "threads"_a)
        .def("read", &read_share, "nodes"_a.noconvert(), "push"_a.noconvert(), "threads"_a);
    nb::class_<FieldConvolution>(module, "FieldConvolution")
        .def(nb::init<>())
        .def("apply", &convolve, "nodes"_a.noconvert(), "lattice"_a, "points"_a, "threads"_a);
}

}  // namespace pixelsne
