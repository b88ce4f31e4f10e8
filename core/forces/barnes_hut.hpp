// The D-Quadtree of BH-SNE: laid anew over the points' own extent, down to leaves of one point.
#pragma once

#include "quadtree.hpp"

namespace pixelsne {

// 2^31 leaves along each axis: points share a leaf only when they lie closer together than that part
// of the map's extent.
LeafGrid grid_around(Positions positions, int threads);

}  // namespace pixelsne
