#include "panels.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

// Marks the empty lanes of the last panel. No point has this index.
constexpr std::uint32_t kNoIndex = std::numeric_limits<std::uint32_t>::max();

void pack_panel(Points points, const std::uint32_t* rows, std::size_t count, float* panel, std::uint32_t* indices) {
    for (std::size_t lane = 0; lane < kPanelPoints; ++lane) {
        indices[lane] = lane < count ? rows[lane] : kNoIndex;
        const float* row = points.row(rows[lane < count ? lane : 0]);
        for (std::size_t axis = 0; axis < points.columns; ++axis) panel[axis * kPanelPoints + lane] = row[axis];
    }
}

void offer_panel(const float* distances, const std::uint32_t* indices, std::uint32_t query, NearestList& list) {
    for (std::size_t lane = 0; lane < kPanelPoints; ++lane) {
        if (distances[lane] <= list.limit() && indices[lane] != query && indices[lane] != kNoIndex) {
            list.offer(distances[lane], indices[lane]);
        }
    }
}

}  // namespace

void Panels::pack(Points points, const std::vector<std::uint32_t>& rows, int threads) {
    count_ = chunk_count(rows.size(), kPanelPoints);
    panel_floats_ = points.columns * kPanelPoints;
    values_.resize(count_ * panel_floats_);
    indices_.resize(count_ * kPanelPoints);
    parallel_for(count_, 64, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t panel = begin; panel < end; ++panel) {
            const std::size_t first = panel * kPanelPoints;
            pack_panel(points, rows.data() + first, std::min(kPanelPoints, rows.size() - first),
                       values_.data() + first * points.columns, indices_.data() + first);
        }
    });
}

void Panels::pack_all(Points points, int threads) {
    std::vector<std::uint32_t> all_rows(points.rows);
    std::iota(all_rows.begin(), all_rows.end(), 0u);
    pack(points, all_rows, threads);
}

void Panels::compare(const Queries& queries, std::size_t first_panel, std::size_t last_panel,
                     NearestList* lists) const {
    const Kernels& kernel = kernels();
    const Points points = queries.points;
    for (std::size_t panel = first_panel; panel < last_panel; ++panel) {
        const float* values = values_.data() + panel * points.columns * kPanelPoints;
        const std::uint32_t* indices = indices_.data() + panel * kPanelPoints;
        for (std::size_t first = 0; first < queries.count; first += kTileQueries) {
            const std::size_t filled = std::min(kTileQueries, queries.count - first);
            const float* rows[kTileQueries];
            float limits[kTileQueries];
            for (std::size_t query = 0; query < kTileQueries; ++query) {
                const std::size_t source = first + (query < filled ? query : 0);
                rows[query] = points.row(queries.rows[source]);
                limits[query] = lists[source].limit();
            }
            float distances[kTileQueries * kPanelPoints];
            bool any_within[kTileQueries];
            kernel.squared_distances(rows, values, points.columns, limits, distances, any_within);
            for (std::size_t query = 0; query < filled; ++query) {
                if (!any_within[query]) continue;
                const std::uint32_t self = queries.external ? kNoIndex : queries.rows[first + query];
                offer_panel(distances + query * kPanelPoints, indices, self, lists[first + query]);
            }
        }
    }
}

}  // namespace pixelsne
