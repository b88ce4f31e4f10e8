// Collects the k nearest of very many candidates for one query: approximately while it fills, exactly at the end.
//
// Unlike NearestList, a full list is not reduced to exactly k entries. shrink() searches a limit that leaves k entries
// and a few more. Counting the entries within a limit is one pass over plain floats, which compilers vectorize. Half a
// dozen such passes take a third of the time of a selection.
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
        slack_ = k / 8 + 1;
        limit_ = std::numeric_limits<float>::infinity();
        distances_.resize(2 * k + 64);
        indices_.resize(distances_.size());
    }

    // Callers may skip candidates beyond this squared distance. It is infinite until k candidates are known.
    float limit() const { return limit_; }

    // Callers must not offer a candidate twice.
    void offer(float squared_distance, std::uint32_t index) {
        if (!(squared_distance <= limit_)) return;
        if (size_ == distances_.size()) shrink();
        distances_[size_] = squared_distance;
        indices_[size_++] = index;
    }

    // Lowers the limit before the list is full, if enough candidates have arrived.
    void tighten() {
        const bool first_limit = size_ >= k_ && limit_ == std::numeric_limits<float>::infinity();
        if (first_limit || size_ > k_ + 4 * slack_) shrink();
    }

    // Writes the keys of the (at most) k nearest candidates, unordered.
    void finish(std::vector<std::uint64_t>& keys) const {
        keys.resize(size_);
        for (std::size_t slot = 0; slot < size_; ++slot) {
            keys[slot] = candidate_key(distances_[slot], indices_[slot]);
        }
        if (size_ <= k_) return;
        std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(k_ - 1), keys.end());
        keys.resize(k_);
    }

private:
    std::size_t count_within(float limit) const {
        std::int32_t count = 0;
        for (std::size_t slot = 0; slot < size_; ++slot) count += distances_[slot] <= limit ? 1 : 0;
        return static_cast<std::size_t>(count);
    }

    void shrink() {
        float low = 0.0f;
        float high = limit_;
        if (high == std::numeric_limits<float>::infinity()) {
            high = *std::max_element(distances_.begin(), distances_.begin() + static_cast<std::ptrdiff_t>(size_));
        }
        for (std::size_t within = size_; within > k_ + slack_;) {
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
        for (std::size_t slot = 0; slot < size_; ++slot) {
            const float distance = distances_[slot];
            distances_[kept] = distance;
            indices_[kept] = indices_[slot];
            kept += distance <= limit ? 1 : 0;
        }
        size_ = kept;
        limit_ = limit;
    }

    // Keeps exactly k entries. Needed where many candidates have the same distance, because no limit leaves about k.
    void cut() {
        std::vector<std::uint64_t> keys;
        finish(keys);
        for (std::size_t slot = 0; slot < k_; ++slot) {
            distances_[slot] = key_squared_distance(keys[slot]);
            indices_[slot] = key_index(keys[slot]);
        }
        size_ = k_;
        limit_ = *std::max_element(distances_.begin(), distances_.begin() + static_cast<std::ptrdiff_t>(k_));
    }

    std::size_t k_ = 0;
    std::size_t size_ = 0;
    std::size_t slack_ = 0;
    float limit_ = 0.0f;
    std::vector<float> distances_;
    std::vector<std::uint32_t> indices_;
};

}  // namespace pixelsne
