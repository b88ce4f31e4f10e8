#include "exact.hpp"

#include <numeric>

#include "../kernels.hpp"
#include "../parallel_for.hpp"
#include "panels.hpp"

namespace pixelsne {
namespace {

// A block of queries with its lists, and a stretch of panels, fit the second-level cache together.
constexpr std::size_t kQueriesPerBlock = 60;
constexpr std::size_t kFloatsPerStretch = 32 * 1024;

}  // namespace

void find_exact_neighbors(Points points, int threads, ProgressToken& token, NeighborTable table) {
    const std::size_t n = points.rows;
    std::vector<std::uint32_t> everyone(n);
    std::iota(everyone.begin(), everyone.end(), 0u);
    Panels panels;
    panels.pack(points, everyone, threads);
    const std::size_t stretch = std::max<std::size_t>(1, kFloatsPerStretch / (points.columns * kPanelPoints));
    token.expect(n);
    parallel_for(n, kQueriesPerBlock, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<NearestList> lists(end - begin);
        for (NearestList& list : lists) list.start(table.k());
        for (std::size_t first = 0; first < panels.count(); first += stretch) {
            panels.compare(points, everyone.data() + begin, end - begin, first,
                           std::min(panels.count(), first + stretch), lists.data());
        }
        for (std::size_t query = begin; query < end; ++query) table.write_row(query, lists[query - begin].finish());
        token.advance(end - begin);
    });
}

}  // namespace pixelsne
