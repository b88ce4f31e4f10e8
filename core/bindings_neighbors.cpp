// Bindings of the neighbor searches.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <cmath>

#include "bindings_common.hpp"
#include "neighbors/cluster_search.hpp"
#include "neighbors/clusters.hpp"
#include "neighbors/exact.hpp"
#include "neighbors/random_projection_forest.hpp"
#include "neighbors/vantage_point_tree.hpp"
#include "progress_token.hpp"

namespace pixelsne {
namespace {

void require_countable(const Matrix<const float>& points) {
    require(points.shape(0) < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
            "points: fewer than 2^31 rows");
}

void require_finite(const Matrix<const float>& numbers, const char* message) {
    bool finite = true;
    for (std::size_t index = 0; index < numbers.size(); ++index) {
        finite = finite && std::isfinite(numbers.data()[index]);
    }
    require(finite, message);
}

using NeighborArrays = std::pair<Matrix<std::int32_t>, Matrix<float>>;

// n: number of points that are searched, at most the rows of `points`.
template <class Search>
NeighborArrays find_neighbors(const Matrix<const float>& points, std::size_t n, std::size_t n_queries, std::size_t k,
                              Search&& search) {
    require(n >= 2 && points.shape(1) >= 1, "points: at least two rows and one column");
    require_countable(points);
    require(k >= 1 && k < n, "k: between 1 and the number of points less one");
    require_finite(points, "points: finite");
    auto indices = new_matrix<std::int32_t>(n_queries, k);
    auto distances = new_matrix<float>(n_queries, k);
    {
        GilRelease released;
        search(view(points), NeighborTable{view(indices), view(distances)});
    }
    return {indices, distances};
}

NeighborArrays exact_neighbors(const Matrix<const float>& points, std::size_t k, ProgressToken& token, int threads) {
    return find_neighbors(points, points.shape(0), points.shape(0), k,
                          [&](Points rows, NeighborTable table) { find_exact_neighbors(rows, threads, token, table); });
}

NeighborArrays neighbors_of_queries(const Matrix<const float>& queries, const Matrix<const float>& points,
                                    std::size_t k, ProgressToken& token, int threads) {
    require(queries.shape(1) == points.shape(1) && points.shape(1) >= 1, "queries and points: the same columns");
    require(k >= 1 && k <= points.shape(0), "k: between 1 and the number of points");
    require_countable(points);
    require_finite(points, "points: finite");
    require_finite(queries, "queries: finite");
    auto indices = new_matrix<std::int32_t>(queries.shape(0), k);
    auto distances = new_matrix<float>(queries.shape(0), k);
    {
        GilRelease released;
        find_neighbors_of_queries(view(queries), view(points), threads, token,
                                  NeighborTable{view(indices), view(distances)});
    }
    return {indices, distances};
}

NeighborArrays vp_tree_neighbors(const Matrix<const float>& points, std::size_t k, std::uint64_t seed,
                                 ProgressToken& token, int threads) {
    return find_neighbors(points, points.shape(0), points.shape(0), k, [&](Points rows, NeighborTable table) {
        find_vantage_point_neighbors(rows, seed, threads, token, table);
    });
}

NeighborArrays rp_forest_neighbors(const Matrix<const float>& points, std::size_t k, std::uint64_t seed,
                                   std::size_t trees, std::size_t candidates, std::size_t rounds, std::size_t reach,
                                   ProgressToken& token, int threads) {
    require(trees >= 1, "trees: 1 or more");
    const ForestSettings settings{seed, trees, candidates, rounds, reach};
    return find_neighbors(points, points.shape(0), points.shape(0), k, [&](Points rows, NeighborTable table) {
        find_forest_neighbors(rows, settings, threads, token, table);
    });
}

using OrderedNeighborArrays = std::tuple<Matrix<std::int32_t>, Matrix<float>, Vector<std::int32_t>>;

SearchedPoints searched_points(const Matrix<const float>& points,
                               const std::optional<Vector<const std::int32_t>>& rows) {
    if (!rows) return {view(points)};
    require_columns_below(rows->data(), rows->size(), points.shape(0), "rows: indices of points");
    return {view(points), reinterpret_cast<const std::uint32_t*>(rows->data()), rows->size()};
}

OrderedNeighborArrays cluster_neighbors(const Matrix<const float>& points,
                                        const std::optional<Vector<const std::int32_t>>& rows, std::size_t k,
                                        std::uint64_t seed, std::size_t size, double recall, std::size_t max_probes,
                                        std::size_t reach, std::size_t n_queries, bool reorder, ProgressToken& token,
                                        int threads) {
    const SearchedPoints searched = searched_points(points, rows);
    require(n_queries >= 1 && n_queries <= searched.count, "n_queries: between 1 and the number of points");
    require(size >= 1, "size: 1 or more");
    require(recall > 0.0 && recall <= 1.0, "recall: above 0, at most 1");
    require(max_probes >= 1, "max_probes: 1 or more");
    const ClusterSettings settings{seed, size, recall, max_probes, reach};
    const std::size_t order_size = reorder ? n_queries : 0;
    Buffer<std::int32_t> order = allocate_buffer<std::int32_t>(order_size);
    auto found = find_neighbors(points, searched.count, n_queries, k, [&](Points, NeighborTable table) {
        find_cluster_neighbors(searched, settings, threads, token, table, reorder ? order.get() : nullptr);
    });
    return {found.first, found.second, as_vector(std::move(order), order_size)};
}

Vector<std::int32_t> cluster_order(const Matrix<const float>& points, std::size_t size, std::uint64_t seed,
                                   ProgressToken& token, int threads) {
    require(points.shape(0) >= 1 && points.shape(1) >= 1, "points: at least one row and one column");
    require_countable(points);
    require_finite(points, "points: finite");
    require(size >= 1, "size: 1 or more");
    Buffer<std::int32_t> order = allocate_buffer<std::int32_t>(points.shape(0));
    {
        GilRelease released;
        token.expect(points.shape(0));
        const Clusters clusters = find_clusters(view(points), size, seed, threads, token);
        std::copy(clusters.order.begin(), clusters.order.end(), order.get());
    }
    return as_vector(std::move(order), points.shape(0));
}

}  // namespace

void bind_neighbors(nb::module_& module) {
    module.def("exact_neighbors", &exact_neighbors, "points"_a.noconvert(), "k"_a, "token"_a, "threads"_a);
    module.def("neighbors_of_queries", &neighbors_of_queries, "queries"_a.noconvert(), "points"_a.noconvert(), "k"_a,
               "token"_a, "threads"_a);
    module.def("vp_tree_neighbors", &vp_tree_neighbors, "points"_a.noconvert(), "k"_a, "seed"_a, "token"_a,
               "threads"_a);
    module.def("rp_forest_neighbors", &rp_forest_neighbors, "points"_a.noconvert(), "k"_a, "seed"_a, "trees"_a,
               "candidates"_a, "rounds"_a, "reach"_a, "token"_a, "threads"_a);
    module.def("cluster_neighbors", &cluster_neighbors, "points"_a.noconvert(), "rows"_a.noconvert().none(), "k"_a,
               "seed"_a, "size"_a, "recall"_a, "max_probes"_a, "reach"_a, "n_queries"_a, "reorder"_a, "token"_a,
               "threads"_a);
    module.def("cluster_order", &cluster_order, "points"_a.noconvert(), "size"_a, "seed"_a, "token"_a, "threads"_a);
}

}  // namespace pixelsne
