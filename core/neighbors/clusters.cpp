#include "clusters.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../parallel_for.hpp"
#include "centers.hpp"
#include "exact.hpp"
#include "k_means.hpp"
#include "mean_of_rows.hpp"

namespace pixelsne {
namespace {

// Parts of one k-means call at most. More parts are made by recursion, so that a point is compared with few centers.
constexpr double kMaxParts = 128.0;

// Limits the recursion where k-means splits off one outlier after another.
constexpr std::size_t kMaxDepth = 12;

// Each of the first four refinements raises the recall as much as several probes do. Later ones add little.
constexpr std::size_t kRefinements = 4;
constexpr std::size_t kNearbyClusters = 40;
constexpr std::size_t kClustersPerChunk = 16;

// Sorts the rows by part and returns the ends of the parts that are not empty.
std::vector<std::size_t> sort_by_part(std::uint32_t* rows, const std::vector<std::uint32_t>& part_of,
                                      std::size_t parts) {
    std::vector<std::size_t> offsets(parts + 1);
    for (const std::uint32_t part : part_of) ++offsets[part + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    const std::vector<std::uint32_t> before(rows, rows + part_of.size());
    for (std::size_t row = 0; row < before.size(); ++row) rows[offsets[part_of[row]]++] = before[row];
    offsets.pop_back();  // offsets[part] is now the end of the part
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    if (offsets.front() == 0) offsets.erase(offsets.begin());
    return offsets;
}

class ClusterDivider {
public:
    ClusterDivider(Points points, std::size_t size, std::uint64_t seed, ProgressToken& token,
                   std::vector<std::uint32_t>& order)
        : points_(points), size_(size), seed_(seed), token_(token), order_(order) {}

    // Sorts the points at slots begin..end by part and returns the ends of the parts that are not empty.
    std::vector<std::size_t> divide(std::size_t begin, std::size_t end, std::size_t depth, int threads) {
        const std::size_t count = end - begin;
        const std::size_t parts = part_count(count);
        const RandomStream random(seed_ + depth, begin);
        std::uint32_t* rows = order_.data() + begin;
        const auto part_of = divide_by_k_means(points_, rows, count, parts, random, threads, token_);
        std::vector<std::size_t> ends = sort_by_part(rows, part_of, parts);
        if (ends.size() == 1 || depth >= kMaxDepth) ends = cut_evenly(count);
        for (std::size_t& slot : ends) slot += begin;
        return ends;
    }

    // Divides a run of points until its parts are small enough, and appends the first slot of each part.
    void divide_fully(std::size_t begin, std::size_t end, std::size_t depth, std::vector<std::uint32_t>& begins) {
        if (end - begin <= size_ + size_ / 2) {
            begins.push_back(static_cast<std::uint32_t>(begin));
            token_.advance(end - begin);
            return;
        }
        for (const std::size_t part_end : divide(begin, end, depth, 1)) {
            divide_fully(begin, part_end, depth + 1, begins);
            begin = part_end;
        }
    }

private:
    std::size_t part_count(std::size_t count) const {
        const double parts = std::ceil(static_cast<double>(count) / static_cast<double>(size_));
        const double levels = std::max(1.0, std::ceil(std::log(parts) / std::log(kMaxParts)));
        return static_cast<std::size_t>(std::ceil(std::pow(parts, 1.0 / levels)));
    }

    // Cuts a run into pieces of equal size, because k-means cannot divide equal points.
    std::vector<std::size_t> cut_evenly(std::size_t count) const {
        std::vector<std::size_t> ends;
        for (std::size_t slot = size_; slot < count; slot += size_) ends.push_back(slot);
        ends.push_back(count);
        return ends;
    }

    Points points_;
    std::size_t size_;
    std::uint64_t seed_;
    ProgressToken& token_;
    std::vector<std::uint32_t>& order_;
};

std::vector<float> means_of(Points points, const Clusters& clusters, int threads) {
    std::vector<float> means(clusters.count() * points.columns);
    parallel_for(clusters.count(), kClustersPerChunk, threads, [&](std::size_t first, std::size_t last, std::size_t) {
        MeanOfRows mean(points.columns);
        for (std::size_t cluster = first; cluster < last; ++cluster) {
            for (std::size_t slot = clusters.begin[cluster]; slot < clusters.begin[cluster + 1]; ++slot) {
                mean.add(points.row(clusters.order[slot]));
            }
            mean.finish(means.data() + cluster * points.columns);
        }
    });
    return means;
}

// Reassigns every point to the nearest of its own and the nearby clusters. The division assigned a point close to the
// boundary of a part without regard to the clusters beyond that boundary.
Clusters refine(Points points, const Clusters& clusters, std::size_t size, int threads, ProgressToken& token) {
    const std::size_t count = clusters.count();
    const std::size_t nearby_count = std::min(kNearbyClusters, count - 1);
    const std::vector<float> means = means_of(points, clusters, threads);
    const Points centers{means.data(), count, points.columns};
    const std::vector<std::uint32_t> nearby = neighbors_of_centers(centers, nearby_count, threads, token).indices;
    std::vector<std::uint32_t> cluster_of(points.rows);  // by slot
    parallel_for(count, kClustersPerChunk, threads, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t cluster = first; cluster < last; ++cluster) {
            std::vector<std::uint32_t> candidates{static_cast<std::uint32_t>(cluster)};
            candidates.insert(candidates.end(), nearby.begin() + static_cast<std::ptrdiff_t>(cluster * nearby_count),
                              nearby.begin() + static_cast<std::ptrdiff_t>((cluster + 1) * nearby_count));
            std::uint32_t* assigned = cluster_of.data() + clusters.begin[cluster];
            Centers(centers, candidates)
                .assign(points, clusters.order.data() + clusters.begin[cluster], clusters.size(cluster), 1, token,
                        assigned);
            for (std::size_t slot = 0; slot < clusters.size(cluster); ++slot)
                assigned[slot] = candidates[assigned[slot]];
        }
    });
    Clusters refined{clusters.order, {0}};
    std::vector<std::size_t> ends = sort_by_part(refined.order.data(), cluster_of, count);
    for (const std::size_t end : ends) {
        while (end - refined.begin.back() > 2 * size) refined.begin.push_back(refined.begin.back() + size);
        refined.begin.push_back(static_cast<std::uint32_t>(end));
    }
    return refined;
}

}  // namespace

