// The result of a neighbor search.
#pragma once

#include <cmath>
#include <cstdint>

#include "../array_view.hpp"
#include "nearest_list.hpp"

namespace pixelsne {

// Row i holds the k nearest points to point i in ascending order, without i itself. Equal distances are ordered by
// index. Each search decides which of several points at the k-th distance it returns.
struct NeighborTable {
    ArrayView<std::int32_t> indices;  // (n, k)
    ArrayView<float> distances;       // (n, k), not squared

    std::size_t k() const { return indices.columns; }
    std::size_t rows() const { return indices.rows; }

    void write_row(std::size_t row, const std::uint64_t* keys) {
        for (std::size_t rank = 0; rank < k(); ++rank) {
            indices.row(row)[rank] = static_cast<std::int32_t>(key_index(keys[rank]));
            distances.row(row)[rank] = std::sqrt(key_squared_distance(keys[rank]));
        }
    }
};

}  // namespace pixelsne
