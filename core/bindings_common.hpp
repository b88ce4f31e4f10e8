// Shared by all bindings: conversion and checks of NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "array_view.hpp"
#include "large_memory.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace pixelsne {

template <class Number>
using Matrix = nb::ndarray<Number, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Number>
using Vector = nb::ndarray<Number, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GilRelease = nb::gil_scoped_release;
using BoundsTuple = std::tuple<double, double, double, double>;  // low x, low y, high x, high y

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

template <class Number>
ArrayView<Number> view(const Matrix<Number>& matrix) {
    return {matrix.data(), matrix.shape(0), matrix.shape(1)};
}

template <class Number>
ArrayView<Number> map_view(const Matrix<Number>& matrix, std::size_t n, const char* message) {
    require(matrix.shape(0) == n && matrix.shape(1) == 2, message);
    return view(matrix);
}

inline Positions positions_view(const Matrix<const float>& positions) {
    require(positions.shape(0) >= 1, "positions: at least one row");
    require(positions.shape(0) < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
            "positions: fewer than 2^31 rows");
    return map_view(positions, positions.shape(0), "positions: (n, 2)");
}

template <class Number>
Vector<Number> as_vector(Buffer<Number> buffer, std::size_t size) {
    Number* data = buffer.release();
    nb::capsule owner(data, [](void* memory) noexcept { free_memory(memory); });
    return Vector<Number>(data, {size}, owner);
}

template <class Number>
Matrix<Number> new_matrix(std::size_t rows, std::size_t columns) {
    Number* data = allocate_buffer<Number>(rows * columns).release();
    nb::capsule owner(data, [](void* memory) noexcept { free_memory(memory); });
    return Matrix<Number>(data, {rows, columns}, owner);
}

inline void require_columns_below(const std::int32_t* columns, std::size_t count, std::size_t n, const char* message) {
    std::int32_t smallest = 0;
    std::int32_t largest = 0;
    for (std::size_t index = 0; index < count; ++index) {
        smallest = std::min(smallest, columns[index]);
        largest = std::max(largest, columns[index]);
    }
    require(smallest >= 0 && static_cast<std::size_t>(largest) < n, message);
}

// One function for each part of the core.
void bind_project(nb::module_& module);
void bind_neighbors(nb::module_& module);
void bind_affinities(nb::module_& module);
void bind_forces(nb::module_& module);
void bind_halo(nb::module_& module);
void bind_descent(nb::module_& module);

}  // namespace pixelsne
