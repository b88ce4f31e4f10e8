// A std::vector whose numbers start on a cache line, so that no vector load straddles two.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace pixelsne {

template <class Number>
struct CacheLineAllocator {
    using value_type = Number;
    static constexpr std::align_val_t kLine{64};

    CacheLineAllocator() = default;
    template <class Other>
    CacheLineAllocator(const CacheLineAllocator<Other>&) {}

    Number* allocate(std::size_t count) { return static_cast<Number*>(::operator new(count * sizeof(Number), kLine)); }
    void deallocate(Number* numbers, std::size_t) { ::operator delete(numbers, kLine); }

    friend bool operator==(CacheLineAllocator, CacheLineAllocator) { return true; }
    friend bool operator!=(CacheLineAllocator, CacheLineAllocator) { return false; }
};

template <class Number>
using AlignedVector = std::vector<Number, CacheLineAllocator<Number>>;

}  // namespace pixelsne
