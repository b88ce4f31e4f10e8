// Points in small clusters; each is compared with those of the clusters that may hold neighbors of it, many with many,
// and then offered its neighbors' neighbors.
#pragma once

#include <cstdint>

#include "../progress_token.hpp"
#include "neighbor_table.hpp"

namespace pixelsne {

struct ClusterSettings {
    std::uint64_t seed;
    std::size_t size;  // points in a cluster, about
    double recall;     // share of the neighbors wanted; decides with how many clusters points are compared; 1: with all
    std::size_t probes;  // below 1: clusters a point is compared with on average at most, its own included
    std::size_t reach;   // and then neighbors of neighbors, reach x reach a point; 0: none
};

// The table has a row for each of the first points, all of them or fewer; the others are found, but not asked.
// Rows are in the order of the points if `order` is null. Else the asked points are numbered cluster by cluster, in the
// table, too, and order (rows) receives the point of each row: what is near is then near in memory. The others keep
// their numbers.
void find_cluster_neighbors(Points points, const ClusterSettings& settings, int threads, ProgressToken& token,
                            NeighborTable table, std::int32_t* order = nullptr);

}  // namespace pixelsne
