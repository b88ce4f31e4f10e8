// Which clusters a point is compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"
#include "clusters.hpp"
#include "panels.hpp"

namespace pixelsne {

// Every point chooses the `probes` clusters with the nearest centers, among the `choice` clusters around
// its own. More of both where these hold too few points for k neighbors.
class ClusterProbes {
public:
    ClusterProbes(const Clusters& clusters, Points centers, std::size_t probes, std::size_t choice, std::size_t k,
                  int threads, ProgressToken& token);

    std::size_t choice() const { return choice_; }

    // The clusters around one, nearest first, without itself.
    const std::uint32_t* around(std::size_t cluster) const { return near_.data() + cluster * choice_; }

    // Chooses for the points at places begin..end of one cluster. takers[rank] receives those, counted
    // from `begin`, that chose around(cluster)[rank].
    void choose(Points sorted, std::size_t cluster, std::size_t begin, std::size_t end,
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

    const Clusters& clusters_;
    Points centers_;
    std::size_t probes_;
    std::size_t k_;
    std::size_t choice_;
    std::size_t words_;
    std::vector<std::uint32_t> near_;    // (clusters, choice)
    std::vector<std::uint64_t> chosen_;  // (n, words) a bit for each rank
};

}  // namespace pixelsne
