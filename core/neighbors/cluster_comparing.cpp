#include "cluster_comparing.hpp"

#include <algorithm>
#include <numeric>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kClustersPerChunk = 4;

// The lists of a block stay in the second-level cache.
constexpr std::size_t kMostQueries = 256;

// A point has looked at too few clusters if it was compared with an eighth of the farthest quarter of them.
constexpr std::size_t kFarthest = 4;
constexpr std::size_t kMany = 8;

// A point of a cluster, and its row in the table.
struct AskedPlace {
    std::uint32_t cluster, place;
    std::size_t row;
};

// What one task needs for comparing block after block of points with clusters.
class Block {
public:
    explicit Block(const ClusteredPoints& points)
        : points_(points), lists_(kMostQueries), keys_(points.k), found_(points.k), distances_(points.k) {}

    std::vector<std::uint32_t>& places() { return places_; }
    CandidateList& list(std::size_t query) { return lists_[query]; }

    void compare(std::size_t cluster, const std::vector<std::uint32_t>& queries) {
        points_.panels.compare(cluster, places_, queries, lists_, workspace_);
    }

    // The lists' distances are those of products, precise enough to choose by but not to return. Returns the largest
    // squared distance.
    float write(std::size_t query, std::uint64_t* row) {
        const std::size_t k = points_.k;
        const Points sorted = points_.sorted;
        lists_[query].finish(keys_);
        for (std::size_t rank = 0; rank < k; ++rank) found_[rank] = key_index(keys_[rank]);
        kernels().distances_to_rows(sorted.row(places_[query]), sorted.data, sorted.columns, found_.data(), k,
                                    distances_.data());
        for (std::size_t rank = 0; rank < k; ++rank) row[rank] = candidate_key(distances_[rank], found_[rank]);
        return *std::max_element(distances_.begin(), distances_.end());
    }

private:
    const ClusteredPoints& points_;
    std::vector<std::uint32_t> places_;  // (queries)
    std::vector<CandidateList> lists_;
    ClusterPanels::Workspace workspace_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> found_;
    std::vector<float> distances_;
};

// Compares points of one cluster with it and with those around it.
class NearClusters {
public:
    NearClusters(const ClusteredPoints& points, ClusterProbes& probes)
        : points_(points), probes_(probes), block_(points) {}

    // Finds the neighbors of places begin..end, which are in rows first_row and following ones. Appends the points
    // that have looked at too few clusters to `unfinished`.
    void search(std::size_t cluster, std::size_t begin, std::size_t end, std::size_t first_row, KeyRows& rows,
                std::vector<AskedPlace>& unfinished) {
        block_.places().resize(end - begin);
        std::iota(block_.places().begin(), block_.places().end(), static_cast<std::uint32_t>(begin));
        takers_.resize(end - begin);
        std::iota(takers_.begin(), takers_.end(), 0u);
        for (const std::uint32_t query : takers_) block_.list(query).start(points_.k);
        block_.compare(cluster, takers_);
        probes_.score(cluster, block_.places(), probes_.choice(), scores_);
        highest_.resize(end - begin);
        for (const std::uint32_t query : takers_) limit_scores(query);
        for (std::size_t rank = 0; rank < probes_.choice(); ++rank) {
            choose_takers(scores_.of(rank));
            if (!takers_.empty()) compare(cluster, rank);
        }
        for (std::uint32_t query = 0; query < end - begin; ++query) {
            const float highest =
                probes_.highest_score(block_.write(query, rows.data() + (first_row + query) * points_.k));
            if (is_unfinished(query, highest)) {
                unfinished.push_back({static_cast<std::uint32_t>(cluster), block_.places()[query], first_row + query});
            }
        }
    }

private:
    void limit_scores(std::uint32_t query) {
        block_.list(query).tighten();
        highest_[query] = probes_.highest_score(block_.list(query).limit());
    }

    void choose_takers(const float* scores) {
        takers_.resize(highest_.size());
        std::size_t count = 0;
        for (std::uint32_t query = 0; query < highest_.size(); ++query) {
            takers_[count] = query;
            count += scores[query] < highest_[query] ? 1 : 0;
        }
        takers_.resize(count);
    }

    void compare(std::size_t cluster, std::size_t rank) {
        block_.compare(probes_.around(cluster)[rank], takers_);
        for (const std::uint32_t query : takers_) {
            limit_scores(query);
            probes_.add(block_.places()[query], rank);
        }
    }

    bool is_unfinished(std::uint32_t query, float highest) const {
        const std::size_t choice = probes_.choice();
        if (choice == probes_.around_count()) return false;
        std::size_t many = 0;
        for (std::size_t rank = choice - choice / kFarthest; rank < choice; ++rank) {
            many += scores_.of(rank)[query] < highest ? 1 : 0;
        }
        return many * kMany * kFarthest >= choice;
    }

    const ClusteredPoints& points_;
    ClusterProbes& probes_;
    Block block_;
    ProbeScores scores_;
    std::vector<std::uint32_t> takers_;
    std::vector<float> highest_;  // (queries) that scores must stay below
};

