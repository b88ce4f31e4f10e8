// Explores neighbors of neighbors that lie in clusters a point has not been compared with.
#pragma once

#include "../progress_token.hpp"
#include "cluster_probes.hpp"
#include "clusters.hpp"
#include "key_rows.hpp"

namespace pixelsne {

// Offers every query point the nearest `reach` neighbors of its nearest `reach` neighbors and keeps the k best in its
// row, unordered. Only neighbors that are query points have lists to explore. Keys hold slots; `sorted` holds the
// points in cluster order. Advances the token by the number of rows.
void explore_other_clusters(Points sorted, const Clusters& clusters, const QueryPoints& query_points,
                            const ClusterProbes& probes, std::size_t k, std::size_t reach, int threads,
                            ProgressToken& token, KeyRows& rows);

}  // namespace pixelsne
