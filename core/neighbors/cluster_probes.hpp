// Chooses the clusters that a point is compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"
#include "clusters.hpp"
#include "probe_scores.hpp"

namespace pixelsne {

// A point is compared with the clusters whose score (probe_scores.hpp) is below the distance of the k-th neighbor found
// so far. The rank scale of the scores is fitted to the data: the true neighbors of a sample of points show which
// recall a rank scale reaches and how many comparisons it takes.
//
// The first pass scores the first_pass_count() clusters nearest to a point's own cluster. Points that need more
// clusters score all nearby_count() clusters in a second pass.
class ClusterProbes {
public:
    // recall: target recall; 1 compares every point with all clusters. max_probes: upper limit of the mean number of
    // clusters that a point is compared with, including its own cluster.
    ClusterProbes(Points sorted, const Clusters& clusters, Points centers, double recall, std::size_t max_probes,
                  std::size_t k, int threads, ProgressToken& token);

    // Returns (nearby_count()) the clusters nearest to `cluster`, nearest first, without itself.
    const std::uint32_t* nearby(std::size_t cluster) const { return nearby_.indices.data() + cluster * nearby_count_; }
    std::size_t nearby_count() const { return nearby_count_; }
    std::size_t first_pass_count() const { return first_pass_count_; }

    // Scores the first `count` clusters of nearby(cluster) for the points of `cluster` at the given slots.
    void score(std::size_t cluster, const std::vector<std::uint32_t>& slots, std::size_t count,
               ProbeScores& scores) const {
        score(cluster, slots, count, rank_scale_, scores);
    }
    void score(std::size_t cluster, const std::vector<std::uint32_t>& slots, std::size_t count, float rank_scale,
               ProbeScores& scores) const {
        scores.fill(sorted_, slots, centers_, cluster, nearby(cluster),
                    nearby_.distances.data() + cluster * nearby_count_, count, rank_scale);
    }

    // Returns the score that a cluster must stay below. squared_distance: of the k-th neighbor found so far, infinite
    // while there are fewer than k.
    float score_limit(float squared_distance) const {
        return exhaustive_ ? std::numeric_limits<float>::infinity() : std::sqrt(squared_distance);
    }

    // Records that the point at `slot` was compared with nearby(its cluster)[nearby_index]. The index is below
    // first_pass_count().
    void add(std::size_t slot, std::size_t nearby_index) {
        compared_[slot * words_ + nearby_index / 64] |= std::uint64_t{1} << (nearby_index % 64);
    }

    // Records the comparisons of the second pass: pairs of slot (high half) and cluster (low half), ascending.
    void set_second_pass(std::vector<std::uint64_t> pairs) { second_pass_ = std::move(pairs); }

    // Calls visit(cluster) for every cluster that the point at `slot` was compared with, including its own.
    template <class Visit>
    void for_each_compared(std::size_t cluster, std::size_t slot, Visit&& visit) const {
        visit(static_cast<std::uint32_t>(cluster));
        for (std::size_t word = 0; word < words_; ++word) {
            for (std::uint64_t bits = compared_[slot * words_ + word]; bits != 0; bits &= bits - 1) {
                visit(nearby(cluster)[word * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))]);
            }
        }
        auto pair = std::lower_bound(second_pass_.begin(), second_pass_.end(), std::uint64_t{slot} << 32);
        for (; pair != second_pass_.end() && *pair >> 32 == slot; ++pair) visit(static_cast<std::uint32_t>(*pair));
    }

private:
    Points sorted_;
    Points centers_;
    bool exhaustive_;
    float rank_scale_ = 1.0f;
    std::size_t nearby_count_;
    std::size_t first_pass_count_;
    std::size_t words_;
    CenterNeighbors nearby_;               // nearby_count_ neighbors of each center
    std::vector<std::uint64_t> compared_;  // (n, words) one bit per nearby_index below first_pass_count_
    std::vector<std::uint64_t> second_pass_;
};

}  // namespace pixelsne
