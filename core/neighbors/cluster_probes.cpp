#include "cluster_probes.hpp"

#include <algorithm>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kChoicePerProbe = 3;
constexpr std::size_t kLeastChoice = 64;

// Points whose true neighbors tell how many probes are needed.
constexpr std::size_t kSamples = 192;
constexpr std::size_t kSamplesPerChunk = 48;
constexpr std::size_t kPanelsAtOnce = 64;

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

ClusterProbes::ClusterProbes(Points sorted, const Clusters& clusters, Points centers, double recall, std::size_t most,
                             std::size_t k, int threads, ProgressToken& token)
    : sorted_(sorted), clusters_(clusters), centers_(centers), probes_(most), k_(k) {
    const std::size_t least = clusters_that_hold(clusters, k);
    near_count_ = std::min(clusters.count() - 1, std::max(kChoicePerProbe * most, least));
    if (near_count_ > 0) near_ = neighbors_of_centers(centers, near_count_, threads, token);
    if (recall < 1.0) probes_ = std::min(most, probes_for(recall, threads, token));
    choice_ = std::min(near_count_, std::max({kChoicePerProbe * probes_, kLeastChoice, least}));
    words_ = (choice_ + 63) / 64;
    chosen_.resize(sorted.rows * words_);
}

std::size_t ClusterProbes::probes_for(double recall, int threads, ProgressToken& token) const {
    Panels panels;
    panels.pack_all(sorted_, threads);
    const std::size_t samples = std::min(kSamples, sorted_.rows);
    std::vector<std::vector<std::size_t>> counts(chunk_count(samples, kSamplesPerChunk));
    parallel_for(samples, kSamplesPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        counts[chunk].resize(near_count_ + 2);
        std::vector<NearestList> lists(end - begin);
        std::vector<std::uint32_t> places(end - begin);
        for (std::size_t sample = begin; sample < end; ++sample) {
            places[sample - begin] = static_cast<std::uint32_t>(sample * sorted_.rows / samples);
            lists[sample - begin].start(k_);
        }
        for (std::size_t first = 0; first < panels.count(); first += kPanelsAtOnce) {
            const std::size_t last = std::min(panels.count(), first + kPanelsAtOnce);
            panels.compare({sorted_, places.data(), places.size()}, first, last, lists.data());
            token.advance(0);
        }
        for (std::size_t query = 0; query < places.size(); ++query) {
            count_ranks(places[query], lists[query].finish(), counts[chunk]);
        }
    });
    const double wanted = recall * static_cast<double>(samples * k_);
    double found = 0.0;
    std::size_t probes = 0;
    for (; probes <= near_count_ && found < wanted; ++probes) {
        for (const auto& chunk : counts) found += static_cast<double>(chunk[probes]);
    }
    return probes;
}

// counts[r] += those of the true neighbors that lie in the point's r-th cluster, its own being the 0-th.
void ClusterProbes::count_ranks(std::size_t place, const std::uint64_t* truth, std::vector<std::size_t>& counts) const {
    const std::size_t own = clusters_.cluster_of(place);
    std::vector<float> distances(near_count_);
    kernels().distances_to_rows(sorted_.row(place), centers_.data, centers_.columns, around(own), near_count_,
                                distances.data());
    std::vector<std::uint64_t> keys(near_count_);
    for (std::size_t rank = 0; rank < near_count_; ++rank)
        keys[rank] = candidate_key(distances[rank], around(own)[rank]);
    std::sort(keys.begin(), keys.end());
    for (std::size_t neighbor = 0; neighbor < k_; ++neighbor) {
        const std::size_t cluster = clusters_.cluster_of(key_index(truth[neighbor]));
        const auto found =
            std::find_if(keys.begin(), keys.end(), [&](std::uint64_t key) { return key_index(key) == cluster; });
        ++counts[cluster == own ? 0 : static_cast<std::size_t>(found - keys.begin()) + 1];
    }
}

void ClusterProbes::choose(std::size_t cluster, std::size_t begin, std::size_t end,
                           std::vector<std::vector<std::uint32_t>>& takers) {
    takers.resize(choice_);
    for (auto& queries : takers) queries.clear();
    if (choice_ == 0) return;
    Panels panels;
    panels.pack(centers_, std::vector<std::uint32_t>(around(cluster), around(cluster) + choice_), 1);
    std::vector<float> distances;
    for (std::size_t first = begin; first < end; first += kTileQueries) {
        const std::size_t filled = std::min(kTileQueries, end - first);
        compare_tile(sorted_, first, filled, panels, distances);
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
