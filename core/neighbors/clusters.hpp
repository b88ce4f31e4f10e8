// Divides points into clusters of similar size by repeated k-means.
//
// A slot is an index into Clusters::order: the position of a point in cluster order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"

namespace pixelsne {

struct Clusters {
    std::vector<std::uint32_t> order;  // (n) slot -> point, cluster by cluster; near clusters are close together
    std::vector<std::uint32_t> begin;  // (clusters + 1) first slot of each cluster

    std::size_t count() const { return begin.size() - 1; }
    std::size_t cluster_of(std::size_t slot) const {
        return static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), slot) - begin.begin()) - 1;
    }
    std::size_t size(std::size_t cluster) const { return begin[cluster + 1] - begin[cluster]; }
};

// The points whose neighbors are searched: the first `count` points of the input. They come first in each cluster, and
// their rows in KeyRows follow the clusters.
class QueryPoints {
public:
    // Moves the query points, whose indices are below `count`, to the beginning of each cluster.
    QueryPoints(Clusters& clusters, std::size_t count);

    std::size_t count() const { return first_row_.back(); }
    std::size_t count(std::size_t cluster) const { return first_row_[cluster + 1] - first_row_[cluster]; }
    std::size_t first_row(std::size_t cluster) const { return first_row_[cluster]; }

    // Calls visit(slot, row) for every query point of a cluster.
    template <class Visit>
    void for_each(const Clusters& clusters, std::size_t cluster, Visit&& visit) const {
        for (std::size_t offset = 0; offset < count(cluster); ++offset) {
            visit(clusters.begin[cluster] + offset, first_row_[cluster] + offset);
        }
    }

private:
    std::vector<std::size_t> first_row_;  // (clusters + 1)
};

// Clusters hold about `size` points on average and never more than twice that. Advances the token by the number of
// points.
Clusters find_clusters(Points points, std::size_t size, std::uint64_t seed, int threads, ProgressToken& token);

// The nearest other centers of each center, in ascending order of distance.
struct CenterNeighbors {
    std::vector<std::uint32_t> indices;  // (centers, count)
    std::vector<float> distances;        // (centers, count), not squared
};

CenterNeighbors neighbors_of_centers(Points centers, std::size_t count, int threads, ProgressToken& token);

}  // namespace pixelsne
