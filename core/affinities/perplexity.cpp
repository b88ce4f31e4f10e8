#include "perplexity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr int kMostSteps = 100;
constexpr double kEntropyTolerance = 1e-7;

// One row's kernel exp(-precision * gap), gap = squared distance less the smallest, so that the nearest
// neighbor always has weight 1 and nothing underflows to an empty row.
class RowKernel {
public:
    explicit RowKernel(std::size_t k) : gaps_(k), weights_(k) {}

    void read(const float* distances) {
        const double nearest = static_cast<double>(distances[0]) * distances[0];
        double total = 0.0;
        for (std::size_t rank = 0; rank < gaps_.size(); ++rank) {
            gaps_[rank] = std::max(0.0, static_cast<double>(distances[rank]) * distances[rank] - nearest);
            total += gaps_[rank];
        }
        mean_gap_ = total / static_cast<double>(gaps_.size());
    }

    // Finds the precision at which the entropy is log(perplexity), by Newton's method in the logarithm
    // of the precision, kept inside a shrinking bracket.
    void fit(double perplexity) {
        weigh(0.0);
        if (mean_gap_ == 0.0) return;  // all at one distance: equal weights whatever the precision
        const double target = std::log(perplexity);
        double low = -std::numeric_limits<double>::infinity();
        double high = std::numeric_limits<double>::infinity();
        double logarithm = -std::log(mean_gap_);
        for (int step = 0; step < kMostSteps; ++step) {
            weigh(std::exp(logarithm));
            const double excess = entropy_ - target;
            if (std::abs(excess) < kEntropyTolerance) return;
            (excess > 0.0 ? low : high) = logarithm;
            double next = logarithm + excess / std::max(spread_, 1e-12);
            next = std::clamp(next, logarithm - 3.0, logarithm + 3.0);
            if (next <= low || next >= high) next = 0.5 * (low + high);
            if (next == logarithm) return;
            logarithm = next;
        }
    }

    void add_to(float* row, double share) const {
        for (std::size_t rank = 0; rank < weights_.size(); ++rank)
            row[rank] += static_cast<float>(share * weights_[rank] / total_);
    }

private:
    // Sets the weights, their entropy, and the entropy's fall per unit of the logarithm of precision.
    void weigh(double precision) {
        total_ = 0.0;
        double first = 0.0;
        double second = 0.0;
        for (std::size_t rank = 0; rank < gaps_.size(); ++rank) {
            weights_[rank] = std::exp(-precision * gaps_[rank]);
            total_ += weights_[rank];
            first += weights_[rank] * gaps_[rank];
            second += weights_[rank] * gaps_[rank] * gaps_[rank];
        }
        const double mean = first / total_;
        entropy_ = std::log(total_) + precision * mean;
        spread_ = precision * precision * (second / total_ - mean * mean);
    }

    std::vector<double> gaps_;
    std::vector<double> weights_;
    double mean_gap_ = 0.0;
    double total_ = 0.0;
    double entropy_ = 0.0;
    double spread_ = 0.0;
};

}  // namespace

void calibrate(ArrayView<const float> distances, const std::vector<double>& perplexities, int threads,
               ProgressToken& token, ArrayView<float> conditional) {
    token.expect(distances.rows);
    const double share = 1.0 / static_cast<double>(perplexities.size());
    parallel_for(distances.rows, 256, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        RowKernel kernel(distances.columns);
        for (std::size_t row = begin; row < end; ++row) {
            std::fill_n(conditional.row(row), conditional.columns, 0.0f);
            kernel.read(distances.row(row));
            for (const double perplexity : perplexities) {
                kernel.fit(perplexity);
                kernel.add_to(conditional.row(row), share);
            }
        }
        token.advance(end - begin);
    });
}

}  // namespace pixelsne
