// Bindings of the forces, and of the placing of new points.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <mutex>
#include <optional>
#include <string>

#include "bindings_common.hpp"
#include "forces/attraction.hpp"
#include "forces/exact_repulsion.hpp"
#include "forces/pixel_field.hpp"
#include "forces/pixel_quadtree.hpp"
#include "forces/placing.hpp"
#include "forces/tree_repulsion.hpp"
#include "progress_token.hpp"

namespace pixelsne {
namespace {

// Affinities that are checked once, so that no iteration needs to check them. Keeps the arrays alive.
class Attraction {
public:
    // points: number of points that columns index; 0: the number of rows.
    Attraction(Vector<const std::int64_t> offsets, Vector<const std::int32_t> columns, Vector<const float> values,
               std::size_t points)
        : offsets_(std::move(offsets)), columns_(std::move(columns)), values_(std::move(values)) {
        require(offsets_.shape(0) >= 2, "offsets: one more than the number of points");
        require(columns_.shape(0) == values_.shape(0), "columns and values: equally long");
        const std::size_t n = offsets_.shape(0) - 1;
        bool ascending = offsets_.data()[0] == 0 && offsets_.data()[n] == static_cast<std::int64_t>(columns_.shape(0));
        for (std::size_t row = 0; row < n; ++row)
            ascending = ascending && offsets_.data()[row] <= offsets_.data()[row + 1];
        require(ascending, "offsets: from 0 to the number of values, never falling");
        require(points == 0 || points >= n, "points: 0, or at least the number of rows");
        points_ = points == 0 ? n : points;
        require_columns_below(columns_.data(), columns_.shape(0), points_,
                              "columns: 0 or more, and below the number of points");
    }

    void forces(const Matrix<const float>& positions, Matrix<float> force, int threads) const {
        const SparseRows affinities = rows();
        const auto from = map_view(positions, points_, "positions: (points, 2) with the points of the affinities");
        const auto to = map_view(force, affinities.rows, "force: (rows, 2) with the rows of the affinities");
        GilRelease released;
        attraction(affinities, from, threads, to);
    }

    std::pair<double, double> divergence(const Matrix<const float>& positions, int threads) {
        const SparseRows affinities = rows();
        const auto from = map_view(positions, points_, "positions: (points, 2) with the points of the affinities");
        GilRelease released;
        std::call_once(summed_, [&] { sums_ = sum_affinities(affinities, threads); });
        return {sums_.negative_entropy + sum_log_distances(affinities, from, threads), sums_.mass};
    }

private:
    SparseRows rows() const { return {offsets_.data(), columns_.data(), values_.data(), offsets_.shape(0) - 1}; }

