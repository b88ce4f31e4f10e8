// Neighbor lists under construction: k keys per point, and a search that fills the lists of a block of points.
#pragma once

#include <cstdint>
#include <vector>

#include "../aligned_vector.hpp"
#include "../array_view.hpp"
#include "candidate_set.hpp"
#include "nearest_list.hpp"
#include "panels.hpp"

namespace pixelsne {

// (n, k) keys of nearest_list.hpp. The function that fills them defines their order.
using KeyRows = UninitializedVector<std::uint64_t>;

// Searches for one block of points after another. Points of a block are close together and share their candidates. Each
// task owns one BlockSearch.
class BlockSearch {
public:
    explicit BlockSearch(Points points)
        : points_(points), candidates_(points.rows), lists_(kQueriesPerBlock), queries_(kQueriesPerBlock) {}

    CandidateSet& candidates() { return candidates_; }

    // Compares rows begin..end with all candidates and then empties the set. The set must hold at least k candidates
    // besides each row. The keys of a row are sorted. limits: keys of an earlier round or null; their k-th distances
    // bound the new ones.
    void fill(std::size_t begin, std::size_t end, std::size_t k, const KeyRows* limits, KeyRows& rows) {
        for (std::size_t query = begin; query < end; ++query) {
            queries_[query - begin] = static_cast<std::uint32_t>(query);
            limits ? lists_[query - begin].start(k, key_squared_distance((*limits)[query * k + k - 1]))
                   : lists_[query - begin].start(k);
        }
        panels_.pack(points_, candidates_.rows(), 1);
        panels_.compare({points_, queries_.data(), end - begin}, 0, panels_.count(), lists_.data());
        for (std::size_t query = begin; query < end; ++query) {
            const std::uint64_t* keys = lists_[query - begin].finish();
            std::copy(keys, keys + k, rows.begin() + static_cast<std::ptrdiff_t>(query * k));
        }
        candidates_.clear();
    }

private:
    Points points_;
    CandidateSet candidates_;
    Panels panels_;
    std::vector<NearestList> lists_;
    std::vector<std::uint32_t> queries_;
};

}  // namespace pixelsne
