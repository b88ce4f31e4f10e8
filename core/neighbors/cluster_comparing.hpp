// Compares every query point with the points of the clusters that may hold its neighbors.
#pragma once

#include "../progress_token.hpp"
#include "cluster_panels.hpp"
#include "cluster_probes.hpp"
#include "clusters.hpp"
#include "key_rows.hpp"

namespace pixelsne {

struct ClusteredPoints {
    Points sorted;  // in cluster order
    const Clusters& clusters;
    const QueryPoints& query_points;
    const ClusterPanels& panels;
    std::size_t k;
};

// Returns (query points, k) keys of the neighbors found: slots and exact squared distances, unordered within a row.
// Records in `probes` which clusters each point was compared with. Advances the token by the number of query points.
KeyRows compare_with_clusters(const ClusteredPoints& points, ClusterProbes& probes, int threads, ProgressToken& token);

}  // namespace pixelsne
