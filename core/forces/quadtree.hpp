// A quadtree over fixed cells: the geometry is implicit, only counts (and sums) are ever computed.
//
// A leaf is one place of a grid of whole numbers: a pixel of the screen (P-Quadtree), or one of 2^31
// parts of the map's extent along each axis (D-Quadtree). Level l has cells of 2^(levels - l) leaves a
// side, found by shifting. With the two numbers' bits interleaved (Morton order) every cell is a run
// of consecutive points, so one sort and one pass build all levels. Storage follows the occupied cells.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../kernels.hpp"

namespace pixelsne {

constexpr int kMostLevels = 31;

// Where leaf (0, 0) begins and how large leaves are, in embedding units.
struct LeafGrid {
    double origin[2];
    double unit[2];
    std::uint32_t sides[2];  // leaves along each axis, at least 1; points beyond are clamped
    int levels;              // 2^levels >= both sides; at most kMostLevels
};

enum class Center { mass, cell };

class Quadtree {
public:
    // Sorts the points into the grid's leaves and builds the cells above them. With centers of mass, a
    // cell whose points all lie in one child is left out: the child has the same mass and center and
    // may be used at least as early. With cell centers every occupied cell is kept, as in the paper.
    void build(Positions positions, const LeafGrid& grid, Center center, double theta, int threads);

    // push: (n, 2), undivided, without the factor 4. Returns the normalizer.
    double repulsion(int threads, ArrayView<float> push);

    const std::vector<TreeCell>& cells() const { return cells_; }

private:
    struct Sum {
        double x, y;
    };

    void sort_points(Positions positions, int threads);
    void sort_by_digit(int shift);
    void find_leaves();
    void find_branchings();
    void build_cells();
    void open_cells(std::size_t leaf);
    void add_points(std::size_t leaf);
    void close_cells(int deeper_than, std::int32_t end);
    void set_mass_center(std::size_t place);
    void set_cell_center(TreeCell& cell) const;
    double push_in_own_leaf(std::size_t leaf, float* push) const;

    LeafGrid grid_{};
    Center center_ = Center::mass;
    float reach_[kMostLevels + 1] = {};               // by level
    std::vector<std::uint64_t> codes_, spare_codes_;  // (n) Morton codes, sorted
    std::vector<std::uint32_t> order_, spare_order_;  // (n) Morton order -> point
    std::vector<std::uint32_t> digit_places_;
    std::vector<float> xs_, ys_;             // (n) positions in Morton order
    std::vector<std::int32_t> leaf_begin_;   // (leaves + 1) first point of each leaf
    std::vector<std::int8_t> shared_level_;  // (leaves) deepest cell shared with the leaf before, or -1
    std::vector<std::uint32_t> branchings_;  // (leaves) see find_branchings
    std::vector<std::int32_t> leaf_cell_;    // (leaves) place of the leaf's cell
    std::vector<TreeCell> cells_;
    std::vector<Sum> sums_;           // (cells) of positions; only for centers of mass
    std::vector<std::int32_t> open_;  // cells whose points are still being read
    std::vector<float> sorted_push_;  // (n, 2)
    std::vector<double> chunk_sums_;
};

}  // namespace pixelsne
