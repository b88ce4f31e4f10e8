#include "exact.hpp"

#include <numeric>

#include "../kernels.hpp"
#include "../parallel_for.hpp"
#include "panels.hpp"

namespace pixelsne {
namespace {

// A block of queries with its lists, and a stretch of panels, fit the second-level cache together.
constexpr std::size_t kFloatsPerStretch = 32 * 1024;

void compare_all(Points queries, bool are_queries, Points points, int threads, ProgressToken& token,
                 NeighborTable table) {
    Panels panels;
    panels.pack_all(points, threads);
    const std::size_t stretch = std::max<std::size_t>(1, kFloatsPerStretch / (points.columns * kPanelPoints));
    token.expect(queries.rows);
    parallel_for(queries.rows, kQueriesPerBlock, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<std::uint32_t> rows(end - begin);
        std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(begin));
        std::vector<NearestList> lists(end - begin);
        for (NearestList& list : lists) list.start(table.k());
        for (std::size_t first = 0; first < panels.count(); first += stretch) {
            panels.compare({queries, rows.data(), rows.size(), are_queries}, first,
                           std::min(panels.count(), first + stretch), lists.data());
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
