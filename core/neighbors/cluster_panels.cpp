#include "cluster_panels.hpp"

#include <limits>

#include "../parallel_for.hpp"
#include "mean_of_rows.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kClustersPerChunk = 16;

// The rounding error of a product is about a millionth of the squared lengths in it. The error may be a few thousandths
// of the limit that the product is compared with.
constexpr float kMinRelativeLimit = 1.0f / 256;

// Computes centered = row - center and returns its squared length.
float subtract_center(const float* row, const float* center, std::size_t dimensions, float* centered) {
    for (std::size_t axis = 0; axis < dimensions; ++axis) centered[axis] = row[axis] - center[axis];
    return kernels().squared_distance(row, center, dimensions);
}

std::uint32_t lowest_bit(std::uint32_t bits) { return static_cast<std::uint32_t>(__builtin_ctz(bits)); }

}  // namespace

ClusterPanels::ClusterPanels(Points sorted, const std::vector<std::uint32_t>& begin, int threads, ProgressToken& token)
    : sorted_(sorted), begin_(begin), panel_floats_((1 + sorted.columns) * kPanelPoints) {
    const std::size_t clusters = begin.size() - 1;
    first_panel_.resize(clusters + 1);
    for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
        first_panel_[cluster + 1] =
            first_panel_[cluster] + chunk_count(begin[cluster + 1] - begin[cluster], kPanelPoints);
    }
    values_.resize(first_panel_.back() * panel_floats_);
    centers_.resize(clusters * sorted.columns);
    radii_.resize(clusters);
    parallel_for(clusters, kClustersPerChunk, threads, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t cluster = first; cluster < last; ++cluster) pack(cluster);
        token.throw_if_cancelled();
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
    std::vector<float> centered(d);
    for (std::size_t panel = first_panel_[cluster]; panel < first_panel_[cluster + 1]; ++panel) {
        float* values = values_.data() + panel * panel_floats_;
        for (std::size_t lane = 0; lane < kPanelPoints; ++lane) {
            const std::size_t row = first + (panel - first_panel_[cluster]) * kPanelPoints + lane;
            values[lane] = -std::numeric_limits<float>::infinity();
            if (row >= last) continue;
            const float norm = subtract_center(sorted_.row(row), center, d, centered.data());
            radii_[cluster] = std::max(radii_[cluster], norm);
            values[lane] = -0.5f * norm;
            for (std::size_t axis = 0; axis < d; ++axis) values[(1 + axis) * kPanelPoints + lane] = centered[axis];
        }
    }
}

void ClusterPanels::compare(std::size_t cluster, const std::vector<std::uint32_t>& slots,
                            const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                            Workspace& workspace) const {
    center_queries(cluster, slots, queries, lists, workspace)
        ? compare_by_products(cluster, queries, lists, workspace)
        : compare_by_differences(cluster, slots, queries, lists, workspace);
}

// Subtracts the cluster's center from the queries. Returns whether products are precise enough for all queries.
bool ClusterPanels::center_queries(std::size_t cluster, const std::vector<std::uint32_t>& slots,
                                   const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                                   Workspace& workspace) const {
    const std::size_t d = sorted_.columns;
    const std::size_t padded = chunk_count(queries.size(), kTileQueries) * kTileQueries;
    workspace.centered.resize(padded * d);
    workspace.norms.resize(padded);
    bool precise = true;
    for (std::size_t index = 0; index < queries.size(); ++index) {
        const float norm = subtract_center(sorted_.row(slots[queries[index]]), centers_.data() + cluster * d, d,
                                           workspace.centered.data() + index * d);
        CandidateList& list = lists[queries[index]];
        list.tighten();
        workspace.norms[index] = norm;
        precise = precise && list.limit() < std::numeric_limits<float>::infinity() &&
                  list.limit() >= kMinRelativeLimit * (norm + radii_[cluster]);
    }
    return precise;
}

void ClusterPanels::compare_by_products(std::size_t cluster, const std::vector<std::uint32_t>& queries,
                                        std::vector<CandidateList>& lists, Workspace& workspace) const {
    workspace.lower_limits.assign(workspace.norms.size(), std::numeric_limits<float>::infinity());
    for (std::size_t index = 0; index < queries.size(); ++index) {
        workspace.lower_limits[index] = 0.5f * (workspace.norms[index] - lists[queries[index]].limit());
    }
    const Kernels& kernel = kernels();
    float products[kTileQueries * kPanelPoints];
    std::uint32_t reaches_limit[kTileQueries];
    for (std::size_t panel_index = first_panel_[cluster]; panel_index < first_panel_[cluster + 1]; ++panel_index) {
        const auto start =
            static_cast<std::uint32_t>((panel_index - first_panel_[cluster]) * kPanelPoints) + begin_[cluster];
        for (std::size_t tile = 0; tile < queries.size(); tile += kTileQueries) {
            kernel.half_distance_products(workspace.centered.data() + tile * sorted_.columns, panel(panel_index),
                                          sorted_.columns, workspace.lower_limits.data() + tile, products,
                                          reaches_limit);
            for (std::size_t query = 0; query < kTileQueries; ++query) {
                if (reaches_limit[query] == 0) continue;
                CandidateList& list = lists[queries[tile + query]];
                for (std::uint32_t bits = reaches_limit[query]; bits != 0; bits &= bits - 1) {
                    const auto lane = lowest_bit(bits);
                    const float squared = workspace.norms[tile + query] - 2.0f * products[query * kPanelPoints + lane];
                    list.offer(std::max(0.0f, squared), start + lane);
                }
            }
        }
    }
}

void ClusterPanels::compare_by_differences(std::size_t cluster, const std::vector<std::uint32_t>& slots,
                                           const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                                           Workspace& workspace) const {
    const std::size_t d = sorted_.columns;
    const bool unlimited = lists[queries.front()].limit() == std::numeric_limits<float>::infinity();
    float distances[kTileQueries * kPanelPoints];
    for (std::size_t panel_index = first_panel_[cluster]; panel_index < first_panel_[cluster + 1]; ++panel_index) {
        const std::size_t start = begin_[cluster] + (panel_index - first_panel_[cluster]) * kPanelPoints;
        const std::size_t end = std::min<std::size_t>(begin_[cluster + 1], start + kPanelPoints);
        for (std::size_t tile = 0; tile < queries.size(); tile += kTileQueries) {
            const std::size_t filled = std::min(kTileQueries, queries.size() - tile);
            const float* rows[kTileQueries];
            float limits[kTileQueries];
            bool any_within[kTileQueries];
            for (std::size_t query = 0; query < kTileQueries; ++query) {
                const std::size_t source = tile + (query < filled ? query : 0);
                rows[query] = workspace.centered.data() + source * d;
                limits[query] = lists[queries[source]].limit();
            }
            kernels().squared_distances(rows, panel(panel_index) + kPanelPoints, d, limits, distances, any_within);
            for (std::size_t query = 0; query < filled; ++query) {
                if (!any_within[query]) continue;
                for (std::size_t slot = start; slot < end; ++slot) {
                    if (slot == slots[queries[tile + query]]) continue;
                    lists[queries[tile + query]].offer(distances[query * kPanelPoints + slot - start],
                                                       static_cast<std::uint32_t>(slot));
                }
            }
        }
        if (unlimited) {
            for (const std::uint32_t query : queries) lists[query].tighten();
        }
    }
}

}  // namespace pixelsne
