// A quadtree over fixed cells. The geometry is implicit: only counts (and sums) are computed.
//
// A leaf is a cell of an integer grid: a pixel of the screen (P-Quadtree), or one of 2^31 parts of the map's extent
// along each axis (D-Quadtree). A cell of level l has 2^(levels - l) leaves along each side. A bit shift finds the cell
// of a leaf. In Morton order, which interleaves the bits of both coordinates, every cell is a run of consecutive
// points. So one sort and one pass build all levels, and storage grows with the occupied cells only.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../kernels.hpp"
#include "../point_weights.hpp"

namespace pixelsne {

constexpr int kMaxLevels = 31;

// The position of leaf (0, 0) and the size of the leaves, in embedding units.
struct LeafGrid {
    double origin[2];
    double unit[2];
    std::uint32_t sides[2];  // leaves along each axis, at least 1; points beyond are clamped
    int levels;              // 2^levels >= both sides; at most kMaxLevels
};

enum class Center { mass, cell };

class Quadtree {
public:
    // Sorts the points into the grid's leaves and builds the cells above them. With centers of mass, cells with a
    // single occupied child are omitted, because the child has the same mass and center and may be used at least as
    // early. With cell centers every occupied cell is kept, as in the paper.
    void build(Positions positions, PointWeights weights, const LeafGrid& grid, Center center, double theta,
               int threads);

    // Writes push (n, 2), not divided by the normalizer and without the factor 4. Returns the normalizer.
    double repulsion(int threads, ArrayView<float> push);

    const std::vector<TreeCell>& cells() const { return cells_; }

private:
    struct Sum {
        double x, y, weight;
    };

    bool is_weighted() const { return !weights_.empty(); }
    bool has_sums() const { return center_ == Center::mass || is_weighted(); }
    void sort_points(Positions positions, PointWeights weights, int threads);
    void sort_by_digit(int shift);
    void find_leaves();
    void find_branch_levels();
    void build_cells();
    void open_cells(std::size_t leaf);
    void add_points(std::size_t leaf);
    void close_cells(int deeper_than, std::int32_t end);
    void set_weight(std::size_t cell_index);
    void set_cell_center(TreeCell& cell) const;
    double push_in_own_leaf(std::size_t leaf, float* push) const;

    LeafGrid grid_{};
    Center center_ = Center::mass;
    float squared_opening_radius_[kMaxLevels + 1] = {};  // by level
    std::vector<std::uint64_t> codes_, spare_codes_;     // (n) Morton codes, sorted
    std::vector<std::uint32_t> order_, spare_order_;     // (n) Morton order -> point
    std::vector<std::uint32_t> digit_offsets_;
    std::vector<float> xs_, ys_;             // (n) positions in Morton order
    std::vector<float> weights_;             // (n) weights in Morton order; empty: none
    std::vector<std::int32_t> leaf_begin_;   // (leaves + 1) first point of each leaf
    std::vector<std::int8_t> shared_level_;  // (leaves) level of the deepest cell shared with the previous leaf, or -1
    std::vector<std::uint32_t> branch_levels_;  // (leaves) see find_branch_levels
    std::vector<std::int32_t> leaf_cell_;       // (leaves) index of the leaf's cell
    std::vector<TreeCell> cells_;
    std::vector<Sum> sums_;           // (cells) sums of weighted positions and of weights; if has_sums()
    std::vector<std::int32_t> open_;  // cells whose points are still being read
    std::vector<float> sorted_push_;  // (n, 2)
    std::vector<double> chunk_sums_;
};

}  // namespace pixelsne
