// All threading code of the core.
//
// Work is divided into fixed chunks that depend only on the amount of work, never on the number of threads. Threads
// only decide who runs which chunk. So a caller that stores one result per chunk and combines them in chunk order gets
// the same bits with any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace pixelsne {

// Refers to a callable body(chunk) for the duration of a call. Unlike std::function, it owns no object and allocates no
// memory.
class ChunkBody {
public:
    template <class Body, class = std::enable_if_t<!std::is_same_v<std::decay_t<Body>, ChunkBody>>>
    ChunkBody(Body&& body)
        : body_(&body), call_([](const void* target, std::size_t chunk) {
              (*static_cast<std::remove_reference_t<Body>*>(const_cast<void*>(target)))(chunk);
          }) {}

    void operator()(std::size_t chunk) const { call_(body_, chunk); }

private:
    const void* body_;
    void (*call_)(const void*, std::size_t);
};

// Runs body(chunk) for every chunk in [0, chunks) on at most `threads` threads, including the caller's. After all
// threads have finished, it rethrows the first exception that a body threw.
void run_chunks(std::size_t chunks, int threads, ChunkBody body);

inline std::size_t chunk_count(std::size_t count, std::size_t chunk_size) {
    return (count + chunk_size - 1) / chunk_size;
}

// Runs body(begin, end, chunk) over [0, count) in chunks of chunk_size.
template <class Body>
void parallel_for(std::size_t count, std::size_t chunk_size, int threads, Body&& body) {
    run_chunks(chunk_count(count, chunk_size), threads, [&](std::size_t chunk) {
        const std::size_t begin = chunk * chunk_size;
        body(begin, std::min(count, begin + chunk_size), chunk);
    });
}

}  // namespace pixelsne
