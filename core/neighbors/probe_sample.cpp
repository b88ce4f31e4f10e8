#include "probe_sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../parallel_for.hpp"
#include "cluster_probes.hpp"
#include "panels.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kSamples = 192;
constexpr std::size_t kSamplesPerChunk = 48;
constexpr std::size_t kPanelsPerStep = 64;

// Beyond the target recall, points are compared with one more cluster on average. The scores decide which points: 1 %
// of the points may get a hundred more clusters each.
constexpr double kExtraClusters = 1.0;

// Counts a point's true neighbors per cluster near its own cluster. hits (clusters) is zero before and after the call.
void add_point(std::size_t slot, const std::uint64_t* true_keys, std::size_t k, const Clusters& clusters,
               const ClusterProbes& probes, std::vector<std::uint32_t>& hits, ProbeSample& sample) {
    const std::size_t own = clusters.cluster_of(slot);
    ++sample.points;
    const float radius = std::sqrt(key_squared_distance(true_keys[k - 1]));
    if (radius == 0.0f) {
        sample.own_hits += k;  // at least k other points equal this one, and any k of them are correct neighbors
        return;
    }
    for (std::size_t rank = 0; rank < k; ++rank) ++hits[clusters.cluster_of(key_index(true_keys[rank]))];
    sample.own_hits += hits[own];
    // With an infinite rank scale the score is the distance b of the boundary, with 1 it is b * rank. So the score
    // equals `radius` at the rank scale b * rank / radius.
    ProbeScores boundaries, scores;
    const std::vector<std::uint32_t> slots{static_cast<std::uint32_t>(slot)};
    probes.score(own, slots, probes.nearby_count(), std::numeric_limits<float>::infinity(), boundaries);
    probes.score(own, slots, probes.nearby_count(), 1.0f, scores);
    for (std::size_t nearby_index = 0; nearby_index < probes.nearby_count(); ++nearby_index) {
        if (*boundaries.scores_of(nearby_index) >= radius) continue;
        sample.clusters.push_back({*scores.scores_of(nearby_index) / radius, hits[probes.nearby(own)[nearby_index]]});
    }
    for (std::size_t rank = 0; rank < k; ++rank) hits[clusters.cluster_of(key_index(true_keys[rank]))] = 0;
}

}  // namespace

ProbeSample sample_probes(Points sorted, const Clusters& clusters, const ClusterProbes& probes, std::size_t k,
                          int threads, ProgressToken& token) {
    Panels panels;
    panels.pack_all(sorted, threads);
    const std::size_t samples = std::min(kSamples, sorted.rows);
    std::vector<ProbeSample> chunks(chunk_count(samples, kSamplesPerChunk));
    parallel_for(samples, kSamplesPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        std::vector<NearestList> lists(end - begin);
        std::vector<std::uint32_t> slots(end - begin);
        for (std::size_t sample = begin; sample < end; ++sample) {
            slots[sample - begin] = static_cast<std::uint32_t>(sample * sorted.rows / samples);
            lists[sample - begin].start(k);
        }
        for (std::size_t first = 0; first < panels.count(); first += kPanelsPerStep) {
            const std::size_t last = std::min(panels.count(), first + kPanelsPerStep);
            panels.compare({sorted, slots.data(), slots.size()}, first, last, lists.data());
            token.throw_if_cancelled();
        }
        std::vector<std::uint32_t> hits(clusters.count());
        for (std::size_t query = 0; query < slots.size(); ++query) {
            add_point(slots[query], lists[query].finish(), k, clusters, probes, hits, chunks[chunk]);
        }
    });
    ProbeSample all;
    for (const ProbeSample& chunk : chunks) {
        all.points += chunk.points;
        all.own_hits += chunk.own_hits;
        all.clusters.insert(all.clusters.end(), chunk.clusters.begin(), chunk.clusters.end());
    }
    return all;
}

RankScaleFit fit_rank_scale(ProbeSample sample, double recall, std::size_t max_probes, std::size_t k) {
    std::sort(
        sample.clusters.begin(), sample.clusters.end(),
        [](const SampledCluster& first, const SampledCluster& second) { return first.rank_scale < second.rank_scale; });
    const auto points = static_cast<double>(sample.points);
    const double target = recall * points * static_cast<double>(k);
    double budget = points * static_cast<double>(max_probes);
    double compared = points;
    auto found = static_cast<double>(sample.own_hits);
    bool reached = false;
    for (const SampledCluster& cluster : sample.clusters) {
        if (!reached && found >= target) {
            reached = true;
            budget = std::min(budget, compared + kExtraClusters * points);
        }
        if (compared >= budget) return {cluster.rank_scale, compared / points};
        found += cluster.hits;
        ++compared;
    }
    return {std::numeric_limits<float>::infinity(), compared / points};
}

}  // namespace pixelsne
