// Collects the k nearest candidates of one query.
//
// A candidate is a key: the bits of its squared distance above its index. Distances are not negative, so keys sort by
// distance and then by index, and the result does not depend on the order of the offers. Offers below the limit are
// appended. When the list is full, the k smallest keys are kept. An offer costs a few nanoseconds, however large k is.
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

inline float key_squared_distance(std::uint64_t key) {
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

    // Callers may skip candidates beyond this squared distance.
    float limit() const { return limit_; }

    // Callers must not offer a candidate twice.
    void offer(float squared_distance, std::uint32_t index) {
        if (!(squared_distance <= limit_)) return;
        if (size_ == keys_.size()) shrink();
        keys_[size_++] = candidate_key(squared_distance, index);
    }

    // Lowers the limit before the list is full, where that saves the caller work. At least k / 8 new candidates must
    // have arrived, so that shrinking stays cheap.
    void tighten() {
        const bool first_limit = size_ >= k_ && limit_ == std::numeric_limits<float>::infinity();
        if (first_limit || size_ > k_ + k_ / 8) shrink();
    }

    // Returns the keys of the (at most) k nearest candidates, in ascending order.
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
        limit_ = std::min(limit_, key_squared_distance(keys_[k_ - 1]));
    }

    std::size_t k_ = 0;
    std::size_t size_ = 0;
    float limit_ = 0.0f;
    std::vector<std::uint64_t> keys_;
};

}  // namespace pixelsne
