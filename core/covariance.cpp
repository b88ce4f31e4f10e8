#include "covariance.hpp"

#include <cstdint>
#include <limits>

#include "aligned_vector.hpp"
#include "kernels.hpp"

namespace pixelsne {
namespace {

// A tile and a panel of this many rows take 39 kB: they fit an L1 cache of 48 kB.
constexpr std::size_t kRowsPerBlock = 256;

// Columns of a block of rows in the two layouts of kernels().half_distance_products, which multiplies "queries" by
// "points": here both are columns, and their coordinates are the rows.
class ColumnProducts {
public:
    explicit ColumnProducts(std::size_t columns)
        : columns_(columns),
          panels_(chunk_count(columns, kPanelPoints)),
          queries_(chunk_count(columns, kTileQueries) * kTileQueries * kRowsPerBlock),
          points_(panels_ * panel_floats()) {}

    // Adds the products of at most kRowsPerBlock rows.
    void add(const float* rows, std::size_t count, int threads, ArrayView<double> sums) {
        run_chunks(panels_, threads, [&](std::size_t panel) { pack(rows, count, panel); });
        run_chunks(panels_, threads, [&](std::size_t panel) { multiply(count, panel, sums); });
    }

private:
    static constexpr std::size_t panel_floats() { return (1 + kRowsPerBlock) * kPanelPoints; }

    void pack(const float* rows, std::size_t count, std::size_t panel) {
        const std::size_t first = panel * kPanelPoints;
        const std::size_t filled = std::min(kPanelPoints, columns_ - first);
        float* const points = points_.data() + panel * panel_floats() + kPanelPoints;
        for (std::size_t row = 0; row < count; ++row) {
            const float* const source = rows + row * columns_ + first;
            for (std::size_t column = 0; column < filled; ++column) {
                points[row * kPanelPoints + column] = source[column];
                queries_[(first + column) * count + row] = source[column];
            }
        }
    }

    void multiply(std::size_t count, std::size_t panel, ArrayView<double> sums) {
        float lower_limits[kTileQueries];
        std::fill_n(lower_limits, kTileQueries, -std::numeric_limits<float>::infinity());
        float products[kTileQueries * kPanelPoints];
        std::uint32_t reaches_limit[kTileQueries];
        const std::size_t first = panel * kPanelPoints;
        for (std::size_t tile = first / kTileQueries * kTileQueries; tile < columns_; tile += kTileQueries) {
            kernels().half_distance_products(queries_.data() + tile * count, points_.data() + panel * panel_floats(),
                                             count, lower_limits, products, reaches_limit);
            for (std::size_t row = std::max(tile, first); row < std::min(tile + kTileQueries, columns_); ++row) {
                const float* const source = products + (row - tile) * kPanelPoints;
                double* const target = sums.row(row) + first;
                const std::size_t last = std::min(kPanelPoints, row + 1 - first);
                for (std::size_t column = 0; column < last; ++column)
                    target[column] += static_cast<double>(source[column]);
            }
        }
    }

    std::size_t columns_;
    std::size_t panels_;
    AlignedVector<float> queries_;  // (columns, rows)
    AlignedVector<float> points_;   // (panels, 1 + rows, 32); the first row, which the kernel adds, is 0
};

}  // namespace

void add_products(ArrayView<const float> rows, int threads, ArrayView<double> sums) {
    ColumnProducts products(rows.columns);
    for (std::size_t first = 0; first < rows.rows; first += kRowsPerBlock) {
        products.add(rows.row(first), std::min(kRowsPerBlock, rows.rows - first), threads, sums);
    }
}

}  // namespace pixelsne
