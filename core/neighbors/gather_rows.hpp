// Copies rows of points in a given order, or sorts them in place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../aligned_vector.hpp"
#include "../array_view.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {

inline AlignedVector<float> gather_rows(Points points, const std::uint32_t* order, std::size_t count, int threads) {
    AlignedVector<float> gathered(count * points.columns);
    parallel_for(count, 4096, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t row = begin; row < end; ++row) {
            std::copy_n(points.row(order[row]), points.columns, gathered.data() + row * points.columns);
        }
    });
    return gathered;
}

inline AlignedVector<float> gather_rows(Points points, const std::vector<std::uint32_t>& order, int threads) {
    return gather_rows(points, order.data(), order.size(), threads);
}

// Moves row order[i] to row i, for all i, without a second copy. order: a permutation.
inline void sort_rows(const std::vector<std::uint32_t>& order, std::size_t columns, AlignedVector<float>& values) {
    const auto row = [&](std::size_t index) { return values.data() + index * columns; };
    std::vector<bool> is_moved(order.size());
    std::vector<float> first(columns);
    for (std::size_t start = 0; start < order.size(); ++start) {
        if (is_moved[start]) continue;
        std::copy_n(row(start), columns, first.data());
        std::size_t target = start;
        for (; order[target] != start; target = order[target]) {
            std::copy_n(row(order[target]), columns, row(target));
            is_moved[target] = true;
        }
        std::copy_n(first.data(), columns, row(target));
        is_moved[target] = true;
    }
}

}  // namespace pixelsne
