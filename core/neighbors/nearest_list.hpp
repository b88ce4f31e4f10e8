// The k nearest of all candidates offered, for one query.
//
// A candidate is a key: the bits of its squared distance above its index. Distances are not negative,
// so keys order by distance and then by index, and the outcome does not depend on the order of offers.
// Offers below the limit are appended; when the list is full its k smallest are kept. That costs a few
// nanoseconds an offer, however large k is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace pixelsne {

inline std::uint64_t candidate_key(float squared_distance, std::uint32_t index) {
    std::uint32_t bits;
    std::memcpy(&bits, &squared_distance, sizeof(bits));
    return (static_cast<std::uint64_t>(bits) << 32) | index;
}

inline float key_distance(std::uint64_t key) {
    const auto bits = static_cast<std::uint32_t>(key >> 32);
    float squared_distance;
    std::memcpy(&squared_distance, &bits, sizeof(squared_distance));
    return squared_distance;
}

inline std::uint32_t key_index(std::uint64_t key) { return static_cast<std::uint32_t>(key); }

class NearestList {
public:
    // limit: an upper bound of the k-th squared distance, if one is known.
    void start(std::size_t k, float limit = std::numeric_limits<float>::infinity()) {
        k_ = k;
        size_ = 0;
        limit_ = limit;
        keys_.resize(2 * k + 32);
    }

    // Candidates beyond this squared distance need not be offered.
    float limit() const { return limit_; }

    // No candidate may be offered twice.
    void offer(float squared_distance, std::uint32_t index) {
        if (!(squared_distance <= limit_)) return;
        if (size_ == keys_.size()) shrink();
        keys_[size_++] = candidate_key(squared_distance, index);
    }

    // Lets the limit fall before the list is full, at moments when that saves the caller work. An
    // eighth of k new candidates must have come in, so that shrinking stays cheap.
    void tighten() {
        const bool first_limit = size_ >= k_ && limit_ == std::numeric_limits<float>::infinity();
        if (first_limit || size_ > k_ + k_ / 8) shrink();
    }

    // The (at most) k nearest, in order.
    const std::uint64_t* finish() {
        if (size_ > k_) shrink();
        std::sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(size_));
        return keys_.data();
    }

private:
    void shrink() {
        std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(k_ - 1),
                         keys_.begin() + static_cast<std::ptrdiff_t>(size_));
        size_ = k_;
        limit_ = std::min(limit_, key_distance(keys_[k_ - 1]));
    }

    std::size_t k_ = 0;
    std::size_t size_ = 0;
    float limit_ = 0.0f;
    std::vector<std::uint64_t> keys_;
};

}  // namespace pixelsne
