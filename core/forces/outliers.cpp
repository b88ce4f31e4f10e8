#include "outliers.hpp"

#include <algorithm>
#include <array>

#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kBins = 256;
constexpr std::size_t kPointsPerChunk = 16384;

// Each round narrows the box by at most kBins; floats span no more than this many rounds of it.
constexpr int kMostRounds = 12;

// How many points lie below, in each bin of, and above the box along one axis.
using Histogram = std::array<std::uint32_t, kBins + 2>;
using BothAxes = std::array<Histogram, 2>;

BothAxes count_points(Positions positions, const Bounds& box, int threads) {
    thread_local std::vector<BothAxes> kept;
    std::vector<BothAxes>& parts = kept;  // the caller's, for all threads
    parts.assign(chunk_count(positions.rows, kPointsPerChunk), BothAxes{});
    double scale[2];
    for (int axis = 0; axis < 2; ++axis) {
        const double span = static_cast<double>(box.high[axis]) - box.low[axis];
        scale[axis] = span > 0.0 ? kBins / span : 0.0;
    }
    parallel_for(positions.rows, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        for (std::size_t point = begin; point < end; ++point) {
            for (std::size_t axis = 0; axis < 2; ++axis) {
                const double place = (static_cast<double>(positions.row(point)[axis]) - box.low[axis]) * scale[axis];
                const double bin = std::clamp(place + 1.0, 0.0, kBins + 1.0);
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

// Moves the ends of the box past bins that hold few points. A bin's width is kept on each side: which
// bin a point at its border falls into is a matter of rounding.
void narrow(const Histogram& counts, float& low, float& high) {
    std::size_t first = 0;
    for (std::size_t left = counts[0]; first < kBins && left + counts[first + 1] <= kOutliersPerSide; ++first)
        left += counts[first + 1];
    std::size_t last = kBins;
    for (std::size_t left = counts[kBins + 1]; last > first && left + counts[last] <= kOutliersPerSide; --last)
        left += counts[last];
    const double bin = (static_cast<double>(high) - low) / kBins;
    const double start = low;
    if (first > 1) low = static_cast<float>(start + bin * static_cast<double>(first - 1));
    if (last + 1 < kBins) high = static_cast<float>(start + bin * static_cast<double>(last + 1));
}

bool halved(const Bounds& narrowed, const Bounds& bounds, int axis) {
    return 2.0 * (static_cast<double>(narrowed.high[axis]) - narrowed.low[axis]) <=
           static_cast<double>(bounds.high[axis]) - bounds.low[axis];
}

// What one pair of points adds to the push on the first, and, as closeness, to the normalizer.
struct Pair {
    double x, y, closeness;

    Pair(const float* first, const float* second) {
        const double dx = static_cast<double>(first[0]) - second[0];
        const double dy = static_cast<double>(first[1]) - second[1];
        closeness = 1.0 / (1.0 + dx * dx + dy * dy);
        x = dx * closeness * closeness;
        y = dy * closeness * closeness;
    }
};

}  // namespace

Bounds box_without_outliers(Positions positions, const Bounds& bounds, int threads) {
    Bounds box = bounds;
    for (int round = 0; round < kMostRounds; ++round) {
        const Bounds before = box;
        const BothAxes counts = count_points(positions, box, threads);
        for (std::size_t axis = 0; axis < 2; ++axis) narrow(counts[axis], box.low[axis], box.high[axis]);
        if (!halved(box, before, 0) && !halved(box, before, 1)) break;
    }
    return halved(box, bounds, 0) || halved(box, bounds, 1) ? box : bounds;
}

double add_outlier_forces(Positions positions, const std::vector<std::uint32_t>& outliers, int threads,
                          ArrayView<float> push) {
    struct Reaction {
        double x = 0.0, y = 0.0, closeness = 0.0;
    };
    if (outliers.empty()) return 0.0;
    std::vector<char> is_outlier(positions.rows);
    for (const std::uint32_t outlier : outliers) is_outlier[outlier] = 1;
    std::vector<Reaction> parts(chunk_count(positions.rows, kPointsPerChunk) * outliers.size());
    parallel_for(positions.rows, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        for (std::size_t place = 0; place < outliers.size(); ++place) {
            Reaction& reaction = parts[chunk * outliers.size() + place];
            for (std::size_t point = begin; point < end; ++point) {
                if (point == outliers[place]) continue;
                const Pair pair(positions.row(point), positions.row(outliers[place]));
                reaction.x -= pair.x;
                reaction.y -= pair.y;
                // A pair of outliers comes up twice, once from each side; any other pair once, for two.
                reaction.closeness += is_outlier[point] ? pair.closeness : 2.0 * pair.closeness;
                if (is_outlier[point]) continue;
                push.row(point)[0] += static_cast<float>(pair.x);
                push.row(point)[1] += static_cast<float>(pair.y);
            }
        }
    });
    double normalizer = 0.0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        float* target = push.row(outliers[part % outliers.size()]);
        target[0] += static_cast<float>(parts[part].x);
        target[1] += static_cast<float>(parts[part].y);
        normalizer += parts[part].closeness;
    }
    return normalizer;
}

}  // namespace pixelsne
