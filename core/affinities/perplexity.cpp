#include "perplexity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../aligned_vector.hpp"
#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr int kMaxSteps = 100;
constexpr double kEntropyTolerance = 1e-6;  // float weights are not more precise

// At a higher precision, only the nearest neighbors have any weight. The precision itself must remain a float.
constexpr double kMaxLogPrecision = 80.0;

// The kernel of one row: exp(-precision * gap). The gap is the squared distance minus the smallest one, so the nearest
// neighbor always has weight 1, and a row never underflows to zero. Gaps are relative to their mean, so their scale
// cannot overflow floats.
class RowKernel {
public:
    explicit RowKernel(std::size_t k) : k_(k), gaps_(k + kMaxVectorFloats), weights_(k + kMaxVectorFloats) {}

    void load(const float* distances) {
        const double nearest = static_cast<double>(distances[0]) * distances[0];
        const auto gap = [&](std::size_t rank) {
            return std::max(0.0, static_cast<double>(distances[rank]) * distances[rank] - nearest);
        };
        double total = 0.0;
        for (std::size_t rank = 0; rank < k_; ++rank) total += gap(rank);
        all_equal_ = total == 0.0;
        const double scale = all_equal_ ? 0.0 : static_cast<double>(k_) / total;
        for (std::size_t rank = 0; rank < k_; ++rank) gaps_[rank] = static_cast<float>(gap(rank) * scale);
    }

    // Finds the precision at which the entropy is log(perplexity). Uses Newton's method on the logarithm of the
    // precision and falls back to bisecting a bracket.
    void fit(double perplexity) {
        if (all_equal_) return set_precision(0.0);  // all weights are equal at any precision
        const double target = std::log(perplexity);
        double low = -std::numeric_limits<double>::infinity();
        double high = std::numeric_limits<double>::infinity();
        double log_precision = 0.0;
        for (int step = 0; step < kMaxSteps; ++step) {
            set_precision(std::exp(log_precision));
            const double excess = entropy_ - target;
            if (std::abs(excess) < kEntropyTolerance || (excess > 0.0 && log_precision >= kMaxLogPrecision)) return;
            (excess > 0.0 ? low : high) = log_precision;
            double next = log_precision + excess / std::max(entropy_slope_, 1e-12);
            next = std::clamp(next, log_precision - 3.0, std::min(log_precision + 3.0, kMaxLogPrecision));
            if (next <= low || next >= high) next = 0.5 * (low + high);
            if (next == log_precision) return;
            log_precision = next;
        }
    }

    void add_to(float* row, double share) const {
        const auto factor = static_cast<float>(share / total_);
        for (std::size_t rank = 0; rank < k_; ++rank) row[rank] += factor * weights_[rank];
    }

private:
    // Sets the weights, their entropy, and the decrease of the entropy per unit of the logarithm of the precision.
    void set_precision(double precision) {
        double sums[3];
        kernels().gaussian_weights(gaps_.data(), k_, static_cast<float>(precision), weights_.data(), sums);
        total_ = sums[0];
        const double mean = sums[1] / total_;
        entropy_ = std::log(total_) + precision * mean;
        entropy_slope_ = precision * precision * (sums[2] / total_ - mean * mean);
    }

    std::size_t k_;
    AlignedVector<float> gaps_;
    AlignedVector<float> weights_;
    bool all_equal_ = false;
    double total_ = 0.0;
    double entropy_ = 0.0;
    double entropy_slope_ = 0.0;
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
            kernel.load(distances.row(row));
            for (const double perplexity : perplexities) {
                kernel.fit(perplexity);
                kernel.add_to(conditional.row(row), share);
            }
        }
        token.advance(end - begin);
    });
}

}  // namespace pixelsne
