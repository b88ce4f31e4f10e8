#include "cluster_comparing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kClustersPerChunk = 4;

// The candidate lists of a block fit the second-level cache.
constexpr std::size_t kMaxQueries = 256;

// A point needs the second pass if at least 1 / kMinBelowLimitDivisor of the outermost 1 / kOuterDivisor of its
// first-pass clusters score below its limit.
constexpr std::size_t kOuterDivisor = 4;
constexpr std::size_t kMinBelowLimitDivisor = 8;

// A query point that needs the second pass, and its row in KeyRows.
struct PendingQuery {
    std::uint32_t cluster, slot;
    std::size_t row;
};

// A block of query points with the buffers for comparing it with clusters. Each task owns one and reuses it.
class QueryBlock {
public:
    explicit QueryBlock(const ClusteredPoints& points)
        : points_(points), lists_(kMaxQueries), keys_(points.k), found_(points.k), distances_(points.k) {}

    std::vector<std::uint32_t>& slots() { return slots_; }
    CandidateList& list(std::size_t query) { return lists_[query]; }

    void compare(std::size_t cluster, const std::vector<std::uint32_t>& queries) {
        points_.panels.compare(cluster, slots_, queries, lists_, workspace_);
    }

    // Writes the neighbors of a query with exact squared distances and returns the largest one. The distances in the
    // lists come from products. They are precise enough for choosing neighbors, but not for returning them.
    float write(std::size_t query, std::uint64_t* row) {
        const std::size_t k = points_.k;
        const Points sorted = points_.sorted;
        lists_[query].finish(keys_);
        for (std::size_t rank = 0; rank < k; ++rank) found_[rank] = key_index(keys_[rank]);
        kernels().squared_distances_to_rows(sorted.row(slots_[query]), sorted.data, sorted.columns, found_.data(), k,
                                            distances_.data());
        for (std::size_t rank = 0; rank < k; ++rank) row[rank] = candidate_key(distances_[rank], found_[rank]);
        return *std::max_element(distances_.begin(), distances_.end());
    }

private:
    const ClusteredPoints& points_;
    std::vector<std::uint32_t> slots_;  // (queries)
    std::vector<CandidateList> lists_;
    ClusterPanels::Workspace workspace_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> found_;
    std::vector<float> distances_;
};

// Compares the query points of one cluster with that cluster and with the nearest clusters.
class FirstPass {
public:
    FirstPass(const ClusteredPoints& points, ClusterProbes& probes)
        : points_(points), probes_(probes), block_(points) {}

    // Finds the neighbors of the points at slots begin..end and writes them to rows first_row and following. Appends
    // the points that need the second pass to `pending`.
    void search(std::size_t cluster, std::size_t begin, std::size_t end, std::size_t first_row, KeyRows& rows,
                std::vector<PendingQuery>& pending) {
        block_.slots().resize(end - begin);
        std::iota(block_.slots().begin(), block_.slots().end(), static_cast<std::uint32_t>(begin));
        active_.resize(end - begin);
        std::iota(active_.begin(), active_.end(), 0u);
        for (const std::uint32_t query : active_) block_.list(query).start(points_.k);
        block_.compare(cluster, active_);
        probes_.score(cluster, block_.slots(), probes_.first_pass_count(), scores_);
        score_limits_.resize(end - begin);
        for (const std::uint32_t query : active_) update_score_limit(query);
        for (std::size_t nearby_index = 0; nearby_index < probes_.first_pass_count(); ++nearby_index) {
            select_active(scores_.scores_of(nearby_index));
            if (!active_.empty()) compare(cluster, nearby_index);
        }
        for (std::uint32_t query = 0; query < end - begin; ++query) {
            const float limit = probes_.score_limit(block_.write(query, rows.data() + (first_row + query) * points_.k));
            if (needs_second_pass(query, limit)) {
                pending.push_back({static_cast<std::uint32_t>(cluster), block_.slots()[query], first_row + query});
            }
        }
    }

private:
    void update_score_limit(std::uint32_t query) {
        block_.list(query).tighten();
        score_limits_[query] = probes_.score_limit(block_.list(query).limit());
    }

    void select_active(const float* scores) {
        active_.resize(score_limits_.size());
        std::size_t count = 0;
        for (std::uint32_t query = 0; query < score_limits_.size(); ++query) {
            active_[count] = query;
            count += scores[query] < score_limits_[query] ? 1 : 0;
        }
        active_.resize(count);
    }

    void compare(std::size_t cluster, std::size_t nearby_index) {
        block_.compare(probes_.nearby(cluster)[nearby_index], active_);
        for (const std::uint32_t query : active_) {
            update_score_limit(query);
            probes_.add(block_.slots()[query], nearby_index);
        }
    }

    bool needs_second_pass(std::uint32_t query, float limit) const {
        const std::size_t count = probes_.first_pass_count();
        if (count == probes_.nearby_count()) return false;
        std::size_t below_limit = 0;
        for (std::size_t nearby_index = count - count / kOuterDivisor; nearby_index < count; ++nearby_index) {
            below_limit += scores_.scores_of(nearby_index)[query] < limit ? 1 : 0;
        }
        return below_limit * kMinBelowLimitDivisor * kOuterDivisor >= count;
    }

    const ClusteredPoints& points_;
    ClusterProbes& probes_;
    QueryBlock block_;
    ProbeScores scores_;
    std::vector<std::uint32_t> active_;
    std::vector<float> score_limits_;  // (queries) upper limits of the scores
};

