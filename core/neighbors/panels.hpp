// Points packed for comparing many with many.
//
// A panel holds 16 points with their coordinates side by side, axis by axis, so that one vector
// instruction works on many points. compare() offers every point of a range of panels to the lists of
// a block of queries.
#pragma once

#include <cstdint>
#include <vector>

#include "../aligned_vector.hpp"
#include "../array_view.hpp"
#include "nearest_list.hpp"

namespace pixelsne {

// Searches take so many queries at a time: their lists stay in the cache while they fill.
constexpr std::size_t kQueriesPerBlock = 60;

// Rows of `points` that look for neighbors.
struct Queries {
    Points points;
    const std::uint32_t* rows;
    std::size_t count;
    bool are_queries = false;  // not among the points that are packed, so that none is itself
};

class Panels {
public:
    // Packs the rows of `points` that `rows` names; they are offered under these numbers.
    void pack(Points points, const std::vector<std::uint32_t>& rows, int threads);

    void pack_all(Points points, int threads);

    std::size_t count() const { return count_; }
    const float* values(std::size_t panel) const { return values_.data() + panel * floats_; }  // (d, 16)

    // One list for each query, to which it is not offered itself.
    void compare(const Queries& queries, std::size_t first_panel, std::size_t last_panel, NearestList* lists) const;

private:
    std::size_t count_ = 0;
    std::size_t floats_ = 0;              // of one panel
    AlignedVector<float> values_;         // (panels, d, 16)
    std::vector<std::uint32_t> indices_;  // (panels, 16)
};

}  // namespace pixelsne
