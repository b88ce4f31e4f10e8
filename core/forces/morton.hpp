// Interleaves the bits of two integers (Morton codes) and separates them again.
#pragma once

#include <cstdint>

namespace pixelsne {

// Spreads the low 32 bits of an integer over the even bits.
inline std::uint64_t spread_bits(std::uint64_t value) {
    value = (value | (value << 16)) & 0x0000ffff0000ffffULL;
    value = (value | (value << 8)) & 0x00ff00ff00ff00ffULL;
    value = (value | (value << 4)) & 0x0f0f0f0f0f0f0f0fULL;
    value = (value | (value << 2)) & 0x3333333333333333ULL;
    return (value | (value << 1)) & 0x5555555555555555ULL;
}

inline std::uint64_t collect_bits(std::uint64_t value) {
    value &= 0x5555555555555555ULL;
    value = (value | (value >> 1)) & 0x3333333333333333ULL;
    value = (value | (value >> 2)) & 0x0f0f0f0f0f0f0f0fULL;
    value = (value | (value >> 4)) & 0x00ff00ff00ff00ffULL;
    value = (value | (value >> 8)) & 0x0000ffff0000ffffULL;
    return (value | (value >> 16)) & 0x00000000ffffffffULL;
}

inline std::uint64_t interleave(std::uint32_t column, std::uint32_t row) {
    return spread_bits(column) | (spread_bits(row) << 1);
}

inline std::uint32_t column_of(std::uint64_t code) { return static_cast<std::uint32_t>(collect_bits(code)); }

inline std::uint32_t row_of(std::uint64_t code) { return static_cast<std::uint32_t>(collect_bits(code >> 1)); }

}  // namespace pixelsne
