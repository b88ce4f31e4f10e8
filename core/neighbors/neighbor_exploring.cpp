#include "neighbor_exploring.hpp"

#include <numeric>

#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kRowsPerChunk = 16 * kQueriesPerBlock;

void add_neighbors(const KeyRows& rows, std::size_t k, std::size_t row, std::size_t count, CandidateSet& candidates) {
    for (std::size_t rank = 0; rank < count; ++rank) candidates.add(key_index(rows[row * k + rank]));
}

std::size_t count_new(const std::uint64_t* before, const std::uint64_t* after, std::size_t k) {
    std::size_t kept = 0;
    for (std::size_t old = 0, current = 0; old < k && current < k;) {
        kept += before[old] == after[current] ? 1 : 0;
        before[old] <= after[current] ? ++old : ++current;
    }
    return k - kept;
}

}  // namespace

double explore_neighbors(Points points, std::size_t k, std::size_t reach, int threads, ProgressToken& token,
                         const KeyRows& before, KeyRows& after) {
    reach = std::min(reach, k);
    std::vector<std::size_t> new_entries(chunk_count(points.rows, kRowsPerChunk));
    parallel_for(
        points.rows, kRowsPerChunk, threads, [&](std::size_t chunk_begin, std::size_t chunk_end, std::size_t chunk) {
            BlockSearch search(points);
            for (std::size_t begin = chunk_begin; begin < chunk_end; begin += kQueriesPerBlock) {
                const std::size_t end = std::min(chunk_end, begin + kQueriesPerBlock);
                for (std::size_t row = begin; row < end; ++row) {
                    add_neighbors(before, k, row, k, search.candidates());
                    for (std::size_t rank = 0; rank < reach; ++rank) {
                        add_neighbors(before, k, key_index(before[row * k + rank]), reach, search.candidates());
                    }
                }
                search.fill(begin, end, k, &before, after);
                for (std::size_t row = begin; row < end; ++row)
                    new_entries[chunk] += count_new(&before[row * k], &after[row * k], k);
            }
            token.advance(chunk_end - chunk_begin);
        });
    const auto total = std::accumulate(new_entries.begin(), new_entries.end(), std::size_t{0});
    return static_cast<double>(total) / static_cast<double>(points.rows * k);
}

}  // namespace pixelsne
