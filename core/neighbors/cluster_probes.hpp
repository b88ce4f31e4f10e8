// Which clusters a point is compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"
#include "clusters.hpp"
#include "panels.hpp"

namespace pixelsne {

// Every point chooses the clusters with the nearest centers, among three times as many around its own.
// How many, data decide: for a sample of points the true neighbors are found, and as many probes taken
// as reach the wanted share of them.
class ClusterProbes {
public:
    // most: the most clusters a point may choose, unless they hold fewer than k points besides it.
    ClusterProbes(Points sorted, const Clusters& clusters, Points centers, double recall, std::size_t most,
                  std::size_t k, int threads, ProgressToken& token);

    // The clusters around one, nearest first, without itself.
    const std::uint32_t* around(std::size_t cluster) const { return near_.data() + cluster * near_count_; }

    // Chooses for the points at places begin..end of one cluster. takers[rank] receives those, counted
    // from `begin`, that chose around(cluster)[rank].
    void choose(std::size_t cluster, std::size_t begin, std::size_t end,
                std::vector<std::vector<std::uint32_t>>& takers);

    // Calls visit(cluster) for all clusters the point at `place` has chosen, its own included.
    template <class Visit>
    void for_each_chosen(std::size_t cluster, std::size_t place, Visit&& visit) const {
        visit(static_cast<std::uint32_t>(cluster));
        for (std::size_t word = 0; word < words_; ++word) {
            for (std::uint64_t bits = chosen_[place * words_ + word]; bits != 0; bits &= bits - 1) {
                visit(around(cluster)[word * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))]);
            }
        }
    }

private:
    void choose_for(std::size_t place, std::size_t cluster, const float* distances);
    void count_ranks(std::size_t place, const std::uint64_t* truth, std::vector<std::size_t>& counts) const;
    std::size_t probes_for(double recall, int threads, ProgressToken& token) const;

    Points sorted_;
    const Clusters& clusters_;
    Points centers_;
    std::size_t probes_;
    std::size_t k_;
    std::size_t near_count_;
    std::size_t choice_;  // the first of those
    std::size_t words_;
    std::vector<std::uint32_t> near_;    // (clusters, near_count)
    std::vector<std::uint64_t> chosen_;  // (n, words) a bit for each rank
};

}  // namespace pixelsne
