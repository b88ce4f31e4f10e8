#include "placing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../parallel_for.hpp"
#include "map_field.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kRowsPerChunk = 64;

// The number of nearest neighbors whose positions are tried as a start, in addition to the weighted mean of all
// neighbors.
constexpr std::size_t kStarts = 10;

constexpr int kMaxSteps = 200;
constexpr int kMaxHalvings = 12;
constexpr double kMinStep = 1e-3;  // embedding units; a hundredth of a pixel in a map of 100 units on 1,024 pixels

struct Attraction {
    double cost;      // sum of p log(1 + d2)
    double force[2];  // sum of p (y - y_j) / (1 + d2): half the cost's gradient
    double weight;    // sum of p / (1 + d2)
};

// Finds the position of one new point.
class PointOptimizer {
public:
    PointOptimizer(Positions map, const MapField& field, const std::int32_t* neighbors, const float* affinities,
                   std::size_t k)
        : map_(map), field_(field), neighbors_(neighbors), affinities_(affinities), k_(k) {}

    void optimize(float* placed) {
        choose_start();
        for (int step = 0; step < kMaxSteps && take_step(); ++step) {
        }
        placed[0] = static_cast<float>(position_[0]);
        placed[1] = static_cast<float>(position_[1]);
    }

private:
    Attraction attraction_at(const double* position) const {
        Attraction attraction{0.0, {0.0, 0.0}, 0.0};
        for (std::size_t rank = 0; rank < k_; ++rank) {
            const float* neighbor = map_.row(static_cast<std::size_t>(neighbors_[rank]));
            const double x = position[0] - neighbor[0];
            const double y = position[1] - neighbor[1];
            const double squared = x * x + y * y;
            const double weight = affinities_[rank] / (1.0 + squared);
            attraction.cost += affinities_[rank] * std::log1p(squared);
            attraction.force[0] += weight * x;
            attraction.force[1] += weight * y;
            attraction.weight += weight;
        }
        return attraction;
    }

    double cost_at(const double* position) const {
        return attraction_at(position).cost + std::log(field_.at(position).sum);
    }

    void choose_start() {
        double mean[2] = {0.0, 0.0};
        for (std::size_t rank = 0; rank < k_; ++rank) {
            const float* neighbor = map_.row(static_cast<std::size_t>(neighbors_[rank]));
            for (int axis = 0; axis < 2; ++axis) mean[axis] += static_cast<double>(affinities_[rank]) * neighbor[axis];
        }
        std::copy_n(mean, 2, position_);
        cost_ = std::numeric_limits<double>::infinity();
        move_if_better(mean);
        for (std::size_t rank = 0; rank < std::min(k_, kStarts); ++rank) {
            const float* neighbor = map_.row(static_cast<std::size_t>(neighbors_[rank]));
            const double candidate[2] = {neighbor[0], neighbor[1]};
            move_if_better(candidate);
        }
    }

    bool move_if_better(const double* candidate) {
        const double cost = cost_at(candidate);
        if (!(cost < cost_)) return false;
        cost_ = cost;
        std::copy_n(candidate, 2, position_);
        return true;
    }

    // Steps to the minimum of a quadratic upper bound of the attraction (a majorizer). Halves the step while the total
    // cost does not decrease.
    bool take_step() {
        const Attraction attraction = attraction_at(position_);
        const FieldValue field = field_.at(position_);
        double step[2];
        for (int axis = 0; axis < 2; ++axis) {
            step[axis] = -(attraction.force[axis] + 0.5 * field.slope[axis] / field.sum) / attraction.weight;
        }
        for (int halving = 0; halving < kMaxHalvings; ++halving) {
            if (!(std::hypot(step[0], step[1]) > kMinStep)) return false;
            const double candidate[2] = {position_[0] + step[0], position_[1] + step[1]};
            if (move_if_better(candidate)) return true;
            step[0] *= 0.5;
            step[1] *= 0.5;
        }
        return false;
    }

    Positions map_;
    const MapField& field_;
    const std::int32_t* neighbors_;
    const float* affinities_;
    std::size_t k_;
    double position_[2] = {0.0, 0.0};
    double cost_ = 0.0;
};

}  // namespace

void place_new_points(Positions map, PointWeights weights, const NewPoints& points, int threads, ProgressToken& token,
                      ArrayView<float> placed) {
    const MapField field(map, weights, threads);
    token.expect(points.neighbors.rows);
    parallel_for(points.neighbors.rows, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t row = begin; row < end; ++row) {
            PointOptimizer(map, field, points.neighbors.row(row), points.affinities.row(row), points.neighbors.columns)
                .optimize(placed.row(row));
        }
        token.advance(end - begin);
    });
}

}  // namespace pixelsne
