// Rows of numbers as centered floats, and sums of their products, from which PCA forms the covariance.
#pragma once

#include <algorithm>
#include <cstddef>

#include "array_view.hpp"
#include "parallel_for.hpp"

namespace pixelsne {

// How a row becomes a centered one: (value / unit - mean) / scale, computed in double precision.
struct Centering {
    double unit;
    const double* mean;  // (d)
    double scale;
    double limit;  // of a magnitude, before and after centering
};

constexpr std::size_t kNumbersPerChunk = 16'384;

// values (n, d) -> out (n, d). Every number is computed separately, so it has the same bits with any other rows.
template <class Number>
void center_rows(ArrayView<const Number> values, const Centering& centering, int threads, ArrayView<float> out) {
    const std::size_t columns = values.columns;
    const std::size_t rows_per_chunk = std::max<std::size_t>(1, kNumbersPerChunk / std::max<std::size_t>(1, columns));
    const auto clipped = [limit = centering.limit](double value) { return std::min(std::max(value, -limit), limit); };
    parallel_for(values.rows, rows_per_chunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t row = begin; row < end; ++row) {
            const Number* source = values.row(row);
            float* target = out.row(row);
            for (std::size_t column = 0; column < columns; ++column) {
                const double value = clipped(static_cast<double>(source[column]) / centering.unit);
                target[column] = static_cast<float>(clipped((value - centering.mean[column]) / centering.scale));
            }
        }
    });
}

// Adds the products of all pairs of columns, summed over rows (n, d), to the lower half of sums (d, d). Sums are float
// over 256 rows and double over more.
void add_products(ArrayView<const float> rows, int threads, ArrayView<double> sums);

}  // namespace pixelsne
