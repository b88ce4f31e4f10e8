// Memory for arrays, aligned to cache lines. Large arrays use huge pages where the system offers them. With small
// pages, reading a gigabyte spends much of its time on address translation, and filling it spends much on page faults.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__GLIBC__) || defined(_WIN32)
#include <malloc.h>
#endif

namespace pixelsne {

inline void* allocate_memory(std::size_t bytes) {
    constexpr std::size_t kCacheLine = 64;
    constexpr std::size_t kHugePage = std::size_t{1} << 21;
    const std::size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kCacheLine;
#if defined(_WIN32)
    void* memory = _aligned_malloc(bytes > 0 ? bytes : 1, alignment);
    if (memory == nullptr) throw std::bad_alloc();
#else
    void* memory = nullptr;
    if (posix_memalign(&memory, alignment, bytes > 0 ? bytes : 1) != 0) throw std::bad_alloc();
#endif
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);  // only a hint, so its result is ignored
#endif
    return memory;
}

inline void free_memory(void* memory) noexcept {
#if defined(_WIN32)
    _aligned_free(memory);
#else
    std::free(memory);
#endif
}

// Returns freed memory to the system. Otherwise memory that was freed in small pieces stays with the process. Worth
// calling after megabytes were freed.
inline void release_free_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

struct FreeMemory {
    void operator()(void* memory) const noexcept { free_memory(memory); }
};

// An array without initialization.
template <class Number>
using Buffer = std::unique_ptr<Number[], FreeMemory>;

template <class Number>
Buffer<Number> allocate_buffer(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(Number)) throw std::bad_alloc();
    return Buffer<Number>(static_cast<Number*>(allocate_memory(count * sizeof(Number))));
}

}  // namespace pixelsne
