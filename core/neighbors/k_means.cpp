#include "k_means.hpp"

#include <algorithm>

#include "centers.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kSamplePerPart = 100;
constexpr std::size_t kRounds = 5;

using Rows = std::vector<std::uint32_t>;

// Draws distinct rows in random order, by the first steps of a Fisher-Yates shuffle.
Rows draw_sample(const std::uint32_t* rows, std::size_t count, std::size_t size, RandomStream& random) {
    Rows all(rows, rows + count);
    size = std::min(size, count);
    for (std::size_t index = 0; index < size; ++index) {
        std::swap(all[index], all[index + random.below(static_cast<std::uint32_t>(count - index))]);
    }
    all.resize(size);
    return all;
}

}  // namespace

std::vector<std::uint32_t> divide_by_k_means(Points points, const std::uint32_t* rows, std::size_t count,
                                             std::size_t parts, RandomStream random, int threads,
                                             ProgressToken& token) {
    const Rows sample = draw_sample(rows, count, parts * kSamplePerPart, random);
    Rows part_of(sample.size());
    Centers centers(points, Rows(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(parts)));
    for (std::size_t round = 0; round < kRounds; ++round) {
        centers.assign(points, sample.data(), sample.size(), threads, token, part_of.data());
        centers.move_to_means(points, sample, part_of);
    }
    centers.sort_by_tour();
    part_of.resize(count);
    centers.assign(points, rows, count, threads, token, part_of.data());
    return part_of;
}

}  // namespace pixelsne
