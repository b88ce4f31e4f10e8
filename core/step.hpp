// One step of the descent: gains, momentum, move, recenter.
#pragma once

#include "array_view.hpp"
#include "kernels.hpp"

namespace pixelsne {

struct Bounds {
    float low[2];
    float high[2];
};

// Smallest and largest coordinates, NaN left aside; low > high where there are none.
Bounds find_bounds(Positions positions, int threads);

// What changes from iteration to iteration, all (n, 2), embedding units.
struct DescentState {
    ArrayView<float> positions;
    ArrayView<float> velocity;
    ArrayView<float> gains;
};

// Moves the points, centers the map at 0 and returns its bounds. attraction, push: (n, 2). A single
// coordinate that is no longer finite makes the center, and so all bounds, useless: low > high.
Bounds take_step(const StepSettings& settings, Positions attraction, Positions push, int threads, DescentState& state);

}  // namespace pixelsne
