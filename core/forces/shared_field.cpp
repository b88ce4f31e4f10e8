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

// What points read from the lattice in all is what they gave to it times what it holds then, node by node.
double read_in_all(ArrayView<const float> given, const FieldLattice& lattice, const Nodes& convolved) {
    double sum = 0.0;
    for (std::size_t row = 0; row < given.rows; ++row) {
        const float* held = convolved.data() + row * row_stride(lattice);
        double line = 0.0;
        for (std::size_t column = 0; column < given.columns; ++column) {
            line += static_cast<double>(held[column]) * given.row(row)[column];
        }
        sum += line;
    }
    return sum;
}

}  // namespace

FieldShare::FieldShare(Positions positions, const FieldLattice& lattice, int threads)
    : lattice_(lattice), count_(positions.rows) {
    points_.place(positions, lattice, kEverywhere, threads);
}

void FieldShare::deposit(int threads, ArrayView<float> nodes) {
    points_.deposit(threads, nodes_);
    pack_rows(nodes_, lattice_, nodes);
}

double FieldShare::read(ArrayView<const float> nodes, int threads, ArrayView<float> push) {
    pad_rows(nodes, lattice_, nodes_);
    return points_.read(nodes_, threads, push);
}

double FieldConvolution::apply(const FieldLattice& lattice, std::size_t points, int threads, ArrayView<float> nodes) {
    const ArrayView<const float> given{nodes.data, nodes.rows, nodes.columns};
    convolution_.prepare(lattice, threads);
    pad_rows(given, lattice, nodes_);
    convolution_.apply(nodes_, row_stride(lattice), threads);
    const double sum = read_in_all(given, lattice, nodes_);
    pack_rows(nodes_, lattice, nodes);
    return normalizer_of(lattice, sum, points);
}

}  // namespace pixelsne
