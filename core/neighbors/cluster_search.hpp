// Neighbor search in clusters, similar to an inverted file (IVF): divides the points into small clusters, compares each
// query point with the clusters that may hold its neighbors, and then explores neighbors of neighbors.
#pragma once

#include <cstdint>

#include "../progress_token.hpp"
#include "neighbor_table.hpp"

namespace pixelsne {

struct ClusterSettings {
    std::uint64_t seed;
    std::size_t size;        // mean number of points in a cluster, approximately
    double recall;           // target recall; it decides how many clusters a point is compared with; 1: all clusters
    std::size_t max_probes;  // for recall < 1: upper limit of the mean number of clusters per point, including its own
    std::size_t reach;       // then explore reach x reach neighbors of neighbors per point; 0: none
};

// Points to search: all rows of an array, or if `chosen` is not null, `count` of them.
struct SearchedPoints {
    Points rows;
    const std::uint32_t* chosen = nullptr;
    std::size_t count = rows.rows;
};

// The table has one row for each query point. The query points are the first points: all of them, or fewer. The search
// may return any other point as a neighbor.
//
// If `order` is null, rows are in input order. Otherwise the query points are renumbered cluster by cluster, in the
// indices of the table, too, so that near points are close in memory. order (rows) then receives the index of each
// row's point. Points that are not queries keep their indices.
void find_cluster_neighbors(SearchedPoints searched, const ClusterSettings& settings, int threads, ProgressToken& token,
                            NeighborTable table, std::int32_t* order = nullptr);

}  // namespace pixelsne