// Compares points of any clusters with those that lie farther from their own.
class FarClusters {
public:
    FarClusters(const ClusteredPoints& points, const ClusterProbes& probes)
        : points_(points), probes_(probes), block_(points), takers_(points.clusters.count()) {}

    // Appends what the points were compared with to `compared`, see ClusterProbes::add_further.
    void search(const AskedPlace* first, std::size_t count, KeyRows& rows, std::vector<std::uint64_t>& compared) {
        const std::size_t begin = compared.size();
        block_.places().resize(count);
        for (std::uint32_t query = 0; query < count; ++query) start(query, first[query], rows);
        for (std::size_t done = 0; done < count;) done = choose_for_one_cluster(first, done, count, compared);
        for (std::size_t cluster = 0; cluster < takers_.size(); ++cluster) {
            if (takers_[cluster].empty()) continue;
            block_.compare(cluster, takers_[cluster]);
            takers_[cluster].clear();
        }
        for (std::size_t query = 0; query < count; ++query) {
            block_.write(query, rows.data() + first[query].row * points_.k);
        }
        std::sort(compared.begin() + static_cast<std::ptrdiff_t>(begin), compared.end());
    }

private:
    void start(std::uint32_t query, const AskedPlace& asked, const KeyRows& rows) {
        block_.places()[query] = asked.place;
        CandidateList& list = block_.list(query);
        list.start(points_.k);
        const std::uint64_t* keys = rows.data() + asked.row * points_.k;
        for (std::size_t rank = 0; rank < points_.k; ++rank)
            list.offer(key_distance(keys[rank]), key_index(keys[rank]));
        list.tighten();
    }

    // For the queries from `begin` on that are of the same cluster; returns where they end.
    std::size_t choose_for_one_cluster(const AskedPlace* asked, std::size_t begin, std::size_t count,
                                       std::vector<std::uint64_t>& compared) {
        const std::size_t cluster = asked[begin].cluster;
        std::size_t end = begin;
        for (; end < count && asked[end].cluster == cluster; ++end) {
        }
        const std::vector<std::uint32_t> places(block_.places().begin() + static_cast<std::ptrdiff_t>(begin),
                                                block_.places().begin() + static_cast<std::ptrdiff_t>(end));
        probes_.score(cluster, places, probes_.around_count(), scores_);
        for (std::size_t rank = probes_.choice(); rank < probes_.around_count(); ++rank) {
            const std::uint32_t other = probes_.around(cluster)[rank];
            for (std::size_t query = begin; query < end; ++query) {
                if (!(scores_.of(rank)[query - begin] < probes_.highest_score(block_.list(query).limit()))) continue;
                takers_[other].push_back(static_cast<std::uint32_t>(query));
                compared.push_back(std::uint64_t{asked[query].place} << 32 | other);
            }
        }
        return end;
    }

    const ClusteredPoints& points_;
    const ClusterProbes& probes_;
    Block block_;
    ProbeScores scores_;
    std::vector<std::vector<std::uint32_t>> takers_;  // (clusters) queries
};

template <class T>
std::vector<T> joined(const std::vector<std::vector<T>>& parts) {
    std::vector<T> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

void compare_far_clusters(const ClusteredPoints& points, const std::vector<AskedPlace>& unfinished,
                          ClusterProbes& probes, int threads, ProgressToken& token, KeyRows& rows) {
    std::vector<std::vector<std::uint64_t>> compared(chunk_count(unfinished.size(), kMostQueries));
    parallel_for(unfinished.size(), kMostQueries, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        FarClusters(points, probes).search(unfinished.data() + begin, end - begin, rows, compared[chunk]);
        token.advance(0);
    });
    probes.add_further(joined(compared));
}

}  // namespace

KeyRows compare_clusters(const ClusteredPoints& points, ClusterProbes& probes, int threads, ProgressToken& token) {
    const Clusters& clusters = points.clusters;
    const AskedPoints& asked = points.asked;
    KeyRows rows(asked.count() * points.k);
    std::vector<std::vector<AskedPlace>> unfinished(chunk_count(clusters.count(), kClustersPerChunk));
    parallel_for(clusters.count(), kClustersPerChunk, threads,
                 [&](std::size_t first, std::size_t last, std::size_t chunk) {
                     NearClusters near(points, probes);
                     for (std::size_t cluster = first; cluster < last; ++cluster) {
                         const std::size_t count = chunk_count(asked.count(cluster), kMostQueries);
                         for (std::size_t block = 0; block < count; ++block) {
                             const std::size_t begin = asked.count(cluster) * block / count;
                             const std::size_t end = asked.count(cluster) * (block + 1) / count;
                             near.search(cluster, clusters.begin[cluster] + begin, clusters.begin[cluster] + end,
                                         asked.first_row(cluster) + begin, rows, unfinished[chunk]);
                             token.advance(end - begin);
                         }
                     }
                 });
    compare_far_clusters(points, joined(unfinished), probes, threads, token, rows);
    return rows;
}

}  // namespace pixelsne
