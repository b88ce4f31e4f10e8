// The k nearest of very many candidates, roughly at first and exactly in the end.
//
// Unlike NearestList, a full list is not cut to exactly k: a limit is searched that leaves k and a few
// more. Counting how many lie within a limit is one pass over plain floats, which compilers turn into
// vector instructions, and half a dozen such passes take a third of the time of a selection.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "nearest_list.hpp"

namespace pixelsne {

class CandidateList {
public:
    void start(std::size_t k) {
        k_ = k;
        size_ = 0;
        spare_ = k / 8 + 1;
        limit_ = std::numeric_limits<float>::infinity();
        distances_.resize(2 * k + 64);
        indices_.resize(distances_.size());
    }

    // Candidates beyond this squared distance need not be offered; infinite until k are known.
    float limit() const { return limit_; }

    // No candidate may be offered twice.
    void offer(float squared_distance, std::uint32_t index) {
        if (!(squared_distance <= limit_)) return;
        if (size_ == distances_.size()) shrink();
        distances_[size_] = squared_distance;
        indices_[size_++] = index;
    }

    // Lets the limit fall before the list is full, once that pays.
    void tighten() {
        const bool first_limit = size_ >= k_ && limit_ == std::numeric_limits<float>::infinity();
        if (first_limit || size_ > k_ + 4 * spare_) shrink();
    }

    // The (at most) k nearest in no order, as keys.
    void finish(std::vector<std::uint64_t>& keys) const {
        keys.resize(size_);
        for (std::size_t place = 0; place < size_; ++place) {
            keys[place] = candidate_key(distances_[place], indices_[place]);
        }
        if (size_ <= k_) return;
        std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(k_ - 1), keys.end());
        keys.resize(k_);
    }

private:
    std::size_t count_within(float limit) const {
        std::int32_t count = 0;
        for (std::size_t place = 0; place < size_; ++place) count += distances_[place] <= limit ? 1 : 0;
        return static_cast<std::size_t>(count);
    }

    void shrink() {
        float low = 0.0f;
        float high = limit_;
        if (high == std::numeric_limits<float>::infinity()) {
            high = *std::max_element(distances_.begin(), distances_.begin() + static_cast<std::ptrdiff_t>(size_));
        }
        for (std::size_t within = size_; within > k_ + spare_;) {
            const float middle = low + 0.5f * (high - low);
            if (!(middle > low && middle < high)) return cut();
            const std::size_t count = count_within(middle);
            if (count >= k_) {
                high = middle;
                within = count;
            } else {
                low = middle;
            }
        }
        keep_within(high);
    }

    void keep_within(float limit) {
        std::size_t kept = 0;
        for (std::size_t place = 0; place < size_; ++place) {
            const float distance = distances_[place];
            distances_[kept] = distance;
            indices_[kept] = indices_[place];
            kept += distance <= limit ? 1 : 0;
        }
        size_ = kept;
        limit_ = limit;
    }

    // Many at one distance: no limit leaves about k.
    void cut() {
        std::vector<std::uint64_t> keys;
        finish(keys);
        for (std::size_t place = 0; place < k_; ++place) {
            distances_[place] = key_distance(keys[place]);
            indices_[place] = key_index(keys[place]);
        }
        size_ = k_;
        limit_ = *std::max_element(distances_.begin(), distances_.begin() + static_cast<std::ptrdiff_t>(k_));
    }

    std::size_t k_ = 0;
    std::size_t size_ = 0;
    std::size_t spare_ = 0;
    float limit_ = 0.0f;
    std::vector<float> distances_;
    std::vector<std::uint32_t> indices_;
};

}  // namespace pixelsne
