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

// Replaces slots by new indices, sorts the keys within each row by distance, and writes the rows to the table.
// new_index(slot): the index that the table has for a slot. table_row(row): the table's row for a row of `keys`.
template <class NewIndex, class TableRow>
void write_table(std::size_t query_count, int threads, KeyRows& keys, NeighborTable table, NewIndex&& new_index,
                 TableRow&& table_row) {
    const std::size_t k = table.k();
    parallel_for(query_count, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t row = begin; row < end; ++row) {
            std::uint64_t* row_keys = keys.data() + row * k;
            for (std::size_t rank = 0; rank < k; ++rank) {
                const std::uint64_t key = row_keys[rank];
                row_keys[rank] = candidate_key(key_squared_distance(key), new_index(key_index(key)));
            }
            std::sort(row_keys, row_keys + k);
            table.write_row(table_row(row), row_keys);
        }
    });
}

// Returns the new index of each slot, (n): the row of a query point, the input index of any other point. A slot is a
// point's index in cluster order.
std::vector<std::uint32_t> new_index_of_slots(const Clusters& clusters, const QueryPoints& query_points) {
    std::vector<std::uint32_t> indices = clusters.order;
    for (std::size_t cluster = 0; cluster < clusters.count(); ++cluster) {
        query_points.for_each(clusters, cluster, [&](std::size_t slot, std::size_t row) {
            indices[slot] = static_cast<std::uint32_t>(row);
        });
    }
    return indices;
}

// Returns the input index of each row's point, (rows).
std::vector<std::uint32_t> input_index_of_rows(const Clusters& clusters, const QueryPoints& query_points) {
    std::vector<std::uint32_t> points(query_points.count());
    for (std::size_t cluster = 0; cluster < clusters.count(); ++cluster) {
        query_points.for_each(clusters, cluster,
                              [&](std::size_t slot, std::size_t row) { points[row] = clusters.order[slot]; });
    }
    return points;
}

}  // namespace

void find_cluster_neighbors(SearchedPoints searched, const ClusterSettings& settings, int threads, ProgressToken& token,
                            NeighborTable table, std::int32_t* order) {
    const std::size_t n = searched.count;
    const std::size_t k = table.k();
    const std::size_t query_count = table.rows();
    token.expect(n + (settings.reach > 0 ? 2 : 1) * query_count);
    const std::size_t d = searched.rows.columns;
    // Chosen rows are copied first and sorted in place later, so there is one copy in either case.
    AlignedVector<float> values;
    if (searched.chosen) values = gather_rows(searched.rows, searched.chosen, n, threads);
    const Points points = searched.chosen ? Points{values.data(), n, d} : searched.rows;
    Clusters clusters = find_clusters(points, settings.size, settings.seed, threads, token);
    const QueryPoints query_points(clusters, query_count);
    if (searched.chosen) {
        sort_rows(clusters.order, d, values);
    } else {
        values = gather_rows(points, clusters.order, threads);
    }
    const Points sorted{values.data(), n, d};
    KeyRows keys;
    {
        ClusterPanels panels(sorted, clusters.begin, threads, token);
        ClusterProbes probes(sorted, clusters, panels.centers(), settings.recall, settings.max_probes, k, threads,
                             token);
        keys = compare_with_clusters({sorted, clusters, query_points, panels, k}, probes, threads, token);
        panels.free_panels();
        if (settings.reach > 0) {
            explore_other_clusters(sorted, clusters, query_points, probes, k, settings.reach, threads, token, keys);
        }
    }
    const std::vector<std::uint32_t> query_indices = input_index_of_rows(clusters, query_points);
    if (order == nullptr) {
        write_table(
            query_count, threads, keys, table, [&](std::uint32_t slot) { return clusters.order[slot]; },
            [&](std::size_t row) { return query_indices[row]; });
    } else {
        const std::vector<std::uint32_t> indices = new_index_of_slots(clusters, query_points);
        write_table(
            query_count, threads, keys, table, [&](std::uint32_t slot) { return indices[slot]; },
            [](std::size_t row) { return row; });
        std::copy(query_indices.begin(), query_indices.end(), order);
    }
}

}  // namespace pixelsne
