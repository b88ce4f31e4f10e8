#include "barnes_hut.hpp"

#include <limits>

#include "../bounds.hpp"

namespace pixelsne {

LeafGrid grid_around(Positions positions, int threads) {
    const Bounds bounds = find_bounds(positions, threads);
    constexpr std::uint32_t kSide = std::uint32_t{1} << kMaxLevels;
    LeafGrid grid{};
    grid.levels = kMaxLevels;
    for (int axis = 0; axis < 2; ++axis) {
        const double span = static_cast<double>(bounds.high[axis]) - static_cast<double>(bounds.low[axis]);
        grid.origin[axis] = bounds.low[axis];
        grid.unit[axis] = span > 0.0 ? span / kSide : std::numeric_limits<float>::min();
        grid.sides[axis] = kSide;
    }
    return grid;
}

}  // namespace pixelsne
