#include "pixel_field.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../bounds.hpp"
#include "outliers.hpp"

namespace pixelsne {
namespace {

// Searching for outliers pays off for larger lattices than this.
constexpr std::size_t kCheapNodes = 128;

// Among few points, the errors of single pairs matter, and the tree is as fast.
constexpr std::size_t kFewPoints = 2048;

// With more nodes per point than this, the tree is faster (benchmarks/field_error.py has times of both).
constexpr std::size_t kSparseNodesPerPoint = 48;

// Points are crowded if the nodes they touch hold more mass than kCrowded plus kCrowdedAgainstMean times the mean of
// all nodes. crowding() of finished maps is 0.2 to 0.5.
constexpr double kCrowded = 1.0;
constexpr double kCrowdedAgainstMean = 2.0;

// The error of the tree is below 1 % at this theta, as that of the field.
constexpr double kTheta = 0.3;

}  // namespace

double normalizer_of(const FieldLattice& lattice, double sum, double weight, double squares) {
    return sum - (lattice.differences ? squares - weight * weight : squares);
}

double PixelField::repulsion(Positions positions, PointWeights weights, const LatticeLimits& limits, int threads,
                             ArrayView<float> push) {
    const Bounds box = choose_box(positions, limits, threads);
    used_tree_ = needs_tree(positions.rows);
    return used_tree_ ? tree_.barnes_hut(positions, weights, kTheta, threads, push)
                      : repulsion_by_field(positions, weights, box, limits, threads, push);
}

Bounds PixelField::choose_box(Positions positions, const LatticeLimits& limits, int threads) {
    Bounds box = find_bounds(positions, threads);
    for (int axis = 0; axis < 2; ++axis) {
        if (!std::isfinite(box.high[axis] - box.low[axis])) throw std::invalid_argument("positions: finite");
    }
    lattice_ = choose_lattice(box, positions.rows, limits);
    if (std::max(lattice_.nodes[0], lattice_.nodes[1]) > kCheapNodes) {
        box = box_without_outliers(positions, box, threads);
        lattice_ = choose_lattice(box, positions.rows, limits);
    }
    return box;
}

bool PixelField::needs_tree(std::size_t n) const {
    const std::size_t nodes = lattice_.nodes[0] * lattice_.nodes[1];
    const bool is_sparse = nodes > kSparseNodesPerPoint * n && !may_be_sparse_;
    return n < kFewPoints || lattice_.spacing > kMaxSpacing || is_sparse;
}

bool PixelField::is_crowded(double spacing, int threads) {
    const auto nodes = static_cast<double>(lattice_.nodes[0] * lattice_.nodes[1]);
    const double area = std::max(1.0, std::pow(lattice_.spacing / kSpacing, 2));  // a coarse node holds more mass
    const double limit = kCrowded * area + kCrowdedAgainstMean * points_.inside_weight() / nodes;
    return lattice_.spacing > spacing / kCrowdedFactor && points_.crowding(nodes_, threads) > limit;
}

double PixelField::repulsion_by_field(Positions positions, PointWeights weights, const Bounds& box,
                                      const LatticeLimits& limits, int threads, ArrayView<float> push) {
    points_.assign(positions, weights, lattice_, box, threads);
    for (const std::uint32_t outlier : outlier_indices()) {  // bounds ignore NaN, so outliers may be NaN
        if (!std::isfinite(positions.row(outlier)[0] + positions.row(outlier)[1])) {
            throw std::invalid_argument("positions: finite");
        }
    }
    points_.deposit(threads, nodes_);
    if (is_crowded(limits.spacing, threads)) {
        lattice_ = choose_lattice(box, positions.rows, limits, true);
        points_.assign(positions, weights, lattice_, box, threads);
        points_.deposit(threads, nodes_);
    }
    convolution_.prepare(lattice_, threads);
    convolution_.apply(nodes_, row_stride(lattice_), threads);
    for (const std::uint32_t outlier : outlier_indices()) std::fill_n(push.row(outlier), 2, 0.0f);
    const double sum = points_.read(nodes_, threads, push);
    return normalizer_of(lattice_, sum, points_.inside_weight(), points_.inside_squares()) +
           add_outlier_forces(positions, weights, outlier_indices(), threads, push);
}

}  // namespace pixelsne
