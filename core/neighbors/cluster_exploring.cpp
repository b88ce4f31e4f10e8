#include "cluster_exploring.hpp"

#include <algorithm>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kClustersPerChunk = 4;
constexpr std::size_t kRowsPerChunk = 1024;

// (n, reach) the nearest neighbors of each point, which stay as they are while rows change.
std::vector<std::uint32_t> nearest_of_rows(KeyRows& rows, std::size_t k, std::size_t reach, int threads,
                                           ProgressToken& token) {
    const std::size_t n = rows.size() / k;
    std::vector<std::uint32_t> nearest(n * reach);
    parallel_for(n, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t row = begin; row < end; ++row) {
            std::uint64_t* keys = rows.data() + row * k;
            std::nth_element(keys, keys + reach - 1, keys + k);
            for (std::size_t rank = 0; rank < reach; ++rank) nearest[row * reach + rank] = key_index(keys[rank]);
        }
        token.advance(0);
    });
    return nearest;
}

std::vector<std::uint32_t> cluster_of_places(const Clusters& clusters) {
    std::vector<std::uint32_t> cluster_of(clusters.order.size());
    for (std::uint32_t cluster = 0; cluster < clusters.count(); ++cluster) {
        std::fill(cluster_of.begin() + clusters.begin[cluster], cluster_of.begin() + clusters.begin[cluster + 1],
                  cluster);
    }
    return cluster_of;
}

class Explorer {
public:
    Explorer(Points sorted, const ClusterProbes& probes, const std::vector<std::uint32_t>& cluster_of,
             const std::vector<std::uint32_t>& nearest, std::size_t clusters, std::size_t k)
        : sorted_(sorted),
          probes_(probes),
          cluster_of_(cluster_of),
          nearest_(nearest),
          reach_(nearest.size() / sorted.rows),
          k_(k),
          compared_(clusters, kNobody),
          seen_(sorted.rows) {}

    void explore(std::size_t cluster, std::size_t place, std::uint64_t* row) {
        const auto self = static_cast<std::uint32_t>(place);
        probes_.for_each_chosen(cluster, place, [&](std::uint32_t chosen) { compared_[chosen] = self; });
        for (std::size_t rank = 0; rank < reach_; ++rank) {
            const std::uint32_t* theirs = nearest_.data() + nearest_[place * reach_ + rank] * reach_;
            for (std::size_t other = 0; other < reach_; ++other) {
                if (compared_[cluster_of_[theirs[other]]] != self) seen_.add(theirs[other]);
            }
        }
        offer(place, seen_.rows(), row);
        seen_.clear();
    }

private:
    static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

    void offer(std::size_t place, const std::vector<std::uint32_t>& places, std::uint64_t* row) {
        distances_.resize(places.size());
        kernels().distances_to_rows(sorted_.row(place), sorted_.data, sorted_.columns, places.data(), places.size(),
                                    distances_.data());
        const float limit = key_distance(*std::max_element(row, row + k_));
        keys_.assign(row, row + k_);
        for (std::size_t other = 0; other < places.size(); ++other) {
            if (distances_[other] < limit) keys_.push_back(candidate_key(distances_[other], places[other]));
        }
        if (keys_.size() == k_) return;
        std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(k_ - 1), keys_.end());
        std::copy_n(keys_.begin(), k_, row);
    }

    Points sorted_;
    const ClusterProbes& probes_;
    const std::vector<std::uint32_t>& cluster_of_;
    const std::vector<std::uint32_t>& nearest_;
    std::size_t reach_;
    std::size_t k_;
    std::vector<std::uint32_t> compared_;  // (clusters) the last point that has been compared with them
    CandidateSet seen_;
    std::vector<float> distances_;
    std::vector<std::uint64_t> keys_;
};

}  // namespace

void explore_other_clusters(Points sorted, const Clusters& clusters, const ClusterProbes& probes, std::size_t k,
                            std::size_t reach, int threads, ProgressToken& token, KeyRows& rows) {
    const std::vector<std::uint32_t> nearest = nearest_of_rows(rows, k, std::min(reach, k), threads, token);
    const std::vector<std::uint32_t> cluster_of = cluster_of_places(clusters);
    parallel_for(clusters.count(), kClustersPerChunk, threads, [&](std::size_t first, std::size_t last, std::size_t) {
        Explorer explorer(sorted, probes, cluster_of, nearest, clusters.count(), k);
        for (std::size_t cluster = first; cluster < last; ++cluster) {
            for (std::size_t place = clusters.begin[cluster]; place < clusters.begin[cluster + 1]; ++place) {
                explorer.explore(cluster, place, rows.data() + place * k);
            }
        }
        token.advance(clusters.begin[last] - clusters.begin[first]);
    });
}

}  // namespace pixelsne
