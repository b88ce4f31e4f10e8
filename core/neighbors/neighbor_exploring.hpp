// "The neighbors of my neighbors are also likely to be my neighbors."
#pragma once

#include "../progress_token.hpp"
#include "key_rows.hpp"

namespace pixelsne {

// Offers every point the nearest `reach` neighbors of its nearest `reach` neighbors, from the lists in
// `before`, and writes the better lists to `after`. Returns the share of entries that are new.
double explore_neighbors(Points points, std::size_t k, std::size_t reach, int threads, ProgressToken& token,
                         const KeyRows& before, KeyRows& after);

}  // namespace pixelsne
