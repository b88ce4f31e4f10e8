// One step of the gradient descent: gains, momentum, move, recenter.
#pragma once

#include "array_view.hpp"
#include "bounds.hpp"
#include "kernels.hpp"

namespace pixelsne {

// The state of the descent, which changes in every iteration. All are (n, 2); positions and velocity in embedding
// units.
struct DescentState {
    ArrayView<float> positions;
    ArrayView<float> velocity;
    ArrayView<float> gains;
};

// Moves the points and returns the sums of their new coordinates. attraction, push: (n, 2).
CoordinateSums move_points(const StepSettings& settings, Positions attraction, Positions push, int threads,
                           DescentState& state);

// Moves the points, centers the map at 0 and returns its bounds. If a coordinate is not finite, neither are the center
// and the returned bounds along that axis.
Bounds take_step(const StepSettings& settings, Positions attraction, Positions push, int threads, DescentState& state);

}  // namespace pixelsne
