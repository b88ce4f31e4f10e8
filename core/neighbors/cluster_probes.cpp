#include "cluster_probes.hpp"

#include <algorithm>

#include "probe_sample.hpp"

namespace pixelsne {
namespace {

// Points between clusters need many more probes than the average point. So more clusters are ranked than there are
// probes on average, and the first pass scores more of them, at least kMinFirstPass.
constexpr std::size_t kNearbyPerProbe = 8;
constexpr double kFirstPassPerProbe = 5.0;
constexpr std::size_t kMinFirstPass = 96;

// Returns the smallest number m such that any m clusters together hold more than k points.
std::size_t min_clusters_holding(const Clusters& clusters, std::size_t k) {
    std::vector<std::size_t> sizes(clusters.count());
    for (std::size_t cluster = 0; cluster < sizes.size(); ++cluster) sizes[cluster] = clusters.size(cluster);
    std::sort(sizes.begin(), sizes.end());
    std::size_t count = 0;
    for (std::size_t total = 0; total <= k && count < sizes.size(); ++count) total += sizes[count];
    return count;
}

}  // namespace

ClusterProbes::ClusterProbes(Points sorted, const Clusters& clusters, Points centers, double recall,
                             std::size_t max_probes, std::size_t k, int threads, ProgressToken& token)
    : sorted_(sorted), centers_(centers), exhaustive_(recall >= 1.0) {
    const std::size_t min_clusters = min_clusters_holding(clusters, k);
    nearby_count_ = clusters.count() - 1;
    if (!exhaustive_) nearby_count_ = std::min(nearby_count_, std::max(kNearbyPerProbe * max_probes, min_clusters));
    if (nearby_count_ > 0) nearby_ = neighbors_of_centers(centers, nearby_count_, threads, token);
    first_pass_count_ = nearby_count_;
    if (!exhaustive_) {
        const ProbeSample sample = sample_probes(sorted, clusters, *this, k, threads, token);
        const RankScaleFit fit = fit_rank_scale(sample, recall, max_probes, k);
        rank_scale_ = fit.rank_scale;
        const auto count = static_cast<std::size_t>(kFirstPassPerProbe * fit.mean_probes);
        first_pass_count_ = std::min(nearby_count_, std::max({count, kMinFirstPass, min_clusters}));
    }
    words_ = (first_pass_count_ + 63) / 64;
    compared_.resize(sorted.rows * words_);
}

}  // namespace pixelsne
