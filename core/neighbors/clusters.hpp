// Points in clusters of about one size, found by dividing them again and again with k-means.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"

namespace pixelsne {

struct Clusters {
    std::vector<std::uint32_t> order;  // (n) place -> point, cluster after cluster, near ones close together
    std::vector<std::uint32_t> begin;  // (clusters + 1) where each starts in `order`

    std::size_t count() const { return begin.size() - 1; }
    std::size_t cluster_of(std::size_t place) const {
        return static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), place) - begin.begin()) - 1;
    }
    std::size_t size(std::size_t cluster) const { return begin[cluster + 1] - begin[cluster]; }
};

// The points whose neighbors are wanted, where they are not all: those with the lowest numbers. They are the first of
// their clusters, and have rows in a table, cluster after cluster.
class AskedPoints {
public:
    // Brings the asked points, those below `count`, to the beginning of each cluster.
    AskedPoints(Clusters& clusters, std::size_t count);

    std::size_t count() const { return first_row_.back(); }
    std::size_t count(std::size_t cluster) const { return first_row_[cluster + 1] - first_row_[cluster]; }
    std::size_t first_row(std::size_t cluster) const { return first_row_[cluster]; }

    // Calls visit(place, row) for all asked points of a cluster.
    template <class Visit>
    void for_each(const Clusters& clusters, std::size_t cluster, Visit&& visit) const {
        for (std::size_t at = 0; at < count(cluster); ++at) {
            visit(clusters.begin[cluster] + at, first_row_[cluster] + at);
        }
    }

private:
    std::vector<std::size_t> first_row_;  // (clusters + 1)
};

// Clusters hold `size` points on average, about, and never more than twice that. Advances the token by
// the number of points.
Clusters find_clusters(Points points, std::size_t size, std::uint64_t seed, int threads, ProgressToken& token);

// The nearest other centers of each center, nearest first.
struct CenterNeighbors {
    std::vector<std::uint32_t> indices;  // (centers, count)
    std::vector<float> distances;        // (centers, count), not squared
};

CenterNeighbors neighbors_of_centers(Points centers, std::size_t count, int threads, ProgressToken& token);

}  // namespace pixelsne
