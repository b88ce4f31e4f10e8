// Points packed so that many queries can be compared with many points at once.
//
// A panel holds the coordinates of 32 points axis by axis, so that one vector instruction works on many points.
// compare() offers every point of a range of panels to the lists of a block of queries.
#pragma once

#include <cstdint>
#include <vector>

#include "../aligned_vector.hpp"
#include "../array_view.hpp"
#include "nearest_list.hpp"

namespace pixelsne {

// The number of queries per block. Their lists stay in the cache while they fill.
constexpr std::size_t kQueriesPerBlock = 60;

// Query points: the rows of `points` that `rows` lists.
struct Queries {
    Points points;
    const std::uint32_t* rows;
    std::size_t count;
    bool external = false;  // not among the packed points, so that no index marks the query itself
};

class Panels {
public:
    // Packs the rows of `points` that `rows` lists. compare() offers them under these indices.
    void pack(Points points, const std::vector<std::uint32_t>& rows, int threads);

    void pack_all(Points points, int threads);

    std::size_t count() const { return count_; }
    const float* values(std::size_t panel) const { return values_.data() + panel * panel_floats_; }  // (d, 32)

    // Offers the points of a range of panels to one list per query. A query is never offered to itself.
    void compare(const Queries& queries, std::size_t first_panel, std::size_t last_panel, NearestList* lists) const;

private:
    std::size_t count_ = 0;
    std::size_t panel_floats_ = 0;        // floats per panel
    AlignedVector<float> values_;         // (panels, d, 32)
    std::vector<std::uint32_t> indices_;  // (panels, 32)
};

}  // namespace pixelsne
