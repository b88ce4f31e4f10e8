// Clusters of points packed once, for comparing queries with one cluster after another.
//
// Coordinates are relative to the cluster's center. So the product form of a squared distance,
// |q|^2 + |p|^2 - 2 q.p, loses at most what is small against the cluster's radius and the query's
// distance from it; where that is not small against the query's limit, differences are taken instead.
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
    // sorted: the points in the order of the clusters; must outlive this.
    ClusterPanels(Points sorted, const std::vector<std::uint32_t>& begin, int threads, ProgressToken& token);

    // (clusters, d): the means
    Points centers() const { return {centers_.data(), begin_.size() - 1, sorted_.columns}; }

    // Buffers of compare(), kept from call to call.
    struct Workspace {
        AlignedVector<float> moved;  // (queries, d) relative to the cluster's center
        std::vector<float> norms;    // (queries) their squared lengths
        std::vector<float> bounds;   // (queries) for the kernel to compare with
    };

    // Offers a cluster's points to lists[query] for each of `queries`, the point at places[query] in the order of the
    // clusters. A query is not offered to itself; while its list has no limit its own cluster may be `cluster`.
    void compare(std::size_t cluster, const std::vector<std::uint32_t>& places,
                 const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                 Workspace& workspace) const;

private:
    void pack(std::size_t cluster);
    bool move_queries(std::size_t cluster, const std::vector<std::uint32_t>& places,
                      const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                      Workspace& workspace) const;
    void compare_by_products(std::size_t cluster, const std::vector<std::uint32_t>& queries,
                             std::vector<CandidateList>& lists, Workspace& workspace) const;
    void compare_by_differences(std::size_t cluster, const std::vector<std::uint32_t>& places,
                                const std::vector<std::uint32_t>& queries, std::vector<CandidateList>& lists,
                                Workspace& workspace) const;
    const float* panel(std::size_t number) const { return values_.data() + number * floats_; }

    Points sorted_;
    const std::vector<std::uint32_t>& begin_;
    std::size_t floats_;                    // of one panel
    std::vector<std::size_t> first_panel_;  // (clusters + 1)
    std::vector<float> centers_;            // (clusters, d)
    std::vector<float> radii_;              // (clusters) largest squared distance from the center
    AlignedVector<float> values_;           // (panels, 1 + d, 16), see Kernels::products
};

}  // namespace pixelsne