// Compares query points of any clusters with the clusters that the first pass left out.
class SecondPass {
public:
    SecondPass(const ClusteredPoints& points, const ClusterProbes& probes)
        : points_(points), probes_(probes), block_(points), active_(points.clusters.count()) {}

    // Appends the comparisons to `compared`, in the format of ClusterProbes::set_second_pass.
    void search(const PendingQuery* first, std::size_t count, KeyRows& rows, std::vector<std::uint64_t>& compared) {
        const std::size_t begin = compared.size();
        block_.slots().resize(count);
        for (std::uint32_t query = 0; query < count; ++query) start(query, first[query], rows);
        for (std::size_t done = 0; done < count;) done = select_clusters(first, done, count, compared);
        for (std::size_t cluster = 0; cluster < active_.size(); ++cluster) {
            if (active_[cluster].empty()) continue;
            block_.compare(cluster, active_[cluster]);
            active_[cluster].clear();
        }
        for (std::size_t query = 0; query < count; ++query) {
            block_.write(query, rows.data() + first[query].row * points_.k);
        }
        std::sort(compared.begin() + static_cast<std::ptrdiff_t>(begin), compared.end());
        compared.shrink_to_fit();
    }

private:
    void start(std::uint32_t query, const PendingQuery& pending, const KeyRows& rows) {
        block_.slots()[query] = pending.slot;
        CandidateList& list = block_.list(query);
        list.start(points_.k);
        const std::uint64_t* keys = rows.data() + pending.row * points_.k;
        for (std::size_t rank = 0; rank < points_.k; ++rank)
            list.offer(key_squared_distance(keys[rank]), key_index(keys[rank]));
        list.tighten();
    }

    // Selects clusters for the queries from `begin` on that belong to one cluster. Returns the end of that run of
    // queries.
    std::size_t select_clusters(const PendingQuery* pending, std::size_t begin, std::size_t count,
                                std::vector<std::uint64_t>& compared) {
        const std::size_t cluster = pending[begin].cluster;
        std::size_t end = begin;
        for (; end < count && pending[end].cluster == cluster; ++end) {
        }
        const std::vector<std::uint32_t> slots(block_.slots().begin() + static_cast<std::ptrdiff_t>(begin),
                                               block_.slots().begin() + static_cast<std::ptrdiff_t>(end));
        probes_.score(cluster, slots, probes_.nearby_count(), scores_);
        for (std::size_t nearby_index = probes_.first_pass_count(); nearby_index < probes_.nearby_count();
             ++nearby_index) {
            const std::uint32_t other = probes_.nearby(cluster)[nearby_index];
            for (std::size_t query = begin; query < end; ++query) {
                if (!(scores_.scores_of(nearby_index)[query - begin] < probes_.score_limit(block_.list(query).limit())))
                    continue;
                active_[other].push_back(static_cast<std::uint32_t>(query));
                compared.push_back(std::uint64_t{pending[query].slot} << 32 | other);
            }
        }
        return end;
    }

    const ClusteredPoints& points_;
    const ClusterProbes& probes_;
    QueryBlock block_;
    ProbeScores scores_;
    std::vector<std::vector<std::uint32_t>> active_;  // (clusters) queries to compare with each cluster
};

// Returns the parts one after another. Each is freed when it has been copied.
template <class T>
std::vector<T> concatenated(std::vector<std::vector<T>> parts) {
    std::size_t count = 0;
    for (const auto& part : parts) count += part.size();
    std::vector<T> all;
    all.reserve(count);
    for (auto& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
        part = std::vector<T>();
    }
    return all;
}

void run_second_pass(const ClusteredPoints& points, const std::vector<PendingQuery>& pending, ClusterProbes& probes,
                     int threads, ProgressToken& token, KeyRows& rows) {
    std::vector<std::vector<std::uint64_t>> compared(chunk_count(pending.size(), kMaxQueries));
    parallel_for(pending.size(), kMaxQueries, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        SecondPass(points, probes).search(pending.data() + begin, end - begin, rows, compared[chunk]);
        token.throw_if_cancelled();
    });
    probes.set_second_pass(concatenated(std::move(compared)));
}

}  // namespace

KeyRows compare_with_clusters(const ClusteredPoints& points, ClusterProbes& probes, int threads, ProgressToken& token) {
    const Clusters& clusters = points.clusters;
    const QueryPoints& query_points = points.query_points;
    KeyRows rows(query_points.count() * points.k);
    std::vector<std::vector<PendingQuery>> pending(chunk_count(clusters.count(), kClustersPerChunk));
    parallel_for(clusters.count(), kClustersPerChunk, threads,
                 [&](std::size_t first, std::size_t last, std::size_t chunk) {
                     FirstPass first_pass(points, probes);
                     for (std::size_t cluster = first; cluster < last; ++cluster) {
                         const std::size_t count = chunk_count(query_points.count(cluster), kMaxQueries);
                         for (std::size_t block = 0; block < count; ++block) {
                             const std::size_t begin = query_points.count(cluster) * block / count;
                             const std::size_t end = query_points.count(cluster) * (block + 1) / count;
                             first_pass.search(cluster, clusters.begin[cluster] + begin, clusters.begin[cluster] + end,
                                               query_points.first_row(cluster) + begin, rows, pending[chunk]);
                             token.advance(end - begin);
                         }
                     }
                 });
    run_second_pass(points, concatenated(std::move(pending)), probes, threads, token, rows);
    return rows;
}

}  // namespace pixelsne
