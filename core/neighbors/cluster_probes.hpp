// Which clusters a point is compared with.
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
// so far. The data decide the patience: the true neighbors of a sample of points show which share of them it would
// find, and how many clusters it would take.
//
// Every point looks at the nearest clusters around its own, choice() of them. Points for which these are too few look
// at all of around() afterwards.
class ClusterProbes {
public:
    // recall: 1 for comparing with all clusters. most: the number of clusters that points may be compared with on
    // average, their own included.
    ClusterProbes(Points sorted, const Clusters& clusters, Points centers, double recall, std::size_t most,
                  std::size_t k, int threads, ProgressToken& token);

    // (around_count()) The clusters around one, nearest first, without itself.
    const std::uint32_t* around(std::size_t cluster) const { return near_.indices.data() + cluster * near_count_; }
    std::size_t around_count() const { return near_count_; }
    std::size_t choice() const { return choice_; }

    // Scores the first `count` clusters around one for points of it, given by place.
    void score(std::size_t cluster, const std::vector<std::uint32_t>& places, std::size_t count,
               ProbeScores& scores) const {
        score(cluster, places, count, patience_, scores);
    }
    void score(std::size_t cluster, const std::vector<std::uint32_t>& places, std::size_t count, float patience,
               ProbeScores& scores) const {
        scores.fill(sorted_, places, centers_, cluster, around(cluster), near_.distances.data() + cluster * near_count_,
                    count, patience);
    }

    // The score that a cluster must stay below for a point whose k-th neighbor so far is at this squared distance,
    // which is infinite while there are fewer than k.
    float highest_score(float squared_distance) const {
        return exhaustive_ ? std::numeric_limits<float>::infinity() : std::sqrt(squared_distance);
    }

    // Remembers that the point at `place` was compared with around(its cluster)[rank], rank < choice().
    void add(std::size_t place, std::size_t rank) {
        compared_[place * words_ + rank / 64] |= std::uint64_t{1} << (rank % 64);
    }

    // Remembers comparisons beyond choice(): pairs of place (high half) and cluster, ascending.
    void add_further(std::vector<std::uint64_t> pairs) { further_ = std::move(pairs); }

    // Calls visit(cluster) for all clusters the point at `place` was compared with, its own included.
    template <class Visit>
    void for_each_compared(std::size_t cluster, std::size_t place, Visit&& visit) const {
        visit(static_cast<std::uint32_t>(cluster));
        for (std::size_t word = 0; word < words_; ++word) {
            for (std::uint64_t bits = compared_[place * words_ + word]; bits != 0; bits &= bits - 1) {
                visit(around(cluster)[word * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))]);
            }
        }
        auto pair = std::lower_bound(further_.begin(), further_.end(), std::uint64_t{place} << 32);
        for (; pair != further_.end() && *pair >> 32 == place; ++pair) visit(static_cast<std::uint32_t>(*pair));
    }

private:
    Points sorted_;
    Points centers_;
    bool exhaustive_;
    float patience_ = 1.0f;
    std::size_t near_count_;
    std::size_t choice_;
    std::size_t words_;
    CenterNeighbors near_;                 // near_count_ of each center
    std::vector<std::uint64_t> compared_;  // (n, words) a bit for each rank below choice_
    std::vector<std::uint64_t> further_;
};

}  // namespace pixelsne
