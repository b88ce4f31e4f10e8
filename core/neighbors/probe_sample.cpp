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
constexpr std::size_t kPanelsAtOnce = 64;

// Once the wanted recall is reached, points are compared with one more cluster on average. Which points these are,
// their scores decide: 1 % of all may be compared with a hundred clusters more.
constexpr double kSpareClusters = 1.0;

// Sorts a point's true neighbors by the clusters around its own. hits (all clusters) is zero before and after.
void add_point(std::size_t place, const std::uint64_t* truth, std::size_t k, const Clusters& clusters,
               const ClusterProbes& probes, std::vector<std::uint32_t>& hits, ProbeSample& sample) {
    const std::size_t own = clusters.cluster_of(place);
    ++sample.points;
    const float radius = std::sqrt(key_distance(truth[k - 1]));
    if (radius == 0.0f) {
        sample.own_hits += k;  // k copies of the point, and any k are as good
        return;
    }
    for (std::size_t rank = 0; rank < k; ++rank) ++hits[clusters.cluster_of(key_index(truth[rank]))];
    sample.own_hits += hits[own];
    ProbeScores borders, products;
    const std::vector<std::uint32_t> places{static_cast<std::uint32_t>(place)};
    probes.score(own, places, probes.around_count(), std::numeric_limits<float>::infinity(), borders);
    probes.score(own, places, probes.around_count(), 1.0f, products);
    for (std::size_t rank = 0; rank < probes.around_count(); ++rank) {
        if (*borders.of(rank) >= radius) continue;
        sample.clusters.push_back({*products.of(rank) / radius, hits[probes.around(own)[rank]]});
    }
    for (std::size_t rank = 0; rank < k; ++rank) hits[clusters.cluster_of(key_index(truth[rank]))] = 0;
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
        std::vector<std::uint32_t> places(end - begin);
        for (std::size_t sample = begin; sample < end; ++sample) {
            places[sample - begin] = static_cast<std::uint32_t>(sample * sorted.rows / samples);
            lists[sample - begin].start(k);
        }
        for (std::size_t first = 0; first < panels.count(); first += kPanelsAtOnce) {
            const std::size_t last = std::min(panels.count(), first + kPanelsAtOnce);
            panels.compare({sorted, places.data(), places.size()}, first, last, lists.data());
            token.advance(0);
        }
        std::vector<std::uint32_t> hits(clusters.count());
        for (std::size_t query = 0; query < places.size(); ++query) {
            add_point(places[query], lists[query].finish(), k, clusters, probes, hits, chunks[chunk]);
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

PatienceFound find_patience(ProbeSample sample, double recall, std::size_t most, std::size_t k) {
    std::sort(
        sample.clusters.begin(), sample.clusters.end(),
        [](const SampledCluster& first, const SampledCluster& second) { return first.patience < second.patience; });
    const auto points = static_cast<double>(sample.points);
    const double wanted = recall * points * static_cast<double>(k);
    double affordable = points * static_cast<double>(most);
    double compared = points;
    auto found = static_cast<double>(sample.own_hits);
    bool enough = false;
    for (const SampledCluster& cluster : sample.clusters) {
        if (!enough && found >= wanted) {
            enough = true;
            affordable = std::min(affordable, compared + kSpareClusters * points);
        }
        if (compared >= affordable) return {cluster.patience, compared / points};
        found += cluster.hits;
        ++compared;
    }
    return {std::numeric_limits<float>::infinity(), compared / points};
}

}  // namespace pixelsne
