#include "cluster_panels.hpp"

#include <limits>

#include "../parallel_for.hpp"
#include "mean_of_rows.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kClustersPerChunk = 16;

// A product's rounding error is about a millionth of the squares it is made of. It may reach a few
// thousandths of the limit it is compared with.
constexpr float kLeastShare = 1.0f / 256;

// moved = row - center; returns its squared length.
float move_row(const float* row, const float* center, std::size_t dimensions, float* moved) {
    for (std::size_t axis = 0; axis < dimensions; ++axis) moved[axis] = row[axis] - center[axis];
    return kernels().squared_distance(row, center, dimensions);
}

std::uint32_t lowest_bit(std::uint32_t bits) { return static_cast<std::uint32_t>(__builtin_ctz(bits)); }

}  // namespace

ClusterPanels::ClusterPanels(Points sorted, const std::vector<std::uint32_t>& begin, int threads, ProgressToken& token)
    : sorted_(sorted), begin_(begin), floats_((1 + sorted.columns) * kPanelPoints) {
    const std::size_t clusters = begin.size() - 1;
    first_panel_.resize(clusters + 1);
    for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
        first_panel_[cluster + 1] =
            first_panel_[cluster] + chunk_count(begin[cluster + 1] - begin[cluster], kPanelPoints);
    }
    values_.resize(first_panel_.back() * floats_);
    centers_.resize(clusters * sorted.columns);
    radii_.resize(clusters);
    parallel_for(clusters, kClustersPerChunk, threads, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t cluster = first; cluster < last; ++cluster) pack(cluster);
        token.advance(0);
    });
}

void ClusterPanels::pack(std::size_t cluster) {
    const std::size_t d = sorted_.columns;
    const std::size_t first = begin_[cluster];
    const std::size_t last = begin_[cluster + 1];
    float* center = centers_.data() + cluster * d;
    MeanOfRows mean(d);
    for (std::size_t row = first; row < last; ++row) mean.add(sorted_.row(row));
    mean.finish(center);
    std::vector<float> moved(d);
    for (std::size_t panel = first_panel_[cluster]; panel < first_panel_[cluster + 1]; ++panel) {
        float* values = values_.data() + panel * floats_;
        for (std::size_t lane = 0; lane < kPanelPoints; ++lane) {
            const std::size_t row = first + (panel - first_panel_[cluster]) * kPanelPoints + lane;
            values[lane] = -std::numeric_limits<float>::infinity();
            if (row >= last) continue;
            const float norm = move_row(sorted_.row(row), center, d, moved.data());
            radii_[cluster] = std::max(radii_[cluster], norm);
            values[lane] = -0.5f * norm;
            for (std::size_t axis = 0; axis < d; ++axis) values[(1 + axis) * kPanelPoints + lane] = moved[axis];
        }
    }
}

void ClusterPanels::compare(std::size_t cluster, const std::vector<std::uint32_t>& places,
                            const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                            Workspace& workspace) const {
    move_queries(cluster, places, queries, lists, workspace)
        ? compare_by_products(cluster, queries, lists, workspace)
        : compare_by_differences(cluster, places, queries, lists, workspace);
}

// Returns whether products are precise enough for all queries.
bool ClusterPanels::move_queries(std::size_t cluster, const std::vector<std::uint32_t>& places,
                                 const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                                 Workspace& workspace) const {
    const std::size_t d = sorted_.columns;
    const std::size_t padded = chunk_count(queries.size(), kTileQueries) * kTileQueries;
    workspace.moved.resize(padded * d);
    workspace.norms.resize(padded);
    bool precise = true;
    for (std::size_t at = 0; at < queries.size(); ++at) {
        const float norm = move_row(sorted_.row(places[queries[at]]), centers_.data() + cluster * d, d,
                                    workspace.moved.data() + at * d);
        CandidateList& list = lists[queries[at]];
        list.tighten();
        workspace.norms[at] = norm;
        precise = precise && list.limit() < std::numeric_limits<float>::infinity() &&
                  list.limit() >= kLeastShare * (norm + radii_[cluster]);
    }
    return precise;
}

void ClusterPanels::compare_by_products(std::size_t cluster, const std::vector<std::uint32_t>& queries,
                                        std::vector<CandidateList>& lists, Workspace& workspace) const {
    workspace.bounds.assign(workspace.norms.size(), std::numeric_limits<float>::infinity());
    for (std::size_t place = 0; place < queries.size(); ++place) {
        workspace.bounds[place] = 0.5f * (workspace.norms[place] - lists[queries[place]].limit());
    }
    const Kernels& kernel = kernels();
    float products[kTileQueries * kPanelPoints];
    std::uint32_t within[kTileQueries];
    for (std::size_t number = first_panel_[cluster]; number < first_panel_[cluster + 1]; ++number) {
        const auto start =
            static_cast<std::uint32_t>((number - first_panel_[cluster]) * kPanelPoints) + begin_[cluster];
        for (std::size_t tile = 0; tile < queries.size(); tile += kTileQueries) {
            kernel.products(workspace.moved.data() + tile * sorted_.columns, panel(number), sorted_.columns,
                            workspace.bounds.data() + tile, products, within);
            for (std::size_t query = 0; query < kTileQueries; ++query) {
                if (within[query] == 0) continue;
                CandidateList& list = lists[queries[tile + query]];
                for (std::uint32_t bits = within[query]; bits != 0; bits &= bits - 1) {
                    const auto lane = lowest_bit(bits);
                    const float squared = workspace.norms[tile + query] - 2.0f * products[query * kPanelPoints + lane];
                    list.offer(std::max(0.0f, squared), start + lane);
                }
            }
        }
    }
}

void ClusterPanels::compare_by_differences(std::size_t cluster, const std::vector<std::uint32_t>& places,
                                           const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                                           Workspace& workspace) const {
    const std::size_t d = sorted_.columns;
    const bool unlimited = lists[queries.front()].limit() == std::numeric_limits<float>::infinity();
    float distances[kTileQueries * kPanelPoints];
    for (std::size_t number = first_panel_[cluster]; number < first_panel_[cluster + 1]; ++number) {
        const std::size_t start = begin_[cluster] + (number - first_panel_[cluster]) * kPanelPoints;
        const std::size_t end = std::min<std::size_t>(begin_[cluster + 1], start + kPanelPoints);
        for (std::size_t tile = 0; tile < queries.size(); tile += kTileQueries) {
            const std::size_t filled = std::min(kTileQueries, queries.size() - tile);
            const float* rows[kTileQueries];
            float limits[kTileQueries];
            bool any_within[kTileQueries];
            for (std::size_t query = 0; query < kTileQueries; ++query) {
                const std::size_t real = tile + (query < filled ? query : 0);
                rows[query] = workspace.moved.data() + real * d;
                limits[query] = lists[queries[real]].limit();
            }
            kernels().squared_distances(rows, panel(number) + kPanelPoints, d, limits, distances, any_within);
            for (std::size_t query = 0; query < filled; ++query) {
                if (!any_within[query]) continue;
                for (std::size_t place = start; place < end; ++place) {
                    if (place == places[queries[tile + query]]) continue;
                    lists[queries[tile + query]].offer(distances[query * kPanelPoints + place - start],
                                                       static_cast<std::uint32_t>(place));
                }
            }
        }
        if (unlimited) {
            for (const std::uint32_t query : queries) lists[query].tighten();
        }
    }
}

}  // namespace pixelsne