Clusters find_clusters(Points points, std::size_t size, std::uint64_t seed, int threads, ProgressToken& token) {
    Clusters clusters;
    clusters.order.resize(points.rows);
    std::iota(clusters.order.begin(), clusters.order.end(), 0u);
    ClusterDivider divider(points, size, seed, token, clusters.order);
    std::vector<std::size_t> ends{points.rows};
    if (points.rows > size) ends = divider.divide(0, points.rows, 0, threads);
    std::vector<std::vector<std::uint32_t>> begins(ends.size());
    run_chunks(ends.size(), threads, [&](std::size_t part) {
        divider.divide_fully(part == 0 ? 0 : ends[part - 1], ends[part], 1, begins[part]);
    });
    for (const auto& part : begins) clusters.begin.insert(clusters.begin.end(), part.begin(), part.end());
    clusters.begin.push_back(static_cast<std::uint32_t>(points.rows));
    for (std::size_t round = 0; round < kRefinements && clusters.count() > 1; ++round) {
        clusters = refine(points, clusters, size, threads, token);
    }
    return clusters;
}

CenterNeighbors neighbors_of_centers(Points centers, std::size_t count, int threads, ProgressToken& token) {
    std::vector<std::int32_t> indices(centers.rows * count);
    std::vector<float> distances(indices.size());
    find_exact_neighbors(centers, threads, token,
                         {{indices.data(), centers.rows, count}, {distances.data(), centers.rows, count}});
    return {{indices.begin(), indices.end()}, std::move(distances)};
}

QueryPoints::QueryPoints(Clusters& clusters, std::size_t count) : first_row_(clusters.count() + 1) {
    for (std::size_t cluster = 0; cluster < clusters.count(); ++cluster) {
        const auto begin = clusters.order.begin() + clusters.begin[cluster];
        const auto end = clusters.order.begin() + clusters.begin[cluster + 1];
        const auto rest = std::stable_partition(begin, end, [count](std::uint32_t point) { return point < count; });
        first_row_[cluster + 1] = first_row_[cluster] + static_cast<std::size_t>(rest - begin);
    }
}

}  // namespace pixelsne
