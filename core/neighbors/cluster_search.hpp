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
    double recall;       // share of the neighbors wanted; decides how many clusters a point is compared with,
    std::size_t probes;  // its own included, but this many at most
    std::size_t reach;   // where that is too few: neighbors of neighbors, reach x reach a point; 0: none
};

void find_cluster_neighbors(Points points, const ClusterSettings& settings, int threads, ProgressToken& token,
                            NeighborTable table);

}  // namespace pixelsne
