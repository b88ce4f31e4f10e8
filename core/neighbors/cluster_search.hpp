// Points in small clusters; each is compared with those of the clusters nearest to it, many with many,
// and then offered its neighbors' neighbors.
#pragma once

#include <cstdint>

#include "../progress_token.hpp"
#include "neighbor_table.hpp"

namespace pixelsne {

struct ClusterSettings {
    std::uint64_t seed;
    std::size_t size;    // points in a cluster, about
    std::size_t probes;  // clusters a point is compared with, its own included
    std::size_t choice;  // clusters around its own among which a point chooses its nearest
    std::size_t reach;   // neighbors of neighbors looked at in the end: reach x reach a point; 0: none
};

void find_cluster_neighbors(Points points, const ClusterSettings& settings, int threads, ProgressToken& token,
                            NeighborTable table);

}  // namespace pixelsne
