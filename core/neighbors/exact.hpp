// Exact neighbors by brute force.
#pragma once

#include "../progress_token.hpp"
#include "neighbor_table.hpp"

namespace pixelsne {

void find_exact_neighbors(Points points, int threads, ProgressToken& token, NeighborTable table);

// Finds the neighbors of queries (m, d) among points (n, d); table: (m, k).
void find_neighbors_of_queries(Points queries, Points points, int threads, ProgressToken& token, NeighborTable table);

}  // namespace pixelsne
