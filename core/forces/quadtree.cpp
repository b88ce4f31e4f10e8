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

// Returns the leaf of a coordinate. Clamps, because rounding may put the largest coordinate on the far boundary.
std::uint32_t leaf_of(float coordinate, double origin, double unit, std::uint32_t side) {
    const double offset = (static_cast<double>(coordinate) - origin) / unit;
    if (!(offset > 0.0)) return 0;
    return offset >= static_cast<double>(side) ? side - 1 : static_cast<std::uint32_t>(offset);
}

// Returns the deepest level at which two different codes share a cell.
int deepest_shared(std::uint64_t first, std::uint64_t second, int levels) {
    const int highest_bit = 63 - __builtin_clzll(first ^ second);
    return levels - 1 - highest_bit / 2;
}

}  // namespace

void Quadtree::build(Positions positions, PointWeights weights, const LeafGrid& grid, Center center, double theta,
                     int threads) {
    grid_ = grid;
    center_ = center;
    const double longer_unit = std::max(grid.unit[0], grid.unit[1]);
    for (int level = 0; level < grid.levels; ++level) {
        const double width = std::ldexp(longer_unit, grid.levels - level);
        squared_opening_radius_[level] =
            theta > 0.0 ? static_cast<float>(width / theta * (width / theta)) : std::numeric_limits<float>::infinity();
    }
    squared_opening_radius_[grid.levels] = kLeafOpeningRadius;
    sort_points(positions, weights, threads);
    find_leaves();
    find_branch_levels();
    build_cells();
}

void Quadtree::sort_points(Positions positions, PointWeights weights, int threads) {
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
    for (std::size_t slot = 0; slot < n; ++slot) {
        xs_[slot] = positions.row(order_[slot])[0];
        ys_[slot] = positions.row(order_[slot])[1];
    }
    weights_.resize(weights ? n : 0);
    for (std::size_t slot = 0; slot < weights_.size(); ++slot) weights_[slot] = weights[order_[slot]];
}

// Runs one pass of a stable radix sort, so that points in one leaf keep their input order.
void Quadtree::sort_by_digit(int shift) {
    const std::size_t n = codes_.size();
    digit_offsets_.assign(kDigitMask + 2, 0);
    for (std::size_t slot = 0; slot < n; ++slot) ++digit_offsets_[((codes_[slot] >> shift) & kDigitMask) + 1];
    for (std::size_t digit = 1; digit <= kDigitMask; ++digit) digit_offsets_[digit] += digit_offsets_[digit - 1];
    for (std::size_t slot = 0; slot < n; ++slot) {
        const std::uint32_t target = digit_offsets_[(codes_[slot] >> shift) & kDigitMask]++;
        spare_codes_[target] = codes_[slot];
        spare_order_[target] = order_[slot];
    }
    codes_.swap(spare_codes_);
    order_.swap(spare_order_);
}

void Quadtree::find_leaves() {
    leaf_begin_.clear();
    shared_level_.clear();
    for (std::size_t slot = 0; slot < codes_.size(); ++slot) {
        if (slot != 0 && codes_[slot] == codes_[slot - 1]) continue;
        leaf_begin_.push_back(static_cast<std::int32_t>(slot));
        const int shared = slot == 0 ? -1 : deepest_shared(codes_[slot - 1], codes_[slot], grid_.levels);
        shared_level_.push_back(static_cast<std::int8_t>(shared));
    }
    leaf_begin_.push_back(static_cast<std::int32_t>(codes_.size()));
}

// Finds the levels at which the tree branches after each leaf. Bit l of branch_levels_[leaf] is set if the cell of
// level l around this leaf holds a later leaf in another child. Read backward, these levels are the running minima of
// shared_level_.
void Quadtree::find_branch_levels() {
    branch_levels_.resize(shared_level_.size());
    std::uint32_t later = 0;
    for (std::size_t leaf = shared_level_.size(); leaf-- > 0;) {
        branch_levels_[leaf] = later;
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
        if (has_sums()) add_points(leaf);
    }
    close_cells(-1, leaf_begin_[leaves]);
}

// Opens the cells that begin with this leaf, from the coarsest one to the leaf itself.
void Quadtree::open_cells(std::size_t leaf) {
    for (int level = shared_level_[leaf] + 1; level <= grid_.levels; ++level) {
        const bool branches = ((branch_levels_[leaf] >> level) & 1) != 0;
        if (center_ == Center::mass && !branches && level != grid_.levels) continue;
        if (cells_.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
            throw std::length_error("positions: too many points for one quadtree");
        }
        TreeCell cell{};
        cell.begin = leaf_begin_[leaf];
        cell.level = level;
        cell.squared_opening_radius = squared_opening_radius_[level];
        open_.push_back(static_cast<std::int32_t>(cells_.size()));
        cells_.push_back(cell);
        if (has_sums()) sums_.push_back({0.0, 0.0, 0.0});
    }
}

