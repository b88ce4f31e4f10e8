// The D-Quadtree of BH-SNE: laid anew over the points' own extent, down to leaves of one point.
#pragma once

#include "quadtree.hpp"

namespace pixelsne {

// 2^31 leaves along each axis, far below what float32 positions can tell apart: only points that
// coincide for every practical purpose ever share a leaf.
LeafGrid grid_around(Positions positions, int threads);

}  // namespace pixelsne
