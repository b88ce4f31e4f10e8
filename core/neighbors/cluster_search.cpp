#include "cluster_search.hpp"

#include <algorithm>

#include "../kernels.hpp"
#include "../parallel_for.hpp"
#include "cluster_exploring.hpp"
#include "cluster_panels.hpp"
#include "cluster_probes.hpp"
#include "clusters.hpp"
#include "gather_rows.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kClustersPerChunk = 4;
constexpr std::size_t kRowsPerChunk = 1024;

// The lists of a block stay in the second-level cache.
constexpr std::size_t kMostQueries = 256;

// Finds the neighbors of block after block of points, each from one cluster.
class ClusterBlocks {
public:
    ClusterBlocks(Points sorted, const ClusterPanels& panels, ClusterProbes& probes, std::size_t k)
        : sorted_(sorted),
          panels_(panels),
          probes_(probes),
          k_(k),
          lists_(kMostQueries),
          keys_(k),
          places_(k),
          distances_(k) {}

    // rows: (n, k), those of places begin..end are written, in no order but with true distances.
    void search(std::size_t cluster, std::size_t begin, std::size_t end, KeyRows& rows) {
        everyone_.resize(end - begin);
        for (std::size_t query = 0; query < everyone_.size(); ++query) {
            everyone_[query] = static_cast<std::uint32_t>(query);
            lists_[query].start(k_);
        }
        panels_.compare(cluster, begin, everyone_, lists_, room_);
        probes_.choose(cluster, begin, end, takers_);
        for (std::size_t rank = 0; rank < takers_.size(); ++rank) {
            if (takers_[rank].empty()) continue;
            panels_.compare(probes_.around(cluster)[rank], begin, takers_[rank], lists_, room_);
        }
        for (std::size_t place = begin; place < end; ++place) write(place - begin, place, rows.data() + place * k_);
    }

private:
    // The lists' distances are those of products, precise enough to choose by but not to return.
    void write(std::size_t query, std::size_t place, std::uint64_t* row) {
        lists_[query].finish(keys_);
        for (std::size_t rank = 0; rank < k_; ++rank) places_[rank] = key_index(keys_[rank]);
        kernels().distances_to_rows(sorted_.row(place), sorted_.data, sorted_.columns, places_.data(), k_,
                                    distances_.data());
        for (std::size_t rank = 0; rank < k_; ++rank) row[rank] = candidate_key(distances_[rank], places_[rank]);
    }

    Points sorted_;
    const ClusterPanels& panels_;
    ClusterProbes& probes_;
    std::size_t k_;
    std::vector<CandidateList> lists_;
    ClusterPanels::Room room_;
    std::vector<std::vector<std::uint32_t>> takers_;
    std::vector<std::uint32_t> everyone_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> places_;
    std::vector<float> distances_;
};

KeyRows compare_clusters(Points sorted, const Clusters& clusters, const ClusterPanels& panels, ClusterProbes& probes,
                         std::size_t k, int threads, ProgressToken& token) {
    KeyRows rows(sorted.rows * k);
    parallel_for(clusters.count(), kClustersPerChunk, threads, [&](std::size_t first, std::size_t last, std::size_t) {
        ClusterBlocks blocks(sorted, panels, probes, k);
        for (std::size_t cluster = first; cluster < last; ++cluster) {
            const std::size_t count = chunk_count(clusters.size(cluster), kMostQueries);
            for (std::size_t block = 0; block < count; ++block) {
                const std::size_t begin = clusters.begin[cluster] + clusters.size(cluster) * block / count;
                const std::size_t end = clusters.begin[cluster] + clusters.size(cluster) * (block + 1) / count;
                blocks.search(cluster, begin, end, rows);
                token.advance(end - begin);
            }
        }
    });
    return rows;
}

// new_number: of a place, in the table.
template <class NewNumber>
void write_table(std::size_t n, int threads, KeyRows& rows, NeighborTable table, NewNumber&& new_number) {
    const std::size_t k = table.k();
    parallel_for(n, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t place = begin; place < end; ++place) {
            std::uint64_t* keys = rows.data() + place * k;
            for (std::size_t rank = 0; rank < k; ++rank) {
                keys[rank] = candidate_key(key_distance(keys[rank]), new_number(key_index(keys[rank])));
            }
            std::sort(keys, keys + k);
            table.write_row(new_number(static_cast<std::uint32_t>(place)), keys);
        }
    });
}

}  // namespace

void find_cluster_neighbors(Points points, const ClusterSettings& settings, int threads, ProgressToken& token,
                            NeighborTable table, std::int32_t* order) {
    const std::size_t n = points.rows;
    const std::size_t k = table.k();
    token.expect((settings.reach > 0 ? 3 : 2) * n);
    const Clusters clusters = find_clusters(points, settings.size, settings.seed, threads, token);
    const AlignedVector<float> gathered = gather_rows(points, clusters.order, threads);
    const Points sorted{gathered.data(), n, points.columns};
    KeyRows rows;
    {
        const ClusterPanels panels(sorted, clusters.begin, threads, token);
        ClusterProbes probes(sorted, clusters, panels.centers(), settings.recall, settings.probes, k, threads, token);
        rows = compare_clusters(sorted, clusters, panels, probes, k, threads, token);
        if (settings.reach > 0) {
            explore_other_clusters(sorted, clusters, probes, k, settings.reach, threads, token, rows);
        }
    }
    if (order == nullptr) {
        write_table(n, threads, rows, table, [&](std::uint32_t place) { return clusters.order[place]; });
    } else {
        write_table(n, threads, rows, table, [](std::uint32_t place) { return place; });
        std::copy(clusters.order.begin(), clusters.order.end(), order);
    }
}

}  // namespace pixelsne
