#include "shared_field.hpp"

#include <algorithm>
#include <limits>

#include "pixel_field.hpp"

namespace pixelsne {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Bounds kEverywhere{{-kInfinity, -kInfinity}, {kInfinity, kInfinity}};

void pad_rows(ArrayView<const float> from, const FieldLattice& lattice, Nodes& nodes) {
    nodes.resize(from.rows * row_stride(lattice));
    for (std::size_t row = 0; row < from.rows; ++row) {
        float* to = nodes.data() + row * row_stride(lattice);
        std::copy_n(from.row(row), from.columns, to);
        std::fill_n(to + from.columns, kRowPadding, 0.0f);
    }
}

void pack_rows(const Nodes& nodes, const FieldLattice& lattice, ArrayView<float> to) {
    for (std::size_t row = 0; row < to.rows; ++row) {
        std::copy_n(nodes.data() + row * row_stride(lattice), to.columns, to.row(row));
    }
}

// Returns the sum of the values that all points read: the sum over nodes of deposit times field.
double sum_of_reads(ArrayView<const float> deposited, const FieldLattice& lattice, const Nodes& convolved) {
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

void ShardField::deposit(int threads, ArrayView<float> nodes) {
    points_.deposit(threads, nodes_);
    pack_rows(nodes_, lattice_, nodes);
}

double ShardField::read(ArrayView<const float> nodes, int threads, ArrayView<float> push) {
    pad_rows(nodes, lattice_, nodes_);
    return points_.read(nodes_, threads, push);
}

double FieldConvolution::apply(const FieldLattice& lattice, std::size_t points, int threads, ArrayView<float> nodes) {
    const ArrayView<const float> deposited{nodes.data, nodes.rows, nodes.columns};
    convolution_.prepare(lattice, threads);
    pad_rows(deposited, lattice, nodes_);
    convolution_.apply(nodes_, row_stride(lattice), threads);
    const double sum = sum_of_reads(deposited, lattice, nodes_);
    pack_rows(nodes_, lattice, nodes);
    const auto n = static_cast<double>(points);
    return normalizer_of(lattice, sum, n, n);
}

}  // namespace pixelsne
