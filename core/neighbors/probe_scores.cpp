#include "probe_scores.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "../kernels.hpp"
#include "panels.hpp"

namespace pixelsne {
namespace {

// Ranks are counted in buckets of equal width, which takes a fraction of the time of sorting.
constexpr std::size_t kBuckets = 256;

// The nearest squared distances divided into buckets. The half of the centers that lies farther from the own center
// has no say in the width: a center far away from all others would leave one bucket for the rest.
class Buckets {
public:
    Buckets(const float* squared, std::size_t count) {
        least_ = *std::min_element(squared, squared + count);
        const float width = *std::max_element(squared, squared + (count + 1) / 2) - least_;
        scale_ = width > 0.0f ? (kBuckets - 1) / width : 0.0f;
        for (std::size_t rank = 0; rank < count; ++rank) ++upto_[bucket(squared[rank])];
        for (std::size_t at = 1; at < kBuckets; ++at) upto_[at] += upto_[at - 1];
    }

    // Of the distances, those in the same bucket or below; 1 or more.
    float rank_of(float squared) const { return static_cast<float>(upto_[bucket(squared)]); }

private:
    std::size_t bucket(float squared) const {
        return static_cast<std::size_t>(
            std::min(static_cast<float>(kBuckets - 1), std::max(0.0f, (squared - least_) * scale_)));
    }

    float least_;
    float scale_;
    std::array<std::uint32_t, kBuckets> upto_{};
};

}  // namespace

void ProbeScores::fill(Points points, const std::vector<std::uint32_t>& rows, Points centers, std::size_t own,
                       const std::uint32_t* around, const float* gaps, std::size_t count, float patience) {
    rows_ = rows.size();
    values_.resize(count * rows_);
    if (count == 0) return;
    inverse_.resize(count);
    for (std::size_t rank = 0; rank < count; ++rank) inverse_[rank] = 0.5f / gaps[rank];
    Panels panels;
    panels.pack(centers, std::vector<std::uint32_t>(around, around + count), 1);
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
        fill_tile(first, filled, padded, own_squared, patience);
    }
}

void ProbeScores::fill_tile(std::size_t first, std::size_t filled, std::size_t padded, const float* own_squared,
                            float patience) {
    const std::size_t count = inverse_.size();
    const float per_rank = 1.0f / patience;
    for (std::size_t query = 0; query < filled; ++query) {
        float* row = squared_.data() + query * padded;
        const Buckets buckets(row, count);
        for (std::size_t rank = 0; rank < count; ++rank) {
            // Centers that coincide have no border between them: 0 / 0 becomes 0.
            const float border = std::max(0.0f, (row[rank] - own_squared[query]) * inverse_[rank]);
            const float score = border * std::max(1.0f, buckets.rank_of(row[rank]) * per_rank);
            row[rank] = std::min(std::numeric_limits<float>::max(), score);
        }
    }
    for (std::size_t rank = 0; rank < count; ++rank) {
        for (std::size_t query = 0; query < filled; ++query) {
            values_[rank * rows_ + first + query] = squared_[query * padded + rank];
        }
    }
}

}  // namespace pixelsne
