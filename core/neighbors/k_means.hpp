// Lloyd's k-means on a sample, followed by the assignment of all points to the nearest center.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"
#include "../random_stream.hpp"

namespace pixelsne {

// Returns the part of each of `rows`. parts: at least 1. Parts with close numbers are near each other in space. Parts
// may be empty.
std::vector<std::uint32_t> divide_by_k_means(Points points, const std::uint32_t* rows, std::size_t count,
                                             std::size_t parts, RandomStream random, int threads, ProgressToken& token);

}  // namespace pixelsne
