// The neighbor search of PixelSNE-RP: random-projection trees find candidates, then neighbor exploring improves them.
#pragma once

#include <cstdint>

#include "../progress_token.hpp"
#include "neighbor_table.hpp"

namespace pixelsne {

struct ForestSettings {
    std::uint64_t seed;
    std::size_t trees;       // at least 1
    std::size_t candidates;  // approximate number of points that a block of queries is compared with before exploring
    std::size_t rounds;      // upper limit of the rounds of exploring
    std::size_t reach;       // explore reach x reach neighbors of neighbors per point
};

void find_forest_neighbors(Points points, const ForestSettings& settings, int threads, ProgressToken& token,
                           NeighborTable table);

}  // namespace pixelsne
