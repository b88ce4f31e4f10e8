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

    // row: (end - begin, k), the neighbors of places begin..end, in no order but with true distances.
    void search(std::size_t cluster, std::size_t begin, std::size_t end, std::uint64_t* row) {
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
        for (std::size_t place = begin; place < end; ++place, row += k_) write(place - begin, place, row);
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

KeyRows compare_clusters(Points sorted, const Clusters& clusters, const AskedPoints& asked, const ClusterPanels& panels,
                         ClusterProbes& probes, std::size_t k, int threads, ProgressToken& token) {
    KeyRows rows(asked.count() * k);
    parallel_for(clusters.count(), kClustersPerChunk, threads, [&](std::size_t first, std::size_t last, std::size_t) {
        ClusterBlocks blocks(sorted, panels, probes, k);
        for (std::size_t cluster = first; cluster < last; ++cluster) {
            const std::size_t count = chunk_count(asked.count(cluster), kMostQueries);
            for (std::size_t block = 0; block < count; ++block) {
                const std::size_t begin = asked.count(cluster) * block / count;
                const std::size_t end = asked.count(cluster) * (block + 1) / count;
                blocks.search(cluster, clusters.begin[cluster] + begin, clusters.begin[cluster] + end,
                              rows.data() + (asked.first_row(cluster) + begin) * k);
                token.advance(end - begin);
            }
        }
    });
    return rows;
}

// new_number: of a place, in the table. target: the table's row for a row.
template <class NewNumber, class Target>
void write_table(std::size_t asked, int threads, KeyRows& rows, NeighborTable table, NewNumber&& new_number,
                 Target&& target) {
    const std::size_t k = table.k();
    parallel_for(asked, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t row = begin; row < end; ++row) {
            std::uint64_t* keys = rows.data() + row * k;
            for (std::size_t rank = 0; rank < k; ++rank) {
                keys[rank] = candidate_key(key_distance(keys[rank]), new_number(key_index(keys[rank])));
            }
            std::sort(keys, keys + k);
            table.write_row(target(row), keys);
        }
    });
}

// (n) the number of each place: asked points by their row, others as they were.
std::vector<std::uint32_t> numbers_by_cluster(const Clusters& clusters, const AskedPoints& asked) {
    std::vector<std::uint32_t> numbers = clusters.order;
    for (std::size_t cluster = 0; cluster < clusters.count(); ++cluster) {
        asked.for_each(clusters, cluster,
                       [&](std::size_t place, std::size_t row) { numbers[place] = static_cast<std::uint32_t>(row); });
    }
    return numbers;
}

// (rows) the point of each row.
std::vector<std::uint32_t> points_of_rows(const Clusters& clusters, const AskedPoints& asked) {
    std::vector<std::uint32_t> points(asked.count());
    for (std::size_t cluster = 0; cluster < clusters.count(); ++cluster) {
        asked.for_each(clusters, cluster,
                       [&](std::size_t place, std::size_t row) { points[row] = clusters.order[place]; });
    }
    return points;
}

}  // namespace

void find_cluster_neighbors(Points points, const ClusterSettings& settings, int threads, ProgressToken& token,
                            NeighborTable table, std::int32_t* order) {
    const std::size_t n = points.rows;
    const std::size_t k = table.k();
    const std::size_t wanted = table.rows();
    token.expect(n + (settings.reach > 0 ? 2 : 1) * wanted);
    Clusters clusters = find_clusters(points, settings.size, settings.seed, threads, token);
    const AskedPoints asked(clusters, wanted);
    const AlignedVector<float> gathered = gather_rows(points, clusters.order, threads);
    const Points sorted{gathered.data(), n, points.columns};
    KeyRows rows;
    {
        const ClusterPanels panels(sorted, clusters.begin, threads, token);
        ClusterProbes probes(sorted, clusters, panels.centers(), settings.recall, settings.probes, k, threads, token);
        rows = compare_clusters(sorted, clusters, asked, panels, probes, k, threads, token);
        if (settings.reach > 0) {
            explore_other_clusters(sorted, clusters, asked, probes, k, settings.reach, threads, token, rows);
        }
    }
    const std::vector<std::uint32_t> points_asked = points_of_rows(clusters, asked);
    if (order == nullptr) {
        write_table(
            wanted, threads, rows, table, [&](std::uint32_t place) { return clusters.order[place]; },
            [&](std::size_t row) { return points_asked[row]; });
    } else {
        const std::vector<std::uint32_t> numbers = numbers_by_cluster(clusters, asked);
        write_table(
            wanted, threads, rows, table, [&](std::uint32_t place) { return numbers[place]; },
            [](std::size_t row) { return row; });
        std::copy(points_asked.begin(), points_asked.end(), order);
    }
}

}  // namespace pixelsne
