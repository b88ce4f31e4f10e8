// Positions on their way between processes: 16 bits a coordinate, relative to those that travel together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "array_view.hpp"

namespace pixelsne {

// coordinate = low + step * number
struct Coding {
    double low[2];
    double step[2];
};

// The chosen points, each a row of `positions`, as numbers (count, 2) between 0 and 65,535.
Coding encode_positions(Positions positions, const std::int32_t* chosen, std::size_t count, int threads,
                        std::uint16_t* numbers);

// The other way round: of `numbers`, the chosen rows, minus the center; to (count, 2).
void decode_positions(const Coding& coding, const std::uint16_t* numbers, const std::int32_t* chosen, std::size_t count,
                      const double (&center)[2], int threads, float* to);

// positions - center, in double precision before it is rounded.
void center_positions(Positions positions, const double (&center)[2], int threads, float* to);

}  // namespace pixelsne
