// PixelSNE-RP's search: random-projection trees for first candidates, then neighbor exploring.
#pragma once

#include <cstdint>

#include "../progress_token.hpp"
#include "neighbor_table.hpp"

namespace pixelsne {

struct ForestSettings {
    std::uint64_t seed;
    std::size_t trees;       // at least 1
    std::size_t candidates;  // points a block of queries is compared with before exploring, about
    std::size_t rounds;      // of exploring, at most
    std::size_t reach;       // neighbors of neighbors looked at: reach x reach a point
};

void find_forest_neighbors(Points points, const ForestSettings& settings, int threads, ProgressToken& token,
                           NeighborTable table);

}  // namespace pixelsne
