// Neighbor lists in the making: k keys a point, and how blocks of points that share candidates fill theirs.
#pragma once

#include <cstdint>
#include <vector>

#include "../aligned_vector.hpp"
#include "../array_view.hpp"
#include "candidate_set.hpp"
#include "nearest_list.hpp"
#include "panels.hpp"

namespace pixelsne {

// (n, k) keys of nearest_list.hpp; in which order, those who fill them say.
using KeyRows = UnsetVector<std::uint64_t>;

// What one task needs for block after block. Points that are close together are searched together and share their
// candidates.
class BlockSearch {
public:
    explicit BlockSearch(Points points)
        : points_(points), candidates_(points.rows), lists_(kQueriesPerBlock), queries_(kQueriesPerBlock) {}

    CandidateSet& candidates() { return candidates_; }

    // Compares rows begin..end with all candidates, which must hold k others for each, and empties the
    // set. The keys of a row are sorted. limits, if given: those of an earlier round, whose k-th distances
    // bound the new ones.
    void fill(std::size_t begin, std::size_t end, std::size_t k, const KeyRows* limits, KeyRows& rows) {
        for (std::size_t query = begin; query < end; ++query) {
            queries_[query - begin] = static_cast<std::uint32_t>(query);
            limits ? lists_[query - begin].start(k, key_distance((*limits)[query * k + k - 1]))
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
