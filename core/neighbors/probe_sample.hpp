// Fits the rank scale of the probe scores to the true neighbors of a sample of points.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"
#include "clusters.hpp"

namespace pixelsne {

class ClusterProbes;

// A cluster near a sampled point whose boundary is nearer than the point's k-th neighbor.
struct SampledCluster {
    float rank_scale;    // at which its score equals the distance of the k-th neighbor
    std::uint32_t hits;  // number of the k nearest neighbors in the cluster
};

struct ProbeSample {
    std::size_t points = 0;
    std::size_t own_hits = 0;              // neighbors in the same cluster as their point
    std::vector<SampledCluster> clusters;  // of all sampled points
};

// Samples points and scores all clusters near each sample's own cluster.
ProbeSample sample_probes(Points sorted, const Clusters& clusters, const ClusterProbes& probes, std::size_t k,
                          int threads, ProgressToken& token);

struct RankScaleFit {
    float rank_scale;    // infinite if the sampled points were compared with all of their clusters
    double mean_probes;  // mean number of clusters that points are compared with, including their own
};

// Returns the rank scale at which the sampled points find the share `recall` of their neighbors, and slightly more
// where that costs little. The rank scale is smaller if it would compare points with more than `max_probes` clusters on
// average.
RankScaleFit fit_rank_scale(ProbeSample sample, double recall, std::size_t max_probes, std::size_t k);

}  // namespace pixelsne
