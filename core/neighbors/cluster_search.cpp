#include "cluster_search.hpp"

#include <algorithm>

#include "../parallel_for.hpp"
#include "cluster_comparing.hpp"
#include "cluster_exploring.hpp"
#include "cluster_panels.hpp"
#include "cluster_probes.hpp"
#include "clusters.hpp"
#include "gather_rows.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kRowsPerChunk = 1024;

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
        rows = compare_clusters({sorted, clusters, asked, panels, k}, probes, threads, token);
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
