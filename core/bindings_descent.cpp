// Steps, and the field of a map whose points several processes share, for Python.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <cmath>

#include "border.hpp"
#include "forces/convolution.hpp"
#include "forces/lattice_points.hpp"
#include "forces/pixel_field.hpp"
#include "step.hpp"

namespace pixelsne {
namespace {

using BoundsTuple = std::tuple<double, double, double, double>;
// spacing, origin x, origin y, columns, rows, differences
using LatticeTuple = std::tuple<double, double, double, std::size_t, std::size_t, bool>;

Bounds as_bounds(const BoundsTuple& bounds) {
    const auto [low_x, low_y, high_x, high_y] = bounds;
    require(low_x <= high_x && low_y <= high_y && std::isfinite(high_x - low_x) && std::isfinite(high_y - low_y),
            "bounds: finite low x, low y, high x, high y");
    return {{static_cast<float>(low_x), static_cast<float>(low_y)},
            {static_cast<float>(high_x), static_cast<float>(high_y)}};
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

LatticeTuple lattice_for(const BoundsTuple& bounds, std::size_t points, std::size_t most_nodes) {
    require(most_nodes >= kFewestNodes && most_nodes <= kMostNodes && most_nodes % 16 == 0,
            "most_nodes: a multiple of 16 from 32 to 4096");
    const FieldLattice lattice = choose_lattice(as_bounds(bounds), points, most_nodes);
    return {lattice.spacing,  lattice.origin[0], lattice.origin[1],
            lattice.nodes[0], lattice.nodes[1],  lattice.differences};
}

void require_nodes(const FieldLattice& lattice, std::size_t rows, std::size_t columns) {
    require(rows == lattice.nodes[1] && columns == lattice.nodes[0], "nodes: (rows, columns) of the lattice");
}

// Between Python's rows and the padded ones of the core.
void unpack(const float* from, const FieldLattice& lattice, Nodes& nodes) {
    nodes.resize(lattice.nodes[1] * row_stride(lattice));
    for (std::size_t row = 0; row < lattice.nodes[1]; ++row) {
        float* to = nodes.data() + row * row_stride(lattice);
        std::copy_n(from + row * lattice.nodes[0], lattice.nodes[0], to);
        std::fill_n(to + lattice.nodes[0], kRowPadding, 0.0f);
    }
}

void pack(const Nodes& nodes, const FieldLattice& lattice, float* to) {
    for (std::size_t row = 0; row < lattice.nodes[1]; ++row) {
        std::copy_n(nodes.data() + row * row_stride(lattice), lattice.nodes[0], to + row * lattice.nodes[0]);
    }
}

// Points of one share on a lattice that all shares have in common.
class FieldShare {
public:
    FieldShare(const Matrix<const float>& positions, const LatticeTuple& lattice, int threads)
        : lattice_(as_lattice(lattice)), rows_(positions.shape(0)) {
        const auto from = positions_view(positions);
        Unlocked unlocked;
        constexpr float kEverywhere = std::numeric_limits<float>::infinity();
        points_.place(from, lattice_, {{-kEverywhere, -kEverywhere}, {kEverywhere, kEverywhere}}, threads);
    }

    void deposit(Matrix<float> nodes, int threads) {
        require_nodes(lattice_, nodes.shape(0), nodes.shape(1));
        Unlocked unlocked;
        points_.deposit(threads, nodes_);
        pack(nodes_, lattice_, nodes.data());
    }

    double read(const Matrix<const float>& nodes, Matrix<float> push, int threads) {
        require_nodes(lattice_, nodes.shape(0), nodes.shape(1));
        const auto to = map_view(push, rows_, "push: the shape of positions");
        Unlocked unlocked;
        unpack(nodes.data(), lattice_, nodes_);
        return points_.read(nodes_, threads, to);
    }

private:
    FieldLattice lattice_;
    std::size_t rows_;
    LatticePoints points_;
    Nodes nodes_;
};

// Keeps the kernel's spectrum from call to call.
class FieldConvolution {
public:
    // Replaces the nodes of all shares together by their convolution; returns the normalizer. What points read from the
    // lattice in all is what they gave to it times what it holds then, node by node.
    double apply(Matrix<float> nodes, const LatticeTuple& given, std::size_t points, int threads) {
        const FieldLattice lattice = as_lattice(given);
        require_nodes(lattice, nodes.shape(0), nodes.shape(1));
        Unlocked unlocked;
        convolution_.prepare(lattice, threads);
        unpack(nodes.data(), lattice, nodes_);
        convolution_.apply(nodes_, row_stride(lattice), threads);
        double sum = 0.0;
        for (std::size_t row = 0; row < lattice.nodes[1]; ++row) {
            const float* convolved = nodes_.data() + row * row_stride(lattice);
            const float* given_row = nodes.data() + row * lattice.nodes[0];
            double line = 0.0;
            for (std::size_t column = 0; column < lattice.nodes[0]; ++column) {
                line += static_cast<double>(convolved[column]) * given_row[column];
            }
            sum += line;
        }
        pack(nodes_, lattice, nodes.data());
        return normalizer_of(lattice, sum, points);
    }

private:
    Convolution convolution_;
    Nodes nodes_;
};

BoundsTuple as_tuple(const Bounds& bounds) { return {bounds.low[0], bounds.low[1], bounds.high[0], bounds.high[1]}; }

BoundsTuple bounds_of(const Matrix<const float>& positions, int threads) {
    const auto from = positions_view(positions);
    Unlocked unlocked;
    return as_tuple(find_bounds(from, threads));
}

// Checks, and calls move(settings, attraction, push, state) unlocked.
template <class Move>
auto step_with(Matrix<float> positions, Matrix<float> velocity, Matrix<float> gains,
               const Matrix<const float>& attraction, const Matrix<const float>& push, double exaggeration,
               double normalizer, double learning_rate, double momentum, double step_limit, Move&& move) {
    const std::size_t n = positions.shape(0);
    require(n >= 1, "positions: at least one row");
    require(normalizer > 0.0, "normalizer: positive");
    DescentState state{map_view(positions, n, "positions: (n, 2)"),
                       map_view(velocity, n, "velocity: the shape of positions"),
                       map_view(gains, n, "gains: the shape of positions")};
    const auto pull = map_view(attraction, n, "attraction: the shape of positions");
    const auto away = map_view(push, n, "push: the shape of positions");
    const StepSettings settings{static_cast<float>(exaggeration), static_cast<float>(1.0 / normalizer),
                                static_cast<float>(learning_rate), static_cast<float>(momentum),
                                static_cast<float>(step_limit)};
    Unlocked unlocked;
    return move(settings, pull, away, state);
}

BoundsTuple step(Matrix<float> positions, Matrix<float> velocity, Matrix<float> gains,
                 const Matrix<const float>& attraction, const Matrix<const float>& push, double exaggeration,
                 double normalizer, double learning_rate, double momentum, double step_limit, int threads) {
    return step_with(positions, velocity, gains, attraction, push, exaggeration, normalizer, learning_rate, momentum,
                     step_limit,
                     [&](const StepSettings& settings, Positions pull, Positions away, DescentState& state) {
                         return as_tuple(take_step(settings, pull, away, threads, state));
                     });
}

std::pair<double, double> move(Matrix<float> positions, Matrix<float> velocity, Matrix<float> gains,
                               const Matrix<const float>& attraction, const Matrix<const float>& push,
                               double exaggeration, double normalizer, double learning_rate, double momentum,
                               double step_limit, int threads) {
    return step_with(positions, velocity, gains, attraction, push, exaggeration, normalizer, learning_rate, momentum,
                     step_limit,
                     [&](const StepSettings& settings, Positions pull, Positions away, DescentState& state) {
                         const CoordinateSums sums = move_points(settings, pull, away, threads, state);
                         return std::pair(sums.axis[0], sums.axis[1]);
                     });
}

}  // namespace

void bind_descent(nb::module_& module) {
    nb::class_<FieldShare>(module, "FieldShare")
        .def(nb::init<const Matrix<const float>&, const LatticeTuple&, int>(), "positions"_a.noconvert(), "lattice"_a,
             "threads"_a)
        .def("deposit", &FieldShare::deposit, "nodes"_a.noconvert(), "threads"_a)
        .def("read", &FieldShare::read, "nodes"_a.noconvert(), "push"_a.noconvert(), "threads"_a);
    nb::class_<FieldConvolution>(module, "FieldConvolution")
        .def(nb::init<>())
        .def("apply", &FieldConvolution::apply, "nodes"_a.noconvert(), "lattice"_a, "points"_a, "threads"_a);
    module.def("choose_lattice", &lattice_for, "bounds"_a, "points"_a, "most_nodes"_a);
    module.def("bounds", &bounds_of, "positions"_a.noconvert(), "threads"_a);
    module.def("step", &step, "positions"_a.noconvert(), "velocity"_a.noconvert(), "gains"_a.noconvert(),
               "attraction"_a.noconvert(), "push"_a.noconvert(), "exaggeration"_a, "normalizer"_a, "learning_rate"_a,
               "momentum"_a, "step_limit"_a, "threads"_a);
    module.def("move", &move, "positions"_a.noconvert(), "velocity"_a.noconvert(), "gains"_a.noconvert(),
               "attraction"_a.noconvert(), "push"_a.noconvert(), "exaggeration"_a, "normalizer"_a, "learning_rate"_a,
               "momentum"_a, "step_limit"_a, "threads"_a);
}

}  // namespace pixelsne
