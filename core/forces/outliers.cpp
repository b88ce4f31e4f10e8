#include "outliers.hpp"

#include <algorithm>
#include <array>

#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kBins = 256;
constexpr std::size_t kPointsPerChunk = 16384;

// A round narrows the box at most by the factor kBins. So many rounds narrow it by 2^96, more than any map needs.
constexpr int kMaxRounds = 12;

// Numbers of points below the box, in each of its bins, and above it, along one axis.
using Histogram = std::array<std::uint32_t, kBins + 2>;
using BothAxes = std::array<Histogram, 2>;

BothAxes count_points(Positions positions, const Bounds& box, int threads) {
    thread_local std::vector<BothAxes> reused;
    std::vector<BothAxes>& parts = reused;  // the calling thread's buffer, shared with all workers
    parts.assign(chunk_count(positions.rows, kPointsPerChunk), BothAxes{});
    double scale[2];
    for (int axis = 0; axis < 2; ++axis) {
        const double span = static_cast<double>(box.high[axis]) - box.low[axis];
        scale[axis] = span > 0.0 ? kBins / span : 0.0;
    }
    parallel_for(positions.rows, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        for (std::size_t point = begin; point < end; ++point) {
            for (std::size_t axis = 0; axis < 2; ++axis) {
                const double offset = (static_cast<double>(positions.row(point)[axis]) - box.low[axis]) * scale[axis];
                const double bin = std::clamp(offset + 1.0, 0.0, kBins + 1.0);
                const bool at_end = positions.row(point)[axis] == box.high[axis];
                ++parts[chunk][axis][at_end ? kBins : static_cast<std::size_t>(bin)];
            }
        }
    });
    BothAxes total{};
    for (const BothAxes& part : parts) {
        for (std::size_t axis = 0; axis < 2; ++axis) {
            for (std::size_t bin = 0; bin < kBins + 2; ++bin) total[axis][bin] += part[axis][bin];
        }
    }
    return total;
}

// Moves the ends of the box past bins that hold few points. Keeps one bin on each side, because rounding decides the
// bin of a point at a boundary.
void narrow(const Histogram& counts, float& low, float& high) {
    std::size_t first = 0;
    for (std::size_t skipped = counts[0]; first < kBins && skipped + counts[first + 1] <= kOutliersPerSide; ++first)
        skipped += counts[first + 1];
    std::size_t last = kBins;
    for (std::size_t skipped = counts[kBins + 1]; last > first && skipped + counts[last] <= kOutliersPerSide; --last)
        skipped += counts[last];
    const double bin = (static_cast<double>(high) - low) / kBins;
    const double start = low;
    if (first > 1) low = static_cast<float>(start + bin * static_cast<double>(first - 1));
    if (last + 1 < kBins) high = static_cast<float>(start + bin * static_cast<double>(last + 1));
}

bool is_halved(const Bounds& narrowed, const Bounds& bounds, int axis) {
    return 2.0 * (static_cast<double>(narrowed.high[axis]) - narrowed.low[axis]) <=
           static_cast<double>(bounds.high[axis]) - bounds.low[axis];
}

// The contribution of a pair of points to the push on the first one and (`kernel`) to the normalizer.
struct PairForce {
    double x, y, kernel;

    PairForce(const float* first, const float* second) {
        const double dx = static_cast<double>(first[0]) - second[0];
        const double dy = static_cast<double>(first[1]) - second[1];
        kernel = 1.0 / (1.0 + dx * dx + dy * dy);
        x = dx * kernel * kernel;
        y = dy * kernel * kernel;
    }
};

}  // namespace

Bounds box_without_outliers(Positions positions, const Bounds& bounds, int threads) {
    Bounds box = bounds;
    for (int round = 0; round < kMaxRounds; ++round) {
        const Bounds before = box;
        const BothAxes counts = count_points(positions, box, threads);
        for (std::size_t axis = 0; axis < 2; ++axis) narrow(counts[axis], box.low[axis], box.high[axis]);
        if (!is_halved(box, before, 0) && !is_halved(box, before, 1)) break;
    }
    return is_halved(box, bounds, 0) || is_halved(box, bounds, 1) ? box : bounds;
}

double add_outlier_forces(Positions positions, PointWeights weights, const std::vector<std::uint32_t>& outliers,
                          int threads, ArrayView<float> push) {
    struct Reaction {
        double x = 0.0, y = 0.0, kernel = 0.0;
    };
    if (outliers.empty()) return 0.0;
    std::vector<char> is_outlier(positions.rows);
    for (const std::uint32_t outlier : outliers) is_outlier[outlier] = 1;
    std::vector<Reaction> parts(chunk_count(positions.rows, kPointsPerChunk) * outliers.size());
    parallel_for(positions.rows, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        for (std::size_t index = 0; index < outliers.size(); ++index) {
            Reaction& reaction = parts[chunk * outliers.size() + index];
            const double outlier_weight = weights[outliers[index]];
            for (std::size_t point = begin; point < end; ++point) {
                if (point == outliers[index]) continue;
                const PairForce pair(positions.row(point), positions.row(outliers[index]));
                const double weight = weights[point];
                reaction.x -= weight * pair.x;
                reaction.y -= weight * pair.y;
                // A pair of outliers is counted twice, once for each. Any other pair is counted once, but stands for
                // both directions.
                reaction.kernel += weight * outlier_weight * (is_outlier[point] ? pair.kernel : 2.0 * pair.kernel);
                if (is_outlier[point]) continue;
                push.row(point)[0] += static_cast<float>(outlier_weight * pair.x);
                push.row(point)[1] += static_cast<float>(outlier_weight * pair.y);
            }
        }
    });
    double normalizer = 0.0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        float* target = push.row(outliers[part % outliers.size()]);
        target[0] += static_cast<float>(parts[part].x);
        target[1] += static_cast<float>(parts[part].y);
        normalizer += parts[part].kernel;
    }
    return normalizer;
}

}  // namespace pixelsne
