// The P-Quadtree of PixelSNE: its leaves are the pixels of the screen.
#pragma once

#include <algorithm>

#include "quadtree.hpp"

namespace pixelsne {

constexpr std::uint32_t kMaxPixels = 65536;

// origin, unit_per_pixel: of the screen, embedding units. width, height: in pixels, 1 to kMaxPixels. The root is the
// smallest square of 2^levels pixels that contains the screen.
inline LeafGrid pixel_grid(const double* origin, const double* unit_per_pixel, std::uint32_t width,
                           std::uint32_t height) {
    LeafGrid grid{{origin[0], origin[1]}, {unit_per_pixel[0], unit_per_pixel[1]}, {width, height}, 0};
    while ((std::uint32_t{1} << grid.levels) < std::max(width, height)) ++grid.levels;
    return grid;
}

}  // namespace pixelsne
