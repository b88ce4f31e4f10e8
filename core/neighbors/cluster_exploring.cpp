#include "cluster_exploring.hpp"

#include <algorithm>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kClustersPerChunk = 4;
constexpr std::size_t kRowsPerChunk = 1024;

// (rows, reach) the nearest neighbors of each asked point, which stay as they are while rows change.
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

// (n) the row of each place, kNoRow for those that are not asked.
constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

std::vector<std::uint32_t> row_of_places(const Clusters& clusters, const AskedPoints& asked) {
    std::vector<std::uint32_t> row_of(clusters.order.size(), kNoRow);
    for (std::size_t cluster = 0; cluster < clusters.count(); ++cluster) {
        asked.for_each(clusters, cluster,
                       [&](std::size_t place, std::size_t row) { row_of[place] = static_cast<std::uint32_t>(row); });
    }
    return row_of;
}

// What all threads read.
struct Surroundings {
    Points sorted;
    const ClusterProbes& probes;
    std::vector<std::uint32_t> cluster_of;  // (n)
    std::vector<std::uint32_t> row_of;      // (n)
    std::vector<std::uint32_t> nearest;     // (rows, reach)
    std::size_t reach;
};

class Explorer {
public:
    Explorer(const Surroundings& around, std::size_t clusters, std::size_t k)
        : around_(around), k_(k), compared_(clusters, kNobody), seen_(around.sorted.rows) {}

    // number: the place's row, whose keys are at `row`.
    void explore(std::size_t cluster, std::size_t place, std::size_t number, std::uint64_t* row) {
        const auto self = static_cast<std::uint32_t>(place);
        const std::size_t reach = around_.reach;
        around_.probes.for_each_compared(cluster, place, [&](std::uint32_t other) { compared_[other] = self; });
        for (std::size_t rank = 0; rank < reach; ++rank) {
            const std::uint32_t their_row = around_.row_of[around_.nearest[number * reach + rank]];
            if (their_row == kNoRow) continue;
            const std::uint32_t* theirs = around_.nearest.data() + their_row * reach;
            for (std::size_t other = 0; other < reach; ++other) {
                if (compared_[around_.cluster_of[theirs[other]]] != self) seen_.add(theirs[other]);
            }
        }
        offer(place, seen_.rows(), row);
        seen_.clear();
    }

private:
    static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

    void offer(std::size_t place, const std::vector<std::uint32_t>& places, std::uint64_t* row) {
        distances_.resize(places.size());
        const Points sorted = around_.sorted;
        kernels().distances_to_rows(sorted.row(place), sorted.data, sorted.columns, places.data(), places.size(),
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

    const Surroundings& around_;
    std::size_t k_;
    std::vector<std::uint32_t> compared_;  // (clusters) the last point that has been compared with them
    CandidateSet seen_;
    std::vector<float> distances_;
    std::vector<std::uint64_t> keys_;
};

}  // namespace

void explore_other_clusters(Points sorted, const Clusters& clusters, const AskedPoints& asked,
                            const ClusterProbes& probes, std::size_t k, std::size_t reach, int threads,
                            ProgressToken& token, KeyRows& rows) {
    reach = std::min(reach, k);
    const Surroundings around{sorted,
                              probes,
                              cluster_of_places(clusters),
                              row_of_places(clusters, asked),
                              nearest_of_rows(rows, k, reach, threads, token),
                              reach};
    parallel_for(clusters.count(), kClustersPerChunk, threads, [&](std::size_t first, std::size_t last, std::size_t) {
        Explorer explorer(around, clusters.count(), k);
        for (std::size_t cluster = first; cluster < last; ++cluster) {
            asked.for_each(clusters, cluster, [&](std::size_t place, std::size_t row) {
                explorer.explore(cluster, place, row, rows.data() + row * k);
            });
            token.advance(asked.count(cluster));
        }
    });
}

}  // namespace pixelsne
