// See field_kernels.hpp. Compiled once per instruction set, with PIXELSNE_ISA set to its name.
#include "field_kernels.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "spline.hpp"

namespace pixelsne {
namespace PIXELSNE_ISA {
namespace {

#include "lines.hpp"

alignas(32) constexpr SplinePolynomials kSpline = spline_polynomials();

inline Floats8 polynomial(const float (&coefficients)[kTaps][8], std::size_t degree, float t) {
    Floats8 value = load(coefficients[degree]);
    for (std::size_t power = degree; power-- > 0;) value = value * t + load(coefficients[power]);
    return value;
}

// The nodes that a point touches along one axis.
struct Footprint {
    std::size_t first;
    float t;

    explicit Footprint(float coordinate) {
        const auto node = static_cast<std::int32_t>(coordinate);  // coordinates are positive
        first = static_cast<std::size_t>(node) - kTapsBelow;
        t = coordinate - static_cast<float>(node);
    }

    Floats8 weights() const { return polynomial(kSpline.weight, kTaps - 1, t); }
    Floats8 slopes() const { return polynomial(kSpline.slope, kTaps - 2, t); }
};

template <bool kWeighted>
void deposit_points(const LatticePoint* points, std::size_t count, const float* weights, std::size_t first_row,
                    std::size_t stride, float* rows) {
    for (const LatticePoint* point = points; point != points + count; ++point) {
        const Footprint across(point->x);
        const Footprint down(point->y);
        const Floats8 weights_x = kWeighted ? across.weights() * weights[point->index] : across.weights();
        const Floats8 weights_y = down.weights();
        float* target = rows + (down.first - first_row) * stride + across.first;
        for (std::size_t tap = 0; tap < kTaps; ++tap, target += stride) {
            store(target, load(target) + weights_x * weights_y[tap]);
        }
    }
}

void deposit(const LatticePoint* points, std::size_t count, const float* weights, std::size_t first_row,
             std::size_t stride, float* rows) {
    weights == nullptr ? deposit_points<false>(points, count, weights, first_row, stride, rows)
                       : deposit_points<true>(points, count, weights, first_row, stride, rows);
}

template <bool kWeighted>
double interpolate_points(const LatticePoint* points, std::size_t count, const float* weights, const float* lattice,
                          std::size_t stride, float gradient_scale, float* push) {
    double total = 0.0;
    for (const LatticePoint* point = points; point != points + count; ++point) {
        const Footprint across(point->x);
        const Footprint down(point->y);
        const Floats8 weights_y = down.weights();
        const Floats8 slopes_y = down.slopes();
        const float* source = lattice + down.first * stride + across.first;
        Floats8 value = {};
        Floats8 value_by_y = {};
        for (std::size_t tap = 0; tap < kTaps; ++tap, source += stride) {
            const Floats8 node_values = load(source);
            value += node_values * weights_y[tap];
            value_by_y += node_values * slopes_y[tap];
        }
        const Floats8 weights_x = across.weights();
        const auto at_point = static_cast<double>(sum(value * weights_x));
        total += kWeighted ? weights[point->index] * at_point : at_point;
        push[2 * std::size_t{point->index}] = gradient_scale * sum(value * across.slopes());
        push[2 * std::size_t{point->index} + 1] = gradient_scale * sum(value_by_y * weights_x);
    }
    return total;
}

double interpolate(const LatticePoint* points, std::size_t count, const float* weights, const float* lattice,
                   std::size_t stride, float gradient_scale, float* push) {
    return weights == nullptr ? interpolate_points<false>(points, count, weights, lattice, stride, gradient_scale, push)
                              : interpolate_points<true>(points, count, weights, lattice, stride, gradient_scale, push);
}

#include "fourier_passes.hpp"

}  // namespace

extern const FieldKernels field_table;
const FieldKernels field_table = {deposit, interpolate, transform, forward_columns, convolve_rows, backward_columns};

}  // namespace PIXELSNE_ISA
}  // namespace pixelsne
