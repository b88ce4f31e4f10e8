// The weights of quintic B-splines as polynomials, computed at compile time.
#pragma once

#include "field_kernels.hpp"

namespace pixelsne {

// weight[power][tap]: coefficients of the weights. For a point t above a node, 0 <= t < 1, tap 0 is the node kTapsBelow
// below that node, and its weight is the sum over power of weight * t^power. Rows have eight entries, for vectors; the
// last two are 0.
struct SplinePolynomials {
    float weight[kTaps][8] = {};
    float slope[kTaps][8] = {};  // derivatives with respect to t; the last power is 0
};

constexpr SplinePolynomials spline_polynomials() {
    // Each degree follows from the one below: w_k(t) = ((t + p - k) w_{k-1}(t) + (1 + k - t) w_k(t)) / p.
    double pieces[kTaps][kTaps] = {};  // tap, power
    pieces[0][0] = 1.0;
    for (std::size_t degree = 1; degree < kTaps; ++degree) {
        double next[kTaps][kTaps] = {};
        for (std::size_t tap = 0; tap <= degree; ++tap) {
            for (std::size_t power = 0; power < degree; ++power) {
                const double left = tap > 0 ? pieces[tap - 1][power] : 0.0;
                const double right = tap < degree ? pieces[tap][power] : 0.0;
                const double p = static_cast<double>(degree);
                const double k = static_cast<double>(tap);
                next[tap][power] += ((p - k) * left + (1.0 + k) * right) / p;
                next[tap][power + 1] += (left - right) / p;
            }
        }
        for (std::size_t tap = 0; tap < kTaps; ++tap) {
            for (std::size_t power = 0; power < kTaps; ++power) pieces[tap][power] = next[tap][power];
        }
    }
    SplinePolynomials polynomials;
    for (std::size_t tap = 0; tap < kTaps; ++tap) {
        for (std::size_t power = 0; power < kTaps; ++power) {
            polynomials.weight[power][tap] = static_cast<float>(pieces[tap][power]);
            if (power > 0) {
                polynomials.slope[power - 1][tap] = static_cast<float>(static_cast<double>(power) * pieces[tap][power]);
            }
        }
    }
    return polynomials;
}

}  // namespace pixelsne
