// Bindings of the descent's steps.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bindings_common.hpp"
#include "step.hpp"

namespace pixelsne {
namespace {

BoundsTuple as_tuple(const Bounds& bounds) { return {bounds.low[0], bounds.low[1], bounds.high[0], bounds.high[1]}; }

BoundsTuple bounds_of(const Matrix<const float>& positions, int threads) {
    const auto from = positions_view(positions);
    GilRelease released;
    return as_tuple(find_bounds(from, threads));
}

// Checks the arguments, releases the GIL and calls move(settings, attraction, push, state).
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
    const auto attraction_view = map_view(attraction, n, "attraction: the shape of positions");
    const auto push_view = map_view(push, n, "push: the shape of positions");
    const StepSettings settings{static_cast<float>(exaggeration), static_cast<float>(1.0 / normalizer),
                                static_cast<float>(learning_rate), static_cast<float>(momentum),
                                static_cast<float>(step_limit)};
    GilRelease released;
    return move(settings, attraction_view, push_view, state);
}

BoundsTuple step(Matrix<float> positions, Matrix<float> velocity, Matrix<float> gains,
                 const Matrix<const float>& attraction, const Matrix<const float>& push, double exaggeration,
                 double normalizer, double learning_rate, double momentum, double step_limit, int threads) {
    return step_with(
        positions, velocity, gains, attraction, push, exaggeration, normalizer, learning_rate, momentum, step_limit,
        [&](const StepSettings& settings, Positions attraction_view, Positions push_view, DescentState& state) {
            return as_tuple(take_step(settings, attraction_view, push_view, threads, state));
        });
}

std::pair<double, double> move(Matrix<float> positions, Matrix<float> velocity, Matrix<float> gains,
                               const Matrix<const float>& attraction, const Matrix<const float>& push,
                               double exaggeration, double normalizer, double learning_rate, double momentum,
                               double step_limit, int threads) {
    return step_with(
        positions, velocity, gains, attraction, push, exaggeration, normalizer, learning_rate, momentum, step_limit,
        [&](const StepSettings& settings, Positions attraction_view, Positions push_view, DescentState& state) {
            const CoordinateSums sums = move_points(settings, attraction_view, push_view, threads, state);
            return std::pair(sums.axis[0], sums.axis[1]);
        });
}

}  // namespace

void bind_descent(nb::module_& module) {
    module.def("bounds", &bounds_of, "positions"_a.noconvert(), "threads"_a);
    module.def("step", &step, "positions"_a.noconvert(), "velocity"_a.noconvert(), "gains"_a.noconvert(),
               "attraction"_a.noconvert(), "push"_a.noconvert(), "exaggeration"_a, "normalizer"_a, "learning_rate"_a,
               "momentum"_a, "step_limit"_a, "threads"_a);
    module.def("move", &move, "positions"_a.noconvert(), "velocity"_a.noconvert(), "gains"_a.noconvert(),
               "attraction"_a.noconvert(), "push"_a.noconvert(), "exaggeration"_a, "normalizer"_a, "learning_rate"_a,
               "momentum"_a, "step_limit"_a, "threads"_a);
}

}  // namespace pixelsne
