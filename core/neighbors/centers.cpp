#include "centers.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "../kernels.hpp"
#include "../parallel_for.hpp"
#include "mean_of_rows.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kRowsPerChunk = 40 * kTileQueries;

}  // namespace

Centers::Centers(Points points, const Rows& rows) : values_(rows.size() * points.columns), columns_(points.columns) {
    for (std::size_t part = 0; part < rows.size(); ++part) {
        std::copy_n(points.row(rows[part]), columns_, values_.data() + part * columns_);
    }
    pack();
}

void Centers::assign(Points points, const std::uint32_t* rows, std::size_t count, int threads, ProgressToken& token,
                     std::uint32_t* part_of) const {
    parallel_for(count, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t first = begin; first < end; first += kTileQueries) {
            assign_tile(points, rows + first, std::min(kTileQueries, end - first), part_of + first);
        }
        token.throw_if_cancelled();
    });
}

void Centers::move_to_means(Points points, const Rows& rows, const Rows& part_of) {
    std::vector<MeanOfRows> means(count(), MeanOfRows(columns_));
    for (std::size_t index = 0; index < rows.size(); ++index) means[part_of[index]].add(points.row(rows[index]));
    for (std::size_t part = 0; part < count(); ++part) {
        if (means[part].rows() > 0) means[part].finish(values_.data() + part * columns_);
    }
    pack();
}

void Centers::sort_by_tour() {
    std::vector<float> sorted;
    Rows remaining(count());
    std::iota(remaining.begin(), remaining.end(), 0u);
    for (std::size_t next = 0; !remaining.empty();) {
        const float* center = view().row(remaining[next]);
        sorted.insert(sorted.end(), center, center + columns_);
        remaining.erase(remaining.begin() + static_cast<std::ptrdiff_t>(next));
        if (!remaining.empty()) next = nearest_of(center, remaining);
    }
    values_.swap(sorted);
    pack();
}

void Centers::pack() { panels_.pack_all(view(), 1); }

std::size_t Centers::nearest_of(const float* center, const Rows& candidates) const {
    std::vector<float> distances(candidates.size());
    kernels().squared_distances_to_rows(center, values_.data(), columns_, candidates.data(), candidates.size(),
                                        distances.data());
    return static_cast<std::size_t>(std::min_element(distances.begin(), distances.end()) - distances.begin());
}

void Centers::assign_tile(Points points, const std::uint32_t* rows, std::size_t filled, std::uint32_t* part_of) const {
    const float* queries[kTileQueries];
    float nearest[kTileQueries];
    for (std::size_t query = 0; query < kTileQueries; ++query) {
        queries[query] = points.row(rows[query < filled ? query : 0]);
        nearest[query] = std::numeric_limits<float>::infinity();
    }
    std::fill_n(part_of, filled, 0u);
    float distances[kTileQueries * kPanelPoints];
    bool any_within[kTileQueries];
    for (std::size_t panel = 0; panel < panels_.count(); ++panel) {
        kernels().squared_distances(queries, panels_.values(panel), columns_, nearest, distances, any_within);
        const std::size_t first = panel * kPanelPoints;
        for (std::size_t query = 0; query < filled; ++query) {
            if (!any_within[query]) continue;
            const float* row = distances + query * kPanelPoints;
            const float* least = std::min_element(row, row + std::min(kPanelPoints, count() - first));
            if (*least >= nearest[query]) continue;
            nearest[query] = *least;
            part_of[query] = static_cast<std::uint32_t>(first + static_cast<std::size_t>(least - row));
        }
    }
}

}  // namespace pixelsne