void Quadtree::add_points(std::size_t leaf) {
    Sum& sum = sums_[static_cast<std::size_t>(leaf_cell_[leaf])];
    for (auto slot = static_cast<std::size_t>(leaf_begin_[leaf]);
         slot < static_cast<std::size_t>(leaf_begin_[leaf + 1]); ++slot) {
        const double weight = is_weighted() ? weights_[slot] : 1.0;
        sum.x += weight * xs_[slot];
        sum.y += weight * ys_[slot];
        sum.weight += weight;
    }
}

void Quadtree::close_cells(int deeper_than, std::int32_t end) {
    while (!open_.empty() && cells_[static_cast<std::size_t>(open_.back())].level > deeper_than) {
        const auto index = static_cast<std::size_t>(open_.back());
        open_.pop_back();
        TreeCell& cell = cells_[index];
        cell.end = end;
        cell.skip = static_cast<std::int32_t>(cells_.size());
        cell.weight = static_cast<float>(end - cell.begin);
        if (has_sums()) set_weight(index);
        if (center_ == Center::cell) set_cell_center(cell);
    }
}

// Sets the weight and the center of mass of a closed cell and adds its sums to the parent, which closes later.
void Quadtree::set_weight(std::size_t cell_index) {
    const Sum sum = sums_[cell_index];
    TreeCell& cell = cells_[cell_index];
    cell.weight = static_cast<float>(sum.weight);
    cell.x = static_cast<float>(sum.x / sum.weight);
    cell.y = static_cast<float>(sum.y / sum.weight);
    if (open_.empty()) return;
    Sum& parent = sums_[static_cast<std::size_t>(open_.back())];
    parent.x += sum.x;
    parent.y += sum.y;
    parent.weight += sum.weight;
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
        chunk_sums_[chunk] =
            kernel.tree_repulsion(cells_.data(), cells_.size(), xs_.data(), ys_.data(),
                                  is_weighted() ? weights_.data() : nullptr, begin, end, sorted_push_.data());
    });
    parallel_for(leaves, kLeavesPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        double sum = 0.0;
        for (std::size_t leaf = begin; leaf < end; ++leaf) sum += push_in_own_leaf(leaf, sorted_push_.data());
        chunk_sums_[walk_chunks + chunk] = sum;
        for (auto slot = leaf_begin_[begin]; slot < leaf_begin_[end]; ++slot) {
            const auto from = static_cast<std::size_t>(slot);
            push.row(order_[from])[0] = sorted_push_[2 * from];
            push.row(order_[from])[1] = sorted_push_[2 * from + 1];
        }
    });
    double normalizer = 0.0;
    for (const double sum : chunk_sums_) normalizer += sum;
    return normalizer;
}

// Adds the push of the other points in a point's own leaf, without the point itself. They count as one mass at the
// leaf's center or at their own center of mass.
double Quadtree::push_in_own_leaf(std::size_t leaf, float* push) const {
    const std::int32_t begin = leaf_begin_[leaf];
    const std::int32_t end = leaf_begin_[leaf + 1];
    if (end - begin < 2) return 0.0;
    const auto cell = static_cast<std::size_t>(leaf_cell_[leaf]);
    const double total = is_weighted() ? sums_[cell].weight : end - begin;
    double sum = 0.0;
    for (auto slot = static_cast<std::size_t>(begin); slot < static_cast<std::size_t>(end); ++slot) {
        const double x = xs_[slot];
        const double y = ys_[slot];
        const double weight = is_weighted() ? weights_[slot] : 1.0;
        const double others = total - weight;
        if (!(others > 0.0)) continue;  // rounding has lost light points beside a heavy one
        const bool mass = center_ == Center::mass;
        const double dx = x - (mass ? (sums_[cell].x - weight * x) / others : static_cast<double>(cells_[cell].x));
        const double dy = y - (mass ? (sums_[cell].y - weight * y) / others : static_cast<double>(cells_[cell].y));
        const double kernel = 1.0 / (1.0 + dx * dx + dy * dy);
        push[2 * slot] += static_cast<float>(others * kernel * kernel * dx);
        push[2 * slot + 1] += static_cast<float>(others * kernel * kernel * dy);
        sum += weight * others * kernel;
    }
    return sum;
}

}  // namespace pixelsne
