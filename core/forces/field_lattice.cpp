#include "field_lattice.hpp"

#include <algorithm>
#include <cmath>

#include "../field_kernels.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kNodesPerStep = 16;

// From this many points on, 64 x 64 nodes cost little.
constexpr std::size_t kManyPoints = 2048;

// The first choice that fits is taken. With up to two nodes per point, the points take more time than the nodes, so the
// nodes may be finer. Where points are sparse, forces are weak and the error is visible, so the nodes are finer there,
// too.
struct SpacingChoice {
    double share;  // of the spacing asked for
    std::size_t nodes_per_point;
};
constexpr SpacingChoice kChoices[] = {{0.5, 2}, {0.7, 2}, {1.0, 16}, {0.9, 64}};

// The spacing depends on the span where the map is tiny or exceeds max_nodes. It then changes by powers of this factor.
constexpr double kSpacingStep = 1.189207115002721;  // the fourth root of 2

// For smaller spans the kernel is K - 1, which is 0 where points coincide. The sum of K over all points would be n plus
// a variation that float precision loses. For larger spans K is more accurate.
constexpr double kMinSpanOfKernel = 4.0;

// The taps of a point at the boundary, plus a margin for rounding.
constexpr double kMargin = static_cast<double>(kTaps) + 0.01;

// More nodes than any lattice has along an axis. Larger requests are reported as this many.
constexpr double kNodeCountLimit = 4.0 * kMaxNodes;

std::size_t nodes_for(double span, double spacing) {
    const double needed = std::min(span / spacing + kMargin, kNodeCountLimit);
    auto steps = std::max(kMinNodes / kNodesPerStep, static_cast<std::size_t>(needed / kNodesPerStep) + 1);
    while (!has_small_factors(steps)) ++steps;
    return steps * kNodesPerStep;
}

// Returns the discrete spacing at which the span fits the nodes.
double spacing_for(double span, std::size_t nodes, double spacing) {
    const double needed = span / (static_cast<double>(nodes) - kMargin) / spacing;
    return spacing * std::pow(kSpacingStep, std::ceil(std::log(needed) / std::log(kSpacingStep)));
}

// Lower limits of a span: absolute, and relative to the coordinates, whose float precision cannot resolve less.
constexpr double kMinSpan = 1e-12;
constexpr double kMinRelativeSpan = 1e-6;

double span_of(float low, float high) {
    const double size = std::max(std::abs(static_cast<double>(low)), std::abs(static_cast<double>(high)));
    return std::max({kMinSpan, kMinRelativeSpan * size, static_cast<double>(high) - low});
}

double choose_spacing(const double (&spans)[2], std::size_t points, const LatticeLimits& limits) {
    const double span = std::max(spans[0], spans[1]);
    const auto [max_nodes, widest] = limits;
    // A small map has a lattice of fixed size, with a spacing as fine as that size allows.
    const std::size_t small = points >= kManyPoints ? 2 * kMinNodes : kMinNodes;
    if (nodes_for(span, widest) <= small) return std::min(widest, spacing_for(span, small, widest));
    if (nodes_for(span, widest) > max_nodes) return std::max(widest, spacing_for(span, max_nodes, widest));
    for (const SpacingChoice& choice : kChoices) {
        const double spacing = choice.share * widest;
        const std::size_t node_count = nodes_for(spans[0], spacing) * nodes_for(spans[1], spacing);
        if (node_count <= choice.nodes_per_point * points && nodes_for(span, spacing) <= max_nodes) return spacing;
    }
    return widest;
}

}  // namespace

bool has_small_factors(std::size_t number) {
    for (const std::size_t factor : {2, 3, 5}) {
        while (number % factor == 0) number /= factor;
    }
    return number == 1;
}

FieldLattice choose_lattice(const Bounds& bounds, std::size_t points, const LatticeLimits& limits, bool crowded) {
    double spans[2];
    for (int axis = 0; axis < 2; ++axis) spans[axis] = span_of(bounds.low[axis], bounds.high[axis]);
    FieldLattice lattice;
    const double span = std::max(spans[0], spans[1]);
    lattice.spacing = choose_spacing(spans, points, limits);
    if (crowded) {
        const double fine = limits.spacing / kCrowdedFactor;
        const bool fits = nodes_for(span, fine) <= limits.max_nodes;
        lattice.spacing = std::min(lattice.spacing, fits ? fine : spacing_for(span, limits.max_nodes, limits.spacing));
    }
    lattice.uses_kernel_minus_one = span < kMinSpanOfKernel;
    for (int axis = 0; axis < 2; ++axis) {
        lattice.nodes[axis] = std::min(limits.max_nodes, nodes_for(spans[axis], lattice.spacing));
        const double center = (static_cast<double>(bounds.low[axis]) + bounds.high[axis]) / 2;
        lattice.origin[axis] = center - lattice.spacing * static_cast<double>(lattice.nodes[axis] - 1) / 2;
    }
    return lattice;
}

}  // namespace pixelsne
