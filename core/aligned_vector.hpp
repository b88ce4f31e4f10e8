// A std::vector whose memory starts on a cache line, so that no vector load straddles two lines. Large vectors use
// huge pages.
#pragma once

#include <cstddef>
#include <vector>

#include "large_memory.hpp"

namespace pixelsne {

template <class Number>
struct CacheLineAllocator {
    using value_type = Number;

    CacheLineAllocator() = default;
    template <class Other>
    CacheLineAllocator(const CacheLineAllocator<Other>&) {}

    Number* allocate(std::size_t count) { return static_cast<Number*>(allocate_memory(count * sizeof(Number))); }
    void deallocate(Number* numbers, std::size_t) { free_memory(numbers); }

    friend bool operator==(CacheLineAllocator, CacheLineAllocator) { return true; }
    friend bool operator!=(CacheLineAllocator, CacheLineAllocator) { return false; }
};

// The same without initialization, because initializing a gigabyte takes a second.
template <class Number>
struct UninitializedAllocator : CacheLineAllocator<Number> {
    UninitializedAllocator() = default;
    template <class Other>
    UninitializedAllocator(const UninitializedAllocator<Other>&) {}
    template <class Other>
    struct rebind {
        using other = UninitializedAllocator<Other>;
    };

    template <class Other>
    void construct(Other*) noexcept {}
};

template <class Number>
using UninitializedVector = std::vector<Number, UninitializedAllocator<Number>>;

template <class Number>
using AlignedVector = std::vector<Number, CacheLineAllocator<Number>>;

}  // namespace pixelsne
