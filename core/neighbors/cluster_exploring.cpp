#include "cluster_exploring.hpp"

#include <algorithm>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kClustersPerChunk = 4;
constexpr std::size_t kRowsPerChunk = 1024;

// Returns the nearest neighbors of each query point, (rows, reach). This copy does not change while rows change.
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
        token.throw_if_cancelled();
    });
    return nearest;
}

std::vector<std::uint32_t> cluster_of_slots(const Clusters& clusters) {
    std::vector<std::uint32_t> cluster_of(clusters.order.size());
    for (std::uint32_t cluster = 0; cluster < clusters.count(); ++cluster) {
        std::fill(cluster_of.begin() + clusters.begin[cluster], cluster_of.begin() + clusters.begin[cluster + 1],
                  cluster);
    }
    return cluster_of;
}

constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

// Returns the row of each slot, (n): kNoRow for points that are not queries. A slot is a point's index in cluster
// order.
std::vector<std::uint32_t> row_of_slots(const Clusters& clusters, const QueryPoints& query_points) {
    std::vector<std::uint32_t> row_of(clusters.order.size(), kNoRow);
    for (std::size_t cluster = 0; cluster < clusters.count(); ++cluster) {
        query_points.for_each(clusters, cluster, [&](std::size_t slot, std::size_t row) {
            row_of[slot] = static_cast<std::uint32_t>(row);
        });
    }
    return row_of;
}

// The inputs that all threads share.
struct ExploreInputs {
    Points sorted;
    const ClusterProbes& probes;
    std::vector<std::uint32_t> cluster_of;  // (n)
    std::vector<std::uint32_t> row_of;      // (n)
    std::vector<std::uint32_t> nearest;     // (rows, reach)
    std::size_t reach;
};

class Explorer {
public:
    Explorer(const ExploreInputs& inputs, std::size_t clusters, std::size_t k)
        : inputs_(inputs), k_(k), compared_(clusters, kNoSlot), candidates_(inputs.sorted.rows) {}

    // Explores for the point at `slot`, whose row in KeyRows is `row` and whose neighbor keys are at `keys`.
    void explore(std::size_t cluster, std::size_t slot, std::size_t row, std::uint64_t* keys) {
        const auto self = static_cast<std::uint32_t>(slot);
        const std::size_t reach = inputs_.reach;
        inputs_.probes.for_each_compared(cluster, slot, [&](std::uint32_t other) { compared_[other] = self; });
        for (std::size_t rank = 0; rank < reach; ++rank) {
            const std::uint32_t neighbor_row = inputs_.row_of[inputs_.nearest[row * reach + rank]];
            if (neighbor_row == kNoRow) continue;
            const std::uint32_t* neighbor_list = inputs_.nearest.data() + neighbor_row * reach;
            for (std::size_t other = 0; other < reach; ++other) {
                if (compared_[inputs_.cluster_of[neighbor_list[other]]] != self) candidates_.add(neighbor_list[other]);
            }
        }
        offer(slot, candidates_.rows(), keys);
        candidates_.clear();
    }

private:
    static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

    void offer(std::size_t slot, const std::vector<std::uint32_t>& slots, std::uint64_t* row) {
        distances_.resize(slots.size());
        const Points sorted = inputs_.sorted;
        kernels().squared_distances_to_rows(sorted.row(slot), sorted.data, sorted.columns, slots.data(), slots.size(),
                                            distances_.data());
        const float limit = key_squared_distance(*std::max_element(row, row + k_));
        keys_.assign(row, row + k_);
        for (std::size_t other = 0; other < slots.size(); ++other) {
            if (distances_[other] < limit) keys_.push_back(candidate_key(distances_[other], slots[other]));
        }
        if (keys_.size() == k_) return;
        std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(k_ - 1), keys_.end());
        std::copy_n(keys_.begin(), k_, row);
    }

    const ExploreInputs& inputs_;
    std::size_t k_;
    std::vector<std::uint32_t> compared_;  // (clusters) slot of the last point that was compared with the cluster
    CandidateSet candidates_;
    std::vector<float> distances_;
    std::vector<std::uint64_t> keys_;
};

}  // namespace

void explore_other_clusters(Points sorted, const Clusters& clusters, const QueryPoints& query_points,
                            const ClusterProbes& probes, std::size_t k, std::size_t reach, int threads,
                            ProgressToken& token, KeyRows& rows) {
    reach = std::min(reach, k);
    const ExploreInputs inputs{sorted,
                               probes,
                               cluster_of_slots(clusters),
                               row_of_slots(clusters, query_points),
                               nearest_of_rows(rows, k, reach, threads, token),
                               reach};
    parallel_for(clusters.count(), kClustersPerChunk, threads, [&](std::size_t first, std::size_t last, std::size_t) {
        Explorer explorer(inputs, clusters.count(), k);
        for (std::size_t cluster = first; cluster < last; ++cluster) {
            query_points.for_each(clusters, cluster, [&](std::size_t slot, std::size_t row) {
                explorer.explore(cluster, slot, row, rows.data() + row * k);
            });
            token.advance(query_points.count(cluster));
        }
    });
}

}  // namespace pixelsne
