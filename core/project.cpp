#include "project.hpp"

#include <algorithm>
#include <limits>

#include "aligned_vector.hpp"
#include "kernels.hpp"
#include "parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kTilesPerChunk = 64;

// Packs 32 directions at a time into a panel of kernels().half_distance_products. The first row of a panel, which the
// kernel adds, is zero.
AlignedVector<float> pack_directions(ArrayView<const float> directions) {
    const std::size_t floats = (1 + directions.rows) * kPanelPoints;
    AlignedVector<float> packed(chunk_count(directions.columns, kPanelPoints) * floats);
    std::fill(packed.begin(), packed.end(), 0.0f);
    for (std::size_t axis = 0; axis < directions.rows; ++axis) {
        for (std::size_t column = 0; column < directions.columns; ++column) {
            const std::size_t panel = column / kPanelPoints;
            packed[panel * floats + (1 + axis) * kPanelPoints + column % kPanelPoints] = directions.row(axis)[column];
        }
    }
    return packed;
}

}  // namespace

void project_rows(ArrayView<const float> rows, ArrayView<const float> directions, int threads, ArrayView<float> out) {
    const AlignedVector<float> packed = pack_directions(directions);
    const std::size_t floats = (1 + directions.rows) * kPanelPoints;
    float lower_limits[kTileQueries];
    std::fill_n(lower_limits, kTileQueries, -std::numeric_limits<float>::infinity());
    parallel_for(
        rows.rows, kTilesPerChunk * kTileQueries, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
            AlignedVector<float> padded(kTileQueries * rows.columns);
            for (std::size_t first = begin; first < end; first += kTileQueries) {
                const std::size_t filled = std::min(kTileQueries, end - first);
                const float* queries = rows.row(first);
                if (filled < kTileQueries) {  // the kernel reads a whole tile
                    std::fill(padded.begin(), padded.end(), 0.0f);
                    std::copy_n(queries, filled * rows.columns, padded.begin());
                    queries = padded.data();
                }
                for (std::size_t column = 0; column < directions.columns; column += kPanelPoints) {
                    float products[kTileQueries * kPanelPoints] = {};
                    std::uint32_t reaches_limit[kTileQueries];
                    kernels().half_distance_products(queries, packed.data() + column / kPanelPoints * floats,
                                                     rows.columns, lower_limits, products, reaches_limit);
                    for (std::size_t row = 0; row < filled; ++row) {
                        std::copy_n(products + row * kPanelPoints, std::min(kPanelPoints, directions.columns - column),
                                    out.row(first + row) + column);
                    }
                }
            }
        });
}

}  // namespace pixelsne
