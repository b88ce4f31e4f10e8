// Neighbors of neighbors from clusters a point has not been compared with.
#pragma once

#include "../progress_token.hpp"
#include "cluster_probes.hpp"
#include "clusters.hpp"
#include "key_rows.hpp"

namespace pixelsne {

// Offers every asked point the nearest `reach` neighbors of its nearest `reach` neighbors, of those that were asked
// themselves, and keeps the better of them in its row, in no order. Points by place; sorted: the points in the order
// of the clusters. Advances the token by the number of rows.
void explore_other_clusters(Points sorted, const Clusters& clusters, const AskedPoints& asked,
                            const ClusterProbes& probes, std::size_t k, std::size_t reach, int threads,
                            ProgressToken& token, KeyRows& rows);

}  // namespace pixelsne
