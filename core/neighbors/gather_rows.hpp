// Copies rows of points in a given order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../aligned_vector.hpp"
#include "../array_view.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {

inline AlignedVector<float> gather_rows(Points points, const std::vector<std::uint32_t>& order, int threads) {
    AlignedVector<float> gathered(points.rows * points.columns);
    parallel_for(points.rows, 4096, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t row = begin; row < end; ++row) {
            std::copy_n(points.row(order[row]), points.columns, gathered.data() + row * points.columns);
        }
    });
    return gathered;
}

}  // namespace pixelsne
