#include "quadtree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "../parallel_for.hpp"
#include "morton.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kPointsPerChunk = 1024;
constexpr std::size_t kLeavesPerChunk = 1024;
constexpr int kDigitBits = 11;
constexpr std::uint64_t kDigitMask = (std::uint64_t{1} << kDigitBits) - 1;

// The leaf a coordinate falls into. Rounding may put the largest coordinate on the far border: clamp.
std::uint32_t leaf_of(float coordinate, double origin, double unit, std::uint32_t side) {
    const double place = (static_cast<double>(coordinate) - origin) / unit;
    if (!(place > 0.0)) return 0;
    return place >= static_cast<double>(side) ? side - 1 : static_cast<std::uint32_t>(place);
}

// Deepest level at which two different codes still share a cell.
int deepest_shared(std::uint64_t first, std::uint64_t second, int levels) {
    const int highest_bit = 63 - __builtin_clzll(first ^ second);
    return levels - 1 - highest_bit / 2;
}

}  // namespace

void Quadtree::build(Positions positions, const LeafGrid& grid, Center center, double theta, int threads) {
    grid_ = grid;
    center_ = center;
    const double longer_unit = std::max(grid.unit[0], grid.unit[1]);
    for (int level = 0; level < grid.levels; ++level) {
        const double width = std::ldexp(longer_unit, grid.levels - level);
        reach_[level] =
            theta > 0.0 ? static_cast<float>(width / theta * (width / theta)) : std::numeric_limits<float>::infinity();
    }
    reach_[grid.levels] = kLeafReach;
    sort_points(positions, threads);
    find_leaves();
    find_branchings();
    build_cells();
}

void Quadtree::sort_points(Positions positions, int threads) {
    const std::size_t n = positions.rows;
    codes_.resize(n);
    spare_codes_.resize(n);
    order_.resize(n);
    spare_order_.resize(n);
    parallel_for(n, 16 * kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t point = begin; point < end; ++point) {
            const float* position = positions.row(point);
            codes_[point] = interleave(leaf_of(position[0], grid_.origin[0], grid_.unit[0], grid_.sides[0]),
                                       leaf_of(position[1], grid_.origin[1], grid_.unit[1], grid_.sides[1]));
            order_[point] = static_cast<std::uint32_t>(point);
        }
    });
    for (int shift = 0; shift < 2 * grid_.levels; shift += kDigitBits) sort_by_digit(shift);
    xs_.resize(n);
    ys_.resize(n);
    for (std::size_t place = 0; place < n; ++place) {
        xs_[place] = positions.row(order_[place])[0];
        ys_[place] = positions.row(order_[place])[1];
    }
}

// One pass of a radix sort, stable, so that points in one leaf keep the order of the input.
void Quadtree::sort_by_digit(int shift) {
    const std::size_t n = codes_.size();
    digit_places_.assign(kDigitMask + 2, 0);
    for (std::size_t place = 0; place < n; ++place) ++digit_places_[((codes_[place] >> shift) & kDigitMask) + 1];
    for (std::size_t digit = 1; digit <= kDigitMask; ++digit) digit_places_[digit] += digit_places_[digit - 1];
    for (std::size_t place = 0; place < n; ++place) {
        const std::uint32_t target = digit_places_[(codes_[place] >> shift) & kDigitMask]++;
        spare_codes_[target] = codes_[place];
        spare_order_[target] = order_[place];
    }
    codes_.swap(spare_codes_);
    order_.swap(spare_order_);
}

void Quadtree::find_leaves() {
    leaf_begin_.clear();
    shared_level_.clear();
    for (std::size_t place = 0; place < codes_.size(); ++place) {
        if (place != 0 && codes_[place] == codes_[place - 1]) continue;
        leaf_begin_.push_back(static_cast<std::int32_t>(place));
        const int shared = place == 0 ? -1 : deepest_shared(codes_[place - 1], codes_[place], grid_.levels);
        shared_level_.push_back(static_cast<std::int8_t>(shared));
    }
    leaf_begin_.push_back(static_cast<std::int32_t>(codes_.size()));
}

// Bit l of branchings_[leaf] says that the cell of level l around this leaf holds a later leaf in
// another of its children. Read backward, these levels are the running minima of shared_level_.
void Quadtree::find_branchings() {
    branchings_.resize(shared_level_.size());
    std::uint32_t later = 0;
    for (std::size_t leaf = shared_level_.size(); leaf-- > 0;) {
        branchings_[leaf] = later;
        if (leaf == 0) break;
        const std::uint32_t bit = std::uint32_t{1} << shared_level_[leaf];
        later = (later & (bit - 1)) | bit;
    }
}

void Quadtree::build_cells() {
    const std::size_t leaves = shared_level_.size();
    cells_.clear();
    sums_.clear();
    open_.clear();
    leaf_cell_.resize(leaves);
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
        close_cells(shared_level_[leaf], leaf_begin_[leaf]);
        open_cells(leaf);
        leaf_cell_[leaf] = open_.back();
        if (center_ == Center::mass) add_points(leaf);
    }
    close_cells(-1, leaf_begin_[leaves]);
}

