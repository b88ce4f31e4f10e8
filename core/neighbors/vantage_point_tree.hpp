// The vantage-point tree of BH-SNE and PixelSNE-VP. The search is exact.
#pragma once

#include <cstdint>

#include "../progress_token.hpp"
#include "neighbor_table.hpp"

namespace pixelsne {

void find_vantage_point_neighbors(Points points, std::uint64_t seed, int threads, ProgressToken& token,
                                  NeighborTable table);

}  // namespace pixelsne
