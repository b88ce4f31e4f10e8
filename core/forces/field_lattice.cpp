#include "field_lattice.hpp"

#include <algorithm>
#include <cmath>

#include "../field_kernels.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kNodesPerStep = 16;

// With this many points 64 x 64 nodes cost little.
constexpr std::size_t kManyPoints = 2048;

// The first that fits is taken. Up to two nodes a point, the points cost more than the nodes, which may as
// well be finer. Where points are sparse, forces are weak and the error shows: there, too, nodes are finer.
struct SpacingChoice {
    double share;  // of kSpacing
    std::size_t nodes_per_point;
};
constexpr SpacingChoice kChoices[] = {{0.5, 2}, {0.7, 2}, {1.0, 16}, {0.9, 64}};

// A spacing that follows the map, because the map is tiny or beyond most_nodes, moves by this factor.
constexpr double kSpacingStep = 1.189207115002721;  // the fourth root of 2

// Below this span the sum over all points of K is n and a variation that float would swallow, so the
// kernel is K - 1, which is 0 where points coincide; above it K is the more accurate one.
constexpr double kSpanOfDifferences = 4.0;

// The taps around a point at the border, and a little for rounding.
constexpr double kBorder = static_cast<double>(kTaps) + 0.01;

// More nodes a side than any lattice has; larger requests are reported as this many.
constexpr double kMoreThanEnough = 4.0 * kMostNodes;

std::size_t nodes_for(double span, double spacing) {
    const double wanted = std::min(span / spacing + kBorder, kMoreThanEnough);
    auto steps = std::max(kFewestNodes / kNodesPerStep, static_cast<std::size_t>(wanted / kNodesPerStep) + 1);
    while (!has_small_factors(steps)) ++steps;
    return steps * kNodesPerStep;
}

// The spacing on the ladder at which span fits into the nodes.
double spacing_for(double span, std::size_t nodes) {
    const double wanted = span / (static_cast<double>(nodes) - kBorder) / kSpacing;
    return kSpacing * std::pow(kSpacingStep, std::ceil(std::log(wanted) / std::log(kSpacingStep)));
}

// Stands in for a span of zero; and what floats of a size cannot tell apart is no span either.
constexpr double kSmallestSpan = 1e-12;
constexpr double kSmallestShare = 1e-6;

double span_of(float low, float high) {
    const double size = std::max(std::abs(static_cast<double>(low)), std::abs(static_cast<double>(high)));
    return std::max({kSmallestSpan, kSmallestShare * size, static_cast<double>(high) - low});
}

double choose_spacing(const double (&spans)[2], std::size_t points, std::size_t most_nodes) {
    const double span = std::max(spans[0], spans[1]);
    // A small map has a lattice of fixed size, fine as it may be.
    const std::size_t small = points >= kManyPoints ? 2 * kFewestNodes : kFewestNodes;
    if (nodes_for(span, kSpacing) <= small) return std::min(kSpacing, spacing_for(span, small));
    if (nodes_for(span, kSpacing) > most_nodes) return std::max(kSpacing, spacing_for(span, most_nodes));
    for (const SpacingChoice& choice : kChoices) {
        const double spacing = choice.share * kSpacing;
        const std::size_t nodes = nodes_for(spans[0], spacing) * nodes_for(spans[1], spacing);
        if (nodes <= choice.nodes_per_point * points && nodes_for(span, spacing) <= most_nodes) return spacing;
    }
    return kSpacing;
}

}  // namespace

bool has_small_factors(std::size_t number) {
    for (const std::size_t factor : {2, 3, 5}) {
        while (number % factor == 0) number /= factor;
    }
    return number == 1;
}

FieldLattice choose_lattice(const Bounds& bounds, std::size_t points, std::size_t most_nodes, bool crowded) {
    double spans[2];
    for (int axis = 0; axis < 2; ++axis) spans[axis] = span_of(bounds.low[axis], bounds.high[axis]);
    FieldLattice lattice;
    const double span = std::max(spans[0], spans[1]);
    lattice.spacing = choose_spacing(spans, points, most_nodes);
    if (crowded) {
        const bool fits = nodes_for(span, kFineSpacing) <= most_nodes;
        lattice.spacing = std::min(lattice.spacing, fits ? kFineSpacing : spacing_for(span, most_nodes));
    }
    lattice.differences = span < kSpanOfDifferences;
    for (int axis = 0; axis < 2; ++axis) {
        lattice.nodes[axis] = std::min(most_nodes, nodes_for(spans[axis], lattice.spacing));
        const double center = (static_cast<double>(bounds.low[axis]) + bounds.high[axis]) / 2;
        lattice.origin[axis] = center - lattice.spacing * static_cast<double>(lattice.nodes[axis] - 1) / 2;
    }
    return lattice;
}

}  // namespace pixelsne
