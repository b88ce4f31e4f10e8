#include "cluster_probes.hpp"

#include <algorithm>

#include "../kernels.hpp"

namespace pixelsne {
namespace {

// Even the smallest clusters that could come together must hold k points besides the query.
std::size_t clusters_that_hold(const Clusters& clusters, std::size_t k) {
    std::vector<std::size_t> sizes(clusters.count());
    for (std::size_t cluster = 0; cluster < sizes.size(); ++cluster) sizes[cluster] = clusters.size(cluster);
    std::sort(sizes.begin(), sizes.end());
    std::size_t count = 0;
    for (std::size_t total = 0; total <= k && count < sizes.size(); ++count) total += sizes[count];
    return count;
}

// out (queries, padded): squared distances of up to a tile of queries to all points of the panels.
void compare_tile(Points sorted, std::size_t first, std::size_t filled, const Panels& panels, std::vector<float>& out) {
    const float* queries[kTileQueries];
    float limits[kTileQueries];
    std::fill_n(limits, kTileQueries, -1.0f);
    for (std::size_t query = 0; query < kTileQueries; ++query) {
        queries[query] = sorted.row(first + (query < filled ? query : 0));
    }
    const std::size_t padded = panels.count() * kPanelPoints;
    out.resize(kTileQueries * padded);
    float distances[kTileQueries * kPanelPoints];
    bool any_within[kTileQueries];
    for (std::size_t panel = 0; panel < panels.count(); ++panel) {
        kernels().squared_distances(queries, panels.values(panel), sorted.columns, limits, distances, any_within);
        for (std::size_t query = 0; query < filled; ++query) {
            std::copy_n(distances + query * kPanelPoints, kPanelPoints,
                        out.data() + query * padded + panel * kPanelPoints);
        }
    }
}

}  // namespace

ClusterProbes::ClusterProbes(const Clusters& clusters, Points centers, std::size_t probes, std::size_t choice,
                             std::size_t k, int threads, ProgressToken& token)
    : clusters_(clusters), centers_(centers), probes_(probes), k_(k) {
    choice_ = std::min(clusters.count() - 1, std::max(choice, clusters_that_hold(clusters, k)));
    words_ = (choice_ + 63) / 64;
    chosen_.resize(clusters.order.size() * words_);
    if (choice_ > 0) near_ = neighbors_of_centers(centers, choice_, threads, token);
}

void ClusterProbes::choose(Points sorted, std::size_t cluster, std::size_t begin, std::size_t end,
                           std::vector<std::vector<std::uint32_t>>& takers) {
    takers.resize(choice_);
    for (auto& queries : takers) queries.clear();
    if (choice_ == 0) return;
    Panels panels;
    panels.pack(centers_, std::vector<std::uint32_t>(around(cluster), around(cluster) + choice_), 1);
    std::vector<float> distances;
    for (std::size_t first = begin; first < end; first += kTileQueries) {
        const std::size_t filled = std::min(kTileQueries, end - first);
        compare_tile(sorted, first, filled, panels, distances);
        for (std::size_t query = 0; query < filled; ++query) {
            choose_for(first + query, cluster, distances.data() + query * panels.count() * kPanelPoints);
        }
    }
    for (std::size_t place = begin; place < end; ++place) {
        for (std::size_t rank = 0; rank < choice_; ++rank) {
            if ((chosen_[place * words_ + rank / 64] >> (rank % 64) & 1) == 0) continue;
            takers[rank].push_back(static_cast<std::uint32_t>(place - begin));
        }
    }
}

void ClusterProbes::choose_for(std::size_t place, std::size_t cluster, const float* distances) {
    std::vector<std::uint64_t> keys(choice_);
    for (std::size_t rank = 0; rank < choice_; ++rank) {
        keys[rank] = candidate_key(distances[rank], static_cast<std::uint32_t>(rank));
    }
    const std::size_t wanted = std::min(choice_, probes_ - 1);
    if (wanted < choice_) {
        std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(wanted), keys.end());
    }
    std::size_t points = clusters_.size(cluster);
    for (std::size_t taken = 0; taken < choice_ && (taken < wanted || points <= k_); ++taken) {
        const std::uint32_t rank = key_index(keys[taken]);
        points += clusters_.size(around(cluster)[rank]);
        chosen_[place * words_ + rank / 64] |= std::uint64_t{1} << (rank % 64);
    }
}

}  // namespace pixelsne
