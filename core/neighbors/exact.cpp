#include "exact.hpp"

#include <numeric>

#include "../kernels.hpp"
#include "../parallel_for.hpp"
#include "panels.hpp"

namespace pixelsne {
namespace {

// A block of queries with its lists and this many floats of panels fit the second-level cache together.
constexpr std::size_t kPanelFloatsInCache = 32 * 1024;

void compare_all(Points queries, bool external, Points points, int threads, ProgressToken& token, NeighborTable table) {
    Panels panels;
    panels.pack_all(points, threads);
    const std::size_t panels_in_cache = std::max<std::size_t>(1, kPanelFloatsInCache / (points.columns * kPanelPoints));
    token.expect(queries.rows);
    parallel_for(queries.rows, kQueriesPerBlock, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<std::uint32_t> rows(end - begin);
        std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(begin));
        std::vector<NearestList> lists(end - begin);
        for (NearestList& list : lists) list.start(table.k());
        for (std::size_t first = 0; first < panels.count(); first += panels_in_cache) {
            panels.compare({queries, rows.data(), rows.size(), external}, first,
                           std::min(panels.count(), first + panels_in_cache), lists.data());
        }
        for (std::size_t query = begin; query < end; ++query) table.write_row(query, lists[query - begin].finish());
        token.advance(end - begin);
    });
}

}  // namespace

void find_exact_neighbors(Points points, int threads, ProgressToken& token, NeighborTable table) {
    compare_all(points, false, points, threads, token, table);
}

void find_neighbors_of_queries(Points queries, Points points, int threads, ProgressToken& token, NeighborTable table) {
    compare_all(queries, true, points, threads, token, table);
}

}  // namespace pixelsne
