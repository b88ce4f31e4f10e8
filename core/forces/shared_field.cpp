#include "shared_field.hpp"

#include <algorithm>
#include <limits>

#include "pixel_field.hpp"

namespace pixelsne {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Bounds kEverywhere{{-kInfinity, -kInfinity}, {kInfinity, kInfinity}};

void pad_rows(ArrayView<const float> from, const FieldLattice& lattice, NodeValues& node_values) {
    node_values.resize(from.rows * row_stride(lattice));
    for (std::size_t row = 0; row < from.rows; ++row) {
        float* to = node_values.data() + row * row_stride(lattice);
        std::copy_n(from.row(row), from.columns, to);
        std::fill_n(to + from.columns, kRowPadding, 0.0f);
    }
}

void pack_rows(const NodeValues& node_values, const FieldLattice& lattice, ArrayView<float> to) {
    for (std::size_t row = 0; row < to.rows; ++row) {
        std::copy_n(node_values.data() + row * row_stride(lattice), to.columns, to.row(row));
    }
}

// Returns the sum of the values interpolated at all points: the sum over nodes of deposit times field.
double sum_of_interpolated(ArrayView<const float> deposited, const FieldLattice& lattice, const NodeValues& convolved) {
    double sum = 0.0;
    for (std::size_t row = 0; row < deposited.rows; ++row) {
        const float* field = convolved.data() + row * row_stride(lattice);
        double line = 0.0;
        for (std::size_t column = 0; column < deposited.columns; ++column) {
            line += static_cast<double>(field[column]) * deposited.row(row)[column];
        }
        sum += line;
    }
    return sum;
}

}  // namespace

ShardField::ShardField(Positions positions, const FieldLattice& lattice, int threads)
    : lattice_(lattice), count_(positions.rows) {
    points_.assign(positions, PointWeights{}, lattice, kEverywhere, threads);
}

void ShardField::deposit(int threads, ArrayView<float> node_values) {
    points_.deposit(threads, node_values_);
    pack_rows(node_values_, lattice_, node_values);
}

double ShardField::interpolate(ArrayView<const float> node_values, int threads, ArrayView<float> push) {
    pad_rows(node_values, lattice_, node_values_);
    return points_.interpolate(node_values_, threads, push);
}

double FieldConvolution::apply(const FieldLattice& lattice, std::size_t points, int threads,
                               ArrayView<float> node_values) {
    const ArrayView<const float> deposited{node_values.data, node_values.rows, node_values.columns};
    convolution_.prepare(lattice, threads);
    pad_rows(deposited, lattice, node_values_);
    convolution_.apply(node_values_, row_stride(lattice), threads);
    const double sum = sum_of_interpolated(deposited, lattice, node_values_);
    pack_rows(node_values_, lattice, node_values);
    const auto n = static_cast<double>(points);
    return normalizer_of(lattice, sum, n, n);
}

}  // namespace pixelsne
