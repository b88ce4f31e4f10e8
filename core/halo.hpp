// Encodes positions that are sent between processes: 16 bits per coordinate, relative to the bounds of one message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "array_view.hpp"

namespace pixelsne {

// coordinate = low + step * code
struct Coding {
    double low[2];
    double step[2];
};

// Encodes the given rows of `positions` as codes (count, 2) between 0 and 65,535.
Coding encode_positions(Positions positions, const std::int32_t* rows, std::size_t count, int threads,
                        std::uint16_t* codes);

// Decodes the given rows of `codes`, subtracts the center, and writes them to out (count, 2).
void decode_positions(const Coding& coding, const std::uint16_t* codes, const std::int32_t* rows, std::size_t count,
                      const double (&center)[2], int threads, float* out);

// Computes positions - center in double precision and rounds the result.
void center_positions(Positions positions, const double (&center)[2], int threads, float* out);

}  // namespace pixelsne
