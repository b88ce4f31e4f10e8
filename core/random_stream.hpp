// Seeded random numbers with one independent stream per task, so that results do not depend on the thread that runs a
// task. The generator is SplitMix64: small, fast and good enough for choosing pivots.
#pragma once

#include <cstdint>

namespace pixelsne {

class RandomStream {
public:
    RandomStream(std::uint64_t seed, std::uint64_t task) : state_(mix(seed) ^ mix(task + kStep)) {}

    std::uint64_t next() {
        state_ += kStep;
        return mix(state_);
    }

    // Returns an integer in [0, limit), limit < 2^32. The bias of the multiplication is below 2^-32.
    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(((next() >> 32) * limit) >> 32); }

private:
    static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;

    static std::uint64_t mix(std::uint64_t value) {
        value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
        value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
        return value ^ (value >> 31);
    }

    std::uint64_t state_;
};

}  // namespace pixelsne
