// Every point compared with those of the clusters that may hold neighbors of it.
#pragma once

#include "../progress_token.hpp"
#include "cluster_panels.hpp"
#include "cluster_probes.hpp"
#include "clusters.hpp"
#include "key_rows.hpp"

namespace pixelsne {

struct ClusteredPoints {
    Points sorted;  // in the order of the clusters
    const Clusters& clusters;
    const AskedPoints& asked;
    const ClusterPanels& panels;
    std::size_t k;
};

// (asked points, k) the neighbors found, by place, in no order but with true distances. `probes` then knows which
// clusters each point was compared with. Advances the token by the number of asked points.
KeyRows compare_clusters(const ClusteredPoints& points, ClusterProbes& probes, int threads, ProgressToken& token);

}  // namespace pixelsne
