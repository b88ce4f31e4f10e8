// One step of the descent: gains, momentum, move, recenter.
#pragma once

#include "array_view.hpp"
#include "bounds.hpp"
#include "kernels.hpp"

namespace pixelsne {

// What changes from iteration to iteration, all (n, 2), embedding units.
struct DescentState {
    ArrayView<float> positions;
    ArrayView<float> velocity;
    ArrayView<float> gains;
};

// Moves the points and returns the sums of where they are then. attraction, push: (n, 2).
CoordinateSums move_points(const StepSettings& settings, Positions attraction, Positions push, int threads,
                           DescentState& state);

// Shifts the map so that `center` comes to 0, and returns its bounds.
Bounds recenter(ArrayView<float> positions, const float (&center)[2], int threads);

// Moves the points, centers the map at 0 and returns its bounds. A single coordinate that is no longer finite makes
// the center, and so all bounds, useless: low > high.
Bounds take_step(const StepSettings& settings, Positions attraction, Positions push, int threads, DescentState& state);

}  // namespace pixelsne