// Opens the cells that begin with this leaf, from the coarsest to the leaf itself.
void Quadtree::open_cells(std::size_t leaf) {
    for (int level = shared_level_[leaf] + 1; level <= grid_.levels; ++level) {
        const bool branches = ((branchings_[leaf] >> level) & 1) != 0;
        if (center_ == Center::mass && !branches && level != grid_.levels) continue;
        if (cells_.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
            throw std::length_error("positions: too many points for one quadtree");
        }
        TreeCell cell{};
        cell.begin = leaf_begin_[leaf];
        cell.level = level;
        cell.reach = reach_[level];
        open_.push_back(static_cast<std::int32_t>(cells_.size()));
        cells_.push_back(cell);
        if (center_ == Center::mass) sums_.push_back({0.0, 0.0});
    }
}

void Quadtree::add_points(std::size_t leaf) {
    Sum& sum = sums_[static_cast<std::size_t>(leaf_cell_[leaf])];
    for (auto place = static_cast<std::size_t>(leaf_begin_[leaf]);
         place < static_cast<std::size_t>(leaf_begin_[leaf + 1]); ++place) {
        sum.x += xs_[place];
        sum.y += ys_[place];
    }
}

void Quadtree::close_cells(int deeper_than, std::int32_t end) {
    while (!open_.empty() && cells_[static_cast<std::size_t>(open_.back())].level > deeper_than) {
        const auto place = static_cast<std::size_t>(open_.back());
        open_.pop_back();
        TreeCell& cell = cells_[place];
        cell.end = end;
        cell.skip = static_cast<std::int32_t>(cells_.size());
        cell.count = static_cast<float>(end - cell.begin);
        center_ == Center::mass ? set_mass_center(place) : set_cell_center(cell);
    }
}

// A closed cell's sum goes on to the cell around it, which closes later.
void Quadtree::set_mass_center(std::size_t place) {
    const Sum sum = sums_[place];
    cells_[place].x = static_cast<float>(sum.x / cells_[place].count);
    cells_[place].y = static_cast<float>(sum.y / cells_[place].count);
    if (open_.empty()) return;
    Sum& around = sums_[static_cast<std::size_t>(open_.back())];
    around.x += sum.x;
    around.y += sum.y;
}

void Quadtree::set_cell_center(TreeCell& cell) const {
    const int shift = grid_.levels - cell.level;
    const std::uint64_t code = codes_[static_cast<std::size_t>(cell.begin)];
    const double half = 0.5 * static_cast<double>(std::uint64_t{1} << shift);
    cell.x = static_cast<float>(grid_.origin[0] + ((column_of(code) >> shift << shift) + half) * grid_.unit[0]);
    cell.y = static_cast<float>(grid_.origin[1] + ((row_of(code) >> shift << shift) + half) * grid_.unit[1]);
}

double Quadtree::repulsion(int threads, ArrayView<float> push) {
    const std::size_t n = codes_.size();
    const std::size_t leaves = shared_level_.size();
    const std::size_t walk_chunks = chunk_count(n, kPointsPerChunk);
    sorted_push_.resize(2 * n);
    chunk_sums_.assign(walk_chunks + chunk_count(leaves, kLeavesPerChunk), 0.0);
    const Kernels& kernel = kernels();
    parallel_for(n, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        chunk_sums_[chunk] = kernel.tree_repulsion(cells_.data(), cells_.size(), xs_.data(), ys_.data(), begin, end,
                                                   sorted_push_.data());
    });
    parallel_for(leaves, kLeavesPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        double sum = 0.0;
        for (std::size_t leaf = begin; leaf < end; ++leaf) sum += push_in_own_leaf(leaf, sorted_push_.data());
        chunk_sums_[walk_chunks + chunk] = sum;
        for (auto place = leaf_begin_[begin]; place < leaf_begin_[end]; ++place) {
            const auto from = static_cast<std::size_t>(place);
            push.row(order_[from])[0] = sorted_push_[2 * from];
            push.row(order_[from])[1] = sorted_push_[2 * from + 1];
        }
    });
    double normalizer = 0.0;
    for (const double sum : chunk_sums_) normalizer += sum;
    return normalizer;
}

// In a point's own leaf the other points count, never the point itself: at the leaf's center, or at
// the center of mass of the others.
double Quadtree::push_in_own_leaf(std::size_t leaf, float* push) const {
    const std::int32_t begin = leaf_begin_[leaf];
    const std::int32_t end = leaf_begin_[leaf + 1];
    if (end - begin < 2) return 0.0;
    const auto cell = static_cast<std::size_t>(leaf_cell_[leaf]);
    const double others = end - begin - 1;
    double sum = 0.0;
    for (auto place = static_cast<std::size_t>(begin); place < static_cast<std::size_t>(end); ++place) {
        const double x = xs_[place];
        const double y = ys_[place];
        const bool mass = center_ == Center::mass;
        const double dx = x - (mass ? (sums_[cell].x - x) / others : static_cast<double>(cells_[cell].x));
        const double dy = y - (mass ? (sums_[cell].y - y) / others : static_cast<double>(cells_[cell].y));
        const double closeness = 1.0 / (1.0 + dx * dx + dy * dy);
        push[2 * place] += static_cast<float>(others * closeness * closeness * dx);
        push[2 * place + 1] += static_cast<float>(others * closeness * closeness * dy);
        sum += others * closeness;
    }
    return sum;
}

}  // namespace pixelsne
