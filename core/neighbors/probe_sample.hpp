// The true neighbors of a sample of points show which clusters points should be compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"
#include "clusters.hpp"

namespace pixelsne {

class ClusterProbes;

// A cluster near a sampled point, with a border nearer than the point's k-th neighbor.
struct SampledCluster {
    float patience;      // that brings its score to the distance of the k-th neighbor
    std::uint32_t hits;  // how many of the k nearest neighbors lie in it
};

struct ProbeSample {
    std::size_t points = 0;
    std::size_t own_hits = 0;              // neighbors that lie in the cluster of their point
    std::vector<SampledCluster> clusters;  // of all points
};

// Looks at all clusters that `probes` lists around a point's own.
ProbeSample sample_probes(Points sorted, const Clusters& clusters, const ClusterProbes& probes, std::size_t k,
                          int threads, ProgressToken& token);

struct PatienceFound {
    float patience;   // infinite if the sampled points were compared with all of their clusters
    double clusters;  // that points are compared with on average, their own included
};

// The patience with which the sampled points find the share `recall` of their neighbors, and a little more where that
// costs little; less if they were to be compared with more than `most` clusters on average.
PatienceFound find_patience(ProbeSample sample, double recall, std::size_t most, std::size_t k);

}  // namespace pixelsne
