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

class Panels {
public:
    // Packs the rows of `points` that `rows` names; they are offered under these numbers.
    void pack(Points points, const std::vector<std::uint32_t>& rows, int threads);

    std::size_t count() const { return count_; }
    const float* values(std::size_t panel) const { return values_.data() + panel * floats_; }  // (d, 16)

    // queries: rows of `points`, one list each. A query is not offered to itself.
    void compare(Points points, const std::uint32_t* queries, std::size_t query_count, std::size_t first_panel,
                 std::size_t last_panel, NearestList* lists) const;

private:
    std::size_t count_ = 0;
    std::size_t floats_ = 0;              // of one panel
    AlignedVector<float> values_;         // (panels, d, 16)
    std::vector<std::uint32_t> indices_;  // (panels, 16)
};

}  // namespace pixelsne
