// Positions between processes, for Python.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "border.hpp"
#include "bounds.hpp"
#include "halo.hpp"

namespace pixelsne {
namespace {

using Pair = std::pair<double, double>;
using CodingTuple = std::tuple<double, double, double, double>;  // low x, low y, step x, step y

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

}  // namespace

void bind_halo(nb::module_& module) {
    module.def("encode_positions", &encode, "positions"_a.noconvert(), "chosen"_a.noconvert(), "threads"_a);
    module.def("decode_positions", &decode, "coding"_a, "numbers"_a.noconvert(), "chosen"_a.noconvert(), "center"_a,
               "to"_a.noconvert(), "threads"_a);
    module.def("sum_positions", &sums_of, "positions"_a.noconvert(), "threads"_a);
    module.def("center_positions", &center, "positions"_a.noconvert(), "center"_a, "to"_a.noconvert(), "threads"_a);
}

}  // namespace pixelsne