    Vector<const std::int64_t> offsets_;
    Vector<const std::int32_t> columns_;
    Vector<const float> values_;
    std::size_t points_;
    std::once_flag summed_;
    AffinitySums sums_{};
};

using OptionalWeights = std::optional<Vector<const float>>;

PointWeights weights_of(const OptionalWeights& weights, std::size_t n) {
    if (!weights) return {};
    require(weights->shape(0) == n, "weights: one for each row of positions");
    bool valid = true;
    for (std::size_t point = 0; point < n; ++point) {
        valid = valid && weights->data()[point] > 0.0f && std::isfinite(weights->data()[point]);
    }
    require(valid, "weights: positive and finite");
    return {weights->data()};
}

Center center_named(const std::string& name) {
    require(name == "mass" || name == "cell", "center: 'mass' or 'cell'");
    return name == "mass" ? Center::mass : Center::cell;
}

double repel_exactly(const Matrix<const float>& positions, Matrix<float> push, int threads,
                     const OptionalWeights& weights) {
    const auto from = positions_view(positions);
    const auto to = map_view(push, from.rows, "push: the shape of positions");
    const PointWeights checked = weights_of(weights, from.rows);
    GilRelease released;
    return exact_repulsion(from, checked, threads, to);
}

double repel_by_barnes_hut(TreeRepulsion& tree, const Matrix<const float>& positions, double theta, Matrix<float> push,
                           int threads, const OptionalWeights& weights) {
    const auto from = positions_view(positions);
    const auto to = map_view(push, from.rows, "push: the shape of positions");
    const PointWeights checked = weights_of(weights, from.rows);
    GilRelease released;
    return tree.barnes_hut(from, checked, theta, threads, to);
}

double repel_by_pixel_tree(TreeRepulsion& tree, const Matrix<const float>& positions, std::pair<double, double> origin,
                           std::pair<double, double> unit_per_pixel, std::pair<std::uint32_t, std::uint32_t> resolution,
                           double theta, const std::string& center, Matrix<float> push, int threads,
                           const OptionalWeights& weights) {
    const auto from = positions_view(positions);
    const auto to = map_view(push, from.rows, "push: the shape of positions");
    const Center kind = center_named(center);
    require(resolution.first >= 1 && resolution.first <= kMaxPixels && resolution.second >= 1 &&
                resolution.second <= kMaxPixels,
            "resolution: 1 to 65536 a side");
    require(unit_per_pixel.first > 0.0 && unit_per_pixel.second > 0.0, "unit_per_pixel: positive");
    const double origins[2] = {origin.first, origin.second};
    const double units[2] = {unit_per_pixel.first, unit_per_pixel.second};
    const LeafGrid pixels = pixel_grid(origins, units, resolution.first, resolution.second);
    const PointWeights checked = weights_of(weights, from.rows);
    GilRelease released;
    return tree.pixel_tree(from, checked, pixels, kind, theta, threads, to);
}

// Returns the seconds that the last call spent on building the tree and on traversing it.
std::pair<double, double> seconds_of(const TreeRepulsion& tree) { return {tree.build_seconds(), tree.walk_seconds()}; }

// Returns rows of (level, first point, point after the last, first cell after it), in preorder.
Matrix<std::int32_t> cells_of(const TreeRepulsion& tree) {
    auto table = new_matrix<std::int32_t>(tree.cells().size(), 4);
    std::int32_t* row = table.data();
    for (const TreeCell& cell : tree.cells()) {
        *row++ = cell.level;
        *row++ = cell.begin;
        *row++ = cell.end;
        *row++ = cell.skip;
    }
    return table;
}

double repel_by_pixel_field(PixelField& field, const Matrix<const float>& positions, std::size_t max_nodes,
                            Matrix<float> push, int threads, const OptionalWeights& weights, double spacing) {
    const auto from = positions_view(positions);
    const auto to = map_view(push, from.rows, "push: the shape of positions");
    require(is_lattice_side(max_nodes), "max_nodes: a multiple of 16 from 32 to 4096");
    require(spacing > 0.0 && spacing <= kMaxSpacing, "spacing: above 0, at most 1.2");
    const PointWeights checked = weights_of(weights, from.rows);
    GilRelease released;
    return field.repulsion(from, checked, {max_nodes, spacing}, threads, to);
}

// Returns the spacing, columns and rows of the last call's lattice, the number of points outside it, and whether a tree
// replaced it.
std::tuple<double, std::size_t, std::size_t, std::size_t, bool> lattice_of(const PixelField& field) {
    const FieldLattice& lattice = field.lattice();
    return {lattice.spacing, lattice.nodes[0], lattice.nodes[1], field.outliers(), field.used_tree()};
}

Matrix<float> place_points(const Matrix<const float>& positions, const Matrix<const std::int32_t>& neighbors,
                           const Matrix<const float>& affinities, ProgressToken& token, int threads,
                           const OptionalWeights& weights) {
    const auto map = positions_view(positions);
    const PointWeights checked = weights_of(weights, map.rows);
    require(neighbors.shape(0) == affinities.shape(0) && neighbors.shape(1) == affinities.shape(1),
            "neighbors and affinities: the same shape");
    require(neighbors.shape(1) >= 1, "neighbors: at least one column");
    require_columns_below(neighbors.data(), neighbors.size(), map.rows, "neighbors: rows of the map");
    auto placed = new_matrix<float>(neighbors.shape(0), 2);
    GilRelease released;
    place_new_points(map, checked, NewPoints{view(neighbors), view(affinities)}, threads, token, view(placed));
    return placed;
}

}  // namespace

void bind_forces(nb::module_& module) {
    nb::class_<Attraction>(module, "Attraction")
        .def(nb::init<Vector<const std::int64_t>, Vector<const std::int32_t>, Vector<const float>, std::size_t>(),
             "offsets"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "points"_a = 0)
        .def("forces", &Attraction::forces, "positions"_a.noconvert(), "force"_a.noconvert(), "threads"_a)
        .def("divergence", &Attraction::divergence, "positions"_a.noconvert(), "threads"_a);
    module.def("exact_repulsion", &repel_exactly, "positions"_a.noconvert(), "push"_a.noconvert(), "threads"_a,
               "weights"_a.noconvert() = nb::none());
    nb::class_<TreeRepulsion>(module, "TreeRepulsion")
        .def(nb::init<>())
        .def("barnes_hut", &repel_by_barnes_hut, "positions"_a.noconvert(), "theta"_a, "push"_a.noconvert(),
             "threads"_a, "weights"_a.noconvert() = nb::none())
        .def("pixel_tree", &repel_by_pixel_tree, "positions"_a.noconvert(), "origin"_a, "unit_per_pixel"_a,
             "resolution"_a, "theta"_a, "center"_a, "push"_a.noconvert(), "threads"_a,
             "weights"_a.noconvert() = nb::none())
        .def("cells", &cells_of)
        .def("seconds", &seconds_of);
    nb::class_<PixelField>(module, "FieldRepulsion")
        .def(nb::init<>())
        .def("pixel_field", &repel_by_pixel_field, "positions"_a.noconvert(), "max_nodes"_a, "push"_a.noconvert(),
             "threads"_a, "weights"_a.noconvert() = nb::none(), "spacing"_a = kSpacing)
        .def("lattice", &lattice_of);
    module.def("place_new_points", &place_points, "positions"_a.noconvert(), "neighbors"_a.noconvert(),
               "affinities"_a.noconvert(), "token"_a, "threads"_a, "weights"_a.noconvert() = nb::none());
}

}  // namespace pixelsne
