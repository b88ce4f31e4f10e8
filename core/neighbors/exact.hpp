// Every point compared with every other.
#pragma once

#include "../progress_token.hpp"
#include "neighbor_table.hpp"

namespace pixelsne {

void find_exact_neighbors(Points points, int threads, ProgressToken& token, NeighborTable table);

// Every query (m, d) compared with every point (n, d); table: (m, k).
void find_neighbors_of_queries(Points queries, Points points, int threads, ProgressToken& token, NeighborTable table);

}  // namespace pixelsne
