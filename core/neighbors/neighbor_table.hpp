// What every neighbor search fills.
#pragma once

#include <cmath>
#include <cstdint>

#include "../array_view.hpp"
#include "nearest_list.hpp"

namespace pixelsne {

// Row i: the k nearest points to i in order, never i itself. Equal distances come by index;
// which of several at the k-th distance is taken is the search's own business.
struct NeighborTable {
    ArrayView<std::int32_t> indices;  // (n, k)
    ArrayView<float> distances;       // (n, k), not squared

    std::size_t k() const { return indices.columns; }
    std::size_t rows() const { return indices.rows; }

    void write_row(std::size_t row, const std::uint64_t* keys) {
        for (std::size_t rank = 0; rank < k(); ++rank) {
            indices.row(row)[rank] = static_cast<std::int32_t>(key_index(keys[rank]));
            distances.row(row)[rank] = std::sqrt(key_distance(keys[rank]));
        }
    }
};

}  // namespace pixelsne
