#include "probe_scores.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "../kernels.hpp"
#include "panels.hpp"

namespace pixelsne {
namespace {

// Ranks come from a histogram of equal bins, which takes a fraction of the time of sorting.
constexpr std::size_t kBuckets = 256;

// A histogram of squared distances. The half of the centers that is farther from the own center does not affect the bin
// width. Otherwise one remote center would leave a single bin for all others.
class Buckets {
public:
    Buckets(const float* squared, std::size_t count) {
        min_ = *std::min_element(squared, squared + count);
        const float width = *std::max_element(squared, squared + (count + 1) / 2) - min_;
        scale_ = width > 0.0f ? (kBuckets - 1) / width : 0.0f;
        for (std::size_t center = 0; center < count; ++center) ++cumulative_[bucket(squared[center])];
        for (std::size_t index = 1; index < kBuckets; ++index) cumulative_[index] += cumulative_[index - 1];
    }

    // Returns the number of distances in the same bucket or below; at least 1.
    float rank_of(float squared) const { return static_cast<float>(cumulative_[bucket(squared)]); }

private:
    std::size_t bucket(float squared) const {
        return static_cast<std::size_t>(
            std::min(static_cast<float>(kBuckets - 1), std::max(0.0f, (squared - min_) * scale_)));
    }

    float min_;
    float scale_;
    std::array<std::uint32_t, kBuckets> cumulative_{};
};

}  // namespace

void ProbeScores::fill(Points points, const std::vector<std::uint32_t>& rows, Points centers, std::size_t own,
                       const std::uint32_t* nearby, const float* gaps, std::size_t count, float rank_scale) {
    rows_ = rows.size();
    values_.resize(count * rows_);
    if (count == 0) return;
    inverse_.resize(count);
    for (std::size_t index = 0; index < count; ++index) inverse_[index] = 0.5f / gaps[index];
    Panels panels;
    panels.pack(centers, std::vector<std::uint32_t>(nearby, nearby + count), 1);
    const std::size_t padded = panels.count() * kPanelPoints;
    squared_.resize(kTileQueries * padded);
    float limits[kTileQueries];
    std::fill_n(limits, kTileQueries, -1.0f);
    float tile[kTileQueries * kPanelPoints];
    bool any_within[kTileQueries];
    for (std::size_t first = 0; first < rows_; first += kTileQueries) {
        const std::size_t filled = std::min(kTileQueries, rows_ - first);
        const float* queries[kTileQueries];
        for (std::size_t query = 0; query < kTileQueries; ++query) {
            queries[query] = points.row(rows[first + (query < filled ? query : 0)]);
        }
        for (std::size_t panel = 0; panel < panels.count(); ++panel) {
            kernels().squared_distances(queries, panels.values(panel), points.columns, limits, tile, any_within);
            for (std::size_t query = 0; query < filled; ++query) {
                std::copy_n(tile + query * kPanelPoints, kPanelPoints,
                            squared_.data() + query * padded + panel * kPanelPoints);
            }
        }
        float own_squared[kTileQueries];
        for (std::size_t query = 0; query < filled; ++query) {
            own_squared[query] = kernels().squared_distance(queries[query], centers.row(own), points.columns);
        }
        fill_tile(first, filled, padded, own_squared, rank_scale);
    }
}

void ProbeScores::fill_tile(std::size_t first, std::size_t filled, std::size_t padded, const float* own_squared,
                            float rank_scale) {
    const std::size_t count = inverse_.size();
    const float per_rank = 1.0f / rank_scale;
    for (std::size_t query = 0; query < filled; ++query) {
        float* row = squared_.data() + query * padded;
        const Buckets buckets(row, count);
        for (std::size_t index = 0; index < count; ++index) {
            // Coinciding centers have no boundary between them: 0 / 0 becomes 0.
            const float boundary = std::max(0.0f, (row[index] - own_squared[query]) * inverse_[index]);
            const float score = boundary * std::max(1.0f, buckets.rank_of(row[index]) * per_rank);
            row[index] = std::min(std::numeric_limits<float>::max(), score);
        }
    }
    for (std::size_t index = 0; index < count; ++index) {
        for (std::size_t query = 0; query < filled; ++query) {
            values_[index * rows_ + first + query] = squared_[query * padded + index];
        }
    }
}

}  // namespace pixelsne
