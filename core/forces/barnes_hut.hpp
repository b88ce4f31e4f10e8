// The D-Quadtree of BH-SNE: each iteration rebuilds it over the extent of the points, down to leaves of one point.
#pragma once

#include "quadtree.hpp"

namespace pixelsne {

// Returns a grid of 2^31 leaves along each axis. Points share a leaf only if their distance is below that fraction of
// the map's extent.
LeafGrid grid_around(Positions positions, int threads);

}  // namespace pixelsne
