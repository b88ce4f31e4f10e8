#include "cluster_probes.hpp"

#include <algorithm>

#include "probe_sample.hpp"

namespace pixelsne {
namespace {

// Points between clusters need many more probes than the average point.
constexpr std::size_t kAroundPerProbe = 8;
constexpr double kChoicePerProbe = 5.0;
constexpr std::size_t kLeastChoice = 96;

// Even the smallest clusters that could come together must hold k points besides the query.
std::size_t clusters_that_hold(const Clusters& clusters, std::size_t k) {
    std::vector<std::size_t> sizes(clusters.count());
    for (std::size_t cluster = 0; cluster < sizes.size(); ++cluster) sizes[cluster] = clusters.size(cluster);
    std::sort(sizes.begin(), sizes.end());
    std::size_t count = 0;
    for (std::size_t total = 0; total <= k && count < sizes.size(); ++count) total += sizes[count];
    return count;
}

}  // namespace

ClusterProbes::ClusterProbes(Points sorted, const Clusters& clusters, Points centers, double recall, std::size_t most,
                             std::size_t k, int threads, ProgressToken& token)
    : sorted_(sorted), centers_(centers), exhaustive_(recall >= 1.0) {
    const std::size_t least = clusters_that_hold(clusters, k);
    near_count_ = clusters.count() - 1;
    if (!exhaustive_) near_count_ = std::min(near_count_, std::max(kAroundPerProbe * most, least));
    if (near_count_ > 0) near_ = neighbors_of_centers(centers, near_count_, threads, token);
    choice_ = near_count_;
    if (!exhaustive_) {
        const ProbeSample sample = sample_probes(sorted, clusters, *this, k, threads, token);
        const PatienceFound found = find_patience(sample, recall, most, k);
        patience_ = found.patience;
        const auto choice = static_cast<std::size_t>(kChoicePerProbe * found.clusters);
        choice_ = std::min(near_count_, std::max({choice, kLeastChoice, least}));
    }
    words_ = (choice_ + 63) / 64;
    compared_.resize(sorted.rows * words_);
}

}  // namespace pixelsne
