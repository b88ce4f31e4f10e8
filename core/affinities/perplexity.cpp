#include "perplexity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../aligned_vector.hpp"
#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr int kMostSteps = 100;
constexpr double kEntropyTolerance = 1e-6;  // what float weights can tell

// Beyond this only the nearest have any weight; the precision itself must stay a float.
constexpr double kLargestLogarithm = 80.0;

// One row's kernel exp(-precision * gap), gap = squared distance less the smallest, so that the nearest
// neighbor always has weight 1 and nothing underflows to an empty row. Gaps are in units of their mean:
// their scale must not matter to floats.
class RowKernel {
public:
    explicit RowKernel(std::size_t k) : k_(k), gaps_(k + kWidestVector), weights_(k + kWidestVector) {}

    void read(const float* distances) {
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

    // Finds the precision at which the entropy is log(perplexity), by Newton's method in the logarithm
    // of the precision, kept inside a shrinking bracket.
    void fit(double perplexity) {
        if (all_equal_) return weigh(0.0);  // equal weights whatever the precision
        const double target = std::log(perplexity);
        double low = -std::numeric_limits<double>::infinity();
        double high = std::numeric_limits<double>::infinity();
        double logarithm = 0.0;
        for (int step = 0; step < kMostSteps; ++step) {
            weigh(std::exp(logarithm));
            const double excess = entropy_ - target;
            if (std::abs(excess) < kEntropyTolerance || (excess > 0.0 && logarithm >= kLargestLogarithm)) return;
            (excess > 0.0 ? low : high) = logarithm;
            double next = logarithm + excess / std::max(spread_, 1e-12);
            next = std::clamp(next, logarithm - 3.0, std::min(logarithm + 3.0, kLargestLogarithm));
            if (next <= low || next >= high) next = 0.5 * (low + high);
            if (next == logarithm) return;
            logarithm = next;
        }
    }

    void add_to(float* row, double share) const {
        const auto factor = static_cast<float>(share / total_);
        for (std::size_t rank = 0; rank < k_; ++rank) row[rank] += factor * weights_[rank];
    }

private:
    // Sets the weights, their entropy, and the entropy's fall per unit of the logarithm of precision.
    void weigh(double precision) {
        double sums[3];
        kernels().gaussian_weights(gaps_.data(), k_, static_cast<float>(precision), weights_.data(), sums);
        total_ = sums[0];
        const double mean = sums[1] / total_;
        entropy_ = std::log(total_) + precision * mean;
        spread_ = precision * precision * (sums[2] / total_ - mean * mean);
    }

    std::size_t k_;
    AlignedVector<float> gaps_;
    AlignedVector<float> weights_;
    bool all_equal_ = false;
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
