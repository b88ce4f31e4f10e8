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

// Dividing by two levels of k-means compares a point with 2 sqrt(parts) centers instead of all parts.
constexpr double kMostParts = 128.0;

// Where k-means peels off outlier after outlier, dividing would go on too long.
constexpr std::size_t kDeepest = 12;

// Each round adds to the recall what several probes would; after the fourth it is little.
constexpr std::size_t kRefinements = 4;
constexpr std::size_t kClustersAround = 40;
constexpr std::size_t kClustersPerChunk = 16;

// Returns where the parts that have rows end.
std::vector<std::size_t> sort_by_part(std::uint32_t* rows, const std::vector<std::uint32_t>& part_of,
                                      std::size_t parts) {
    std::vector<std::size_t> places(parts + 1);
    for (const std::uint32_t part : part_of) ++places[part + 1];
    std::partial_sum(places.begin(), places.end(), places.begin());
    const std::vector<std::uint32_t> before(rows, rows + part_of.size());
    for (std::size_t row = 0; row < before.size(); ++row) rows[places[part_of[row]]++] = before[row];
    places.pop_back();
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (places.front() == 0) places.erase(places.begin());
    return places;
}

class Divider {
public:
    Divider(Points points, std::size_t size, std::uint64_t seed, ProgressToken& token,
            std::vector<std::uint32_t>& order)
        : points_(points), size_(size), seed_(seed), token_(token), order_(order) {}

    // Orders the run of points begin..end by part; returns where the parts that have points end.
    std::vector<std::size_t> divide(std::size_t begin, std::size_t end, std::size_t depth, int threads) {
        const std::size_t count = end - begin;
        const std::size_t parts = parts_of(count);
        const RandomStream random(seed_ + depth, begin);
        std::uint32_t* rows = order_.data() + begin;
        const auto part_of = divide_by_k_means(points_, rows, count, parts, random, threads, token_);
        std::vector<std::size_t> ends = sort_by_part(rows, part_of, parts);
        if (ends.size() == 1 || depth >= kDeepest) ends = cut(count);
        for (std::size_t& place : ends) place += begin;
        return ends;
    }

    // Divides until the runs are small enough and appends their beginnings, in order.
    void divide_fully(std::size_t begin, std::size_t end, std::size_t depth, std::vector<std::uint32_t>& beginnings) {
        if (end - begin <= size_ + size_ / 2) {
            beginnings.push_back(static_cast<std::uint32_t>(begin));
            token_.advance(end - begin);
            return;
        }
        for (const std::size_t part_end : divide(begin, end, depth, 1)) {
            divide_fully(begin, part_end, depth + 1, beginnings);
            begin = part_end;
        }
    }

private:
    std::size_t parts_of(std::size_t count) const {
        const double parts = std::ceil(static_cast<double>(count) / static_cast<double>(size_));
        const double levels = std::max(1.0, std::ceil(std::log(parts) / std::log(kMostParts)));
        return static_cast<std::size_t>(std::ceil(std::pow(parts, 1.0 / levels)));
    }

    // Points that are all the same cannot be divided, only cut.
    std::vector<std::size_t> cut(std::size_t count) const {
        std::vector<std::size_t> ends;
        for (std::size_t place = size_; place < count; place += size_) ends.push_back(place);
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
            for (std::size_t place = clusters.begin[cluster]; place < clusters.begin[cluster + 1]; ++place) {
                mean.add(points.row(clusters.order[place]));
            }
            mean.finish(means.data() + cluster * points.columns);
        }
    });
    return means;
}

// A point at the border of a part has been kept from clusters on the other side. Gives every point to
// the nearest of the clusters around its own.
Clusters refine(Points points, const Clusters& clusters, std::size_t size, int threads, ProgressToken& token) {
    const std::size_t count = clusters.count();
    const std::size_t around = std::min(kClustersAround, count - 1);
    const std::vector<float> means = means_of(points, clusters, threads);
    const Points centers{means.data(), count, points.columns};
    const std::vector<std::uint32_t> near = neighbors_of_centers(centers, around, threads, token).indices;
    std::vector<std::uint32_t> cluster_of(points.rows);  // by place
    parallel_for(count, kClustersPerChunk, threads, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t cluster = first; cluster < last; ++cluster) {
            std::vector<std::uint32_t> choice{static_cast<std::uint32_t>(cluster)};
            choice.insert(choice.end(), near.begin() + static_cast<std::ptrdiff_t>(cluster * around),
                          near.begin() + static_cast<std::ptrdiff_t>((cluster + 1) * around));
            std::uint32_t* chosen = cluster_of.data() + clusters.begin[cluster];
            Centers(centers, choice)
                .assign(points, clusters.order.data() + clusters.begin[cluster], clusters.size(cluster), 1, token,
                        chosen);
            for (std::size_t place = 0; place < clusters.size(cluster); ++place) chosen[place] = choice[chosen[place]];
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
    Divider divider(points, size, seed, token, clusters.order);
    std::vector<std::size_t> ends{points.rows};
    if (points.rows > size) ends = divider.divide(0, points.rows, 0, threads);
    std::vector<std::vector<std::uint32_t>> beginnings(ends.size());
    run_chunks(ends.size(), threads, [&](std::size_t part) {
        divider.divide_fully(part == 0 ? 0 : ends[part - 1], ends[part], 1, beginnings[part]);
    });
    for (const auto& part : beginnings) clusters.begin.insert(clusters.begin.end(), part.begin(), part.end());
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

AskedPoints::AskedPoints(Clusters& clusters, std::size_t count) : first_row_(clusters.count() + 1) {
    for (std::size_t cluster = 0; cluster < clusters.count(); ++cluster) {
        const auto begin = clusters.order.begin() + clusters.begin[cluster];
        const auto end = clusters.order.begin() + clusters.begin[cluster + 1];
        const auto others = std::stable_partition(begin, end, [count](std::uint32_t point) { return point < count; });
        first_row_[cluster + 1] = first_row_[cluster] + static_cast<std::size_t>(others - begin);
    }
}

}  // namespace pixelsne
