// Clusters of points, packed once, so that queries can be compared with one cluster after another.
//
// Coordinates are relative to the cluster's center. A squared distance is computed as a product, |q|^2 + |p|^2 - 2 q.p.
// Its rounding error is small relative to the cluster's radius and the query's distance from the center. Where that
// error is not small relative to the query's limit, compare() computes differences instead.
#pragma once

#include <cstdint>
#include <vector>

#include "../aligned_vector.hpp"
#include "../array_view.hpp"
#include "../kernels.hpp"
#include "../progress_token.hpp"
#include "candidate_list.hpp"
#include "clusters.hpp"

namespace pixelsne {

class ClusterPanels {
public:
    // sorted: the points in cluster order; it must outlive this object.
    ClusterPanels(Points sorted, const std::vector<std::uint32_t>& begin, int threads, ProgressToken& token);

    // Frees the panels. Only the centers remain.
    void free_panels() { values_ = AlignedVector<float>(); }

    // Returns (clusters, d) means.
    Points centers() const { return {centers_.data(), begin_.size() - 1, sorted_.columns}; }

    // Buffers of compare(), reused from call to call.
    struct Workspace {
        AlignedVector<float> centered;    // (queries, d) relative to the cluster's center
        std::vector<float> norms;         // (queries) squared lengths of `centered`
        std::vector<float> lower_limits;  // (queries) of Kernels::half_distance_products
    };

    // Offers the points of a cluster to lists[query] for each of `queries`. slots[query] is the query's slot in cluster
    // order. A query is never offered to itself. A cluster may be compared with its own points only while their lists
    // have no limit.
    void compare(std::size_t cluster, const std::vector<std::uint32_t>& slots,
                 const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                 Workspace& workspace) const;

private:
    void pack(std::size_t cluster);
    bool center_queries(std::size_t cluster, const std::vector<std::uint32_t>& slots,
                        const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                        Workspace& workspace) const;
    void compare_by_products(std::size_t cluster, const std::vector<std::uint32_t>& queries,
                             std::vector<CandidateList>& lists, Workspace& workspace) const;
    void compare_by_differences(std::size_t cluster, const std::vector<std::uint32_t>& slots,
                                const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                                Workspace& workspace) const;
    const float* panel(std::size_t index) const { return values_.data() + index * panel_floats_; }

    Points sorted_;
    const std::vector<std::uint32_t>& begin_;
    std::size_t panel_floats_;              // floats per panel
    std::vector<std::size_t> first_panel_;  // (clusters + 1)
    std::vector<float> centers_;            // (clusters, d)
    std::vector<float> radii_;              // (clusters) largest squared distance from the center
    AlignedVector<float> values_;           // (panels, 1 + d, 32), see Kernels::half_distance_products
};

}  // namespace pixelsne
