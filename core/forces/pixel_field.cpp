#include "pixel_field.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../bounds.hpp"
#include "outliers.hpp"

namespace pixelsne {
namespace {

// Searching for outliers pays off if the longer side of the lattice has more nodes than this.
constexpr std::size_t kCheapNodesPerSide = 128;

// Among few points, the errors of single pairs matter, and the tree is as fast.
constexpr std::size_t kFewPoints = 2048;

// With more nodes per point than this, the tree is faster (benchmarks/field_error.py has times of both).
constexpr std::size_t kSparseNodesPerPoint = 48;

// Points are crowded if the nodes they touch hold more mass than kCrowded * area, plus kCrowdedAgainstMean times the
// mean of all nodes. area: that of a node, relative to the spacing kSpacing, because a coarser node holds more mass; at
// least 1. crowding() of finished maps is 0.2 to 0.5.
constexpr double kCrowded = 1.0;
constexpr double kCrowdedAgainstMean = 2.0;

// At this theta, the error of the tree is below 1 %, like that of the field.
constexpr double kTheta = 0.3;

}  // namespace

double normalizer_of(const FieldLattice& lattice, double sum, double weight, double squares) {
    return sum - (lattice.uses_kernel_minus_one ? squares - weight * weight : squares);
}

double PixelField::repulsion(Positions positions, PointWeights weights, const LatticeLimits& limits, int threads,
                             ArrayView<float> push) {
    const Bounds box = choose_box_and_lattice(positions, limits, threads);
    used_tree_ = needs_tree(positions.rows);
    return used_tree_ ? tree_.barnes_hut(positions, weights, kTheta, threads, push)
                      : repulsion_by_field(positions, weights, box, limits, threads, push);
}

Bounds PixelField::choose_box_and_lattice(Positions positions, const LatticeLimits& limits, int threads) {
    Bounds box = find_bounds(positions, threads);
    for (int axis = 0; axis < 2; ++axis) {
        if (!std::isfinite(box.high[axis] - box.low[axis])) throw std::invalid_argument("positions must be finite");
    }
    lattice_ = choose_lattice(box, positions.rows, limits);
    if (std::max(lattice_.nodes[0], lattice_.nodes[1]) > kCheapNodesPerSide) {
        box = box_without_outliers(positions, box, threads);
        lattice_ = choose_lattice(box, positions.rows, limits);
    }
    return box;
}

bool PixelField::needs_tree(std::size_t n) const {
    const std::size_t node_count = lattice_.nodes[0] * lattice_.nodes[1];
    const bool is_sparse = node_count > kSparseNodesPerPoint * n && !may_be_sparse_;
    return n < kFewPoints || lattice_.spacing > kMaxSpacing || is_sparse;
}

bool PixelField::is_crowded(double requested_spacing, int threads) {
    // A lattice that is already finer cannot be refined again.
    if (lattice_.spacing <= requested_spacing / kCrowdedFactor) return false;
    const auto node_count = static_cast<double>(lattice_.nodes[0] * lattice_.nodes[1]);
    const double area = std::max(1.0, std::pow(lattice_.spacing / kSpacing, 2));
    const double limit = kCrowded * area + kCrowdedAgainstMean * points_.inside_weight() / node_count;
    return points_.crowding(node_values_, threads) > limit;
}

double PixelField::repulsion_by_field(Positions positions, PointWeights weights, const Bounds& box,
                                      const LatticeLimits& limits, int threads, ArrayView<float> push) {
    points_.assign(positions, weights, lattice_, box, threads);
    for (const std::uint32_t outlier : outlier_indices()) {  // bounds ignore NaN, so outliers may be NaN
        if (!std::isfinite(positions.row(outlier)[0] + positions.row(outlier)[1])) {
            throw std::invalid_argument("positions must be finite");
        }
    }
    points_.deposit(threads, node_values_);
    if (is_crowded(limits.spacing, threads)) {
        lattice_ = choose_lattice(box, positions.rows, limits, true);
        points_.assign(positions, weights, lattice_, box, threads);
        points_.deposit(threads, node_values_);
    }
    convolution_.prepare(lattice_, threads);
    convolution_.apply(node_values_, row_stride(lattice_), threads);
    for (const std::uint32_t outlier : outlier_indices()) std::fill_n(push.row(outlier), 2, 0.0f);
    const double sum = points_.interpolate(node_values_, threads, push);
    return normalizer_of(lattice_, sum, points_.inside_weight(), points_.inside_squared_weights()) +
           add_outlier_forces(positions, weights, outlier_indices(), threads, push);
}

}  // namespace pixelsne
