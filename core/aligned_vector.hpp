// A std::vector whose numbers start on a cache line, so that no vector load straddles two, and lie in large
// pages where there are many.
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

// The same, uninitialized: setting a gigabyte takes a second.
template <class Number>
struct UnsetAllocator : CacheLineAllocator<Number> {
    UnsetAllocator() = default;
    template <class Other>
    UnsetAllocator(const UnsetAllocator<Other>&) {}
    template <class Other>
    struct rebind {
        using other = UnsetAllocator<Other>;
    };

    template <class Other>
    void construct(Other*) noexcept {}
};

template <class Number>
using UnsetVector = std::vector<Number, UnsetAllocator<Number>>;

template <class Number>
using AlignedVector = std::vector<Number, CacheLineAllocator<Number>>;

}  // namespace pixelsne
