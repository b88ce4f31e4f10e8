// Neighbor exploring: the neighbors of a point's neighbors are likely to be its own neighbors.
#pragma once

#include "../progress_token.hpp"
#include "key_rows.hpp"

namespace pixelsne {

// Offers every point the nearest `reach` neighbors of its nearest `reach` neighbors, from the lists in `before`, and
// writes the improved lists to `after`. Returns the share of entries that are new.
double explore_neighbors(Points points, std::size_t k, std::size_t reach, int threads, ProgressToken& token,
                         const KeyRows& before, KeyRows& after);

}  // namespace pixelsne
