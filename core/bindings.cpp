// The border to Python: check arrays, release the GIL, call. Nothing else happens here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>

#include "affinities/perplexity.hpp"
#include "affinities/symmetrize.hpp"
#include "forces/attraction.hpp"
#include "forces/barnes_hut.hpp"
#include "forces/exact_repulsion.hpp"
#include "forces/pixel_field.hpp"
#include "forces/pixel_quadtree.hpp"
#include "forces/placing.hpp"
#include "kernels.hpp"
#include "large_memory.hpp"
#include "neighbors/cluster_search.hpp"
#include "neighbors/exact.hpp"
#include "neighbors/random_projection_forest.hpp"
#include "neighbors/vantage_point_tree.hpp"
#include "progress_token.hpp"
#include "project.hpp"
#include "step.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace pixelsne {
namespace {

template <class Number>
using Matrix = nb::ndarray<Number, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Number>
using Vector = nb::ndarray<Number, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Unlocked = nb::gil_scoped_release;

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

template <class Number>
ArrayView<Number> view(const Matrix<Number>& matrix) {
    return {matrix.data(), matrix.shape(0), matrix.shape(1)};
}

template <class Number>
ArrayView<Number> map_view(const Matrix<Number>& matrix, std::size_t n, const char* message) {
    require(matrix.shape(0) == n && matrix.shape(1) == 2, message);
    return view(matrix);
}

Positions positions_view(const Matrix<const float>& positions) {
    require(positions.shape(0) >= 1, "positions: at least one row");
    require(positions.shape(0) < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
            "positions: fewer than 2^31 rows");
    return map_view(positions, positions.shape(0), "positions: (n, 2)");
}

template <class Number>
Vector<Number> owned(Numbers<Number> numbers, std::size_t size) {
    Number* data = numbers.release();
    nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
    return Vector<Number>(data, {size}, owner);
}

template <class Number>
Matrix<Number> new_matrix(std::size_t rows, std::size_t columns) {
    Number* data = allocate_numbers<Number>(rows * columns).release();
    nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
    return Matrix<Number>(data, {rows, columns}, owner);
}

void require_countable(const Matrix<const float>& points) {
    require(points.shape(0) < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
            "points: fewer than 2^31 rows");
}

void require_finite(const Matrix<const float>& numbers, const char* message) {
    bool finite = true;
    for (std::size_t place = 0; place < numbers.size(); ++place) {
        finite = finite && std::isfinite(numbers.data()[place]);
    }
    require(finite, message);
}

template <class Search>
std::pair<Matrix<std::int32_t>, Matrix<float>> find_neighbors(const Matrix<const float>& points, std::size_t k,
                                                              Search&& search) {
    require(points.shape(0) >= 2 && points.shape(1) >= 1, "points: at least two rows and one column");
    require_countable(points);
    require(k >= 1 && k < points.shape(0), "k: between 1 and the number of points less one");
    require_finite(points, "points: finite");
    auto indices = new_matrix<std::int32_t>(points.shape(0), k);
    auto distances = new_matrix<float>(points.shape(0), k);
    {
        Unlocked unlocked;
        search(view(points), NeighborTable{view(indices), view(distances)});
    }
    return {indices, distances};
}

void require_columns_below(const std::int32_t* columns, std::size_t count, std::size_t n, const char* message) {
    std::int32_t smallest = 0;
    std::int32_t largest = 0;
    for (std::size_t place = 0; place < count; ++place) {
        smallest = std::min(smallest, columns[place]);
        largest = std::max(largest, columns[place]);
    }
    require(smallest >= 0 && static_cast<std::size_t>(largest) < n, message);
}

// Affinities checked once, so that every iteration may trust them. Keeps the arrays alive.
class Attraction {
public:
    Attraction(Vector<const std::int64_t> offsets, Vector<const std::int32_t> columns, Vector<const float> values)
        : offsets_(std::move(offsets)), columns_(std::move(columns)), values_(std::move(values)) {
        require(offsets_.shape(0) >= 2, "offsets: one more than the number of points");
        require(columns_.shape(0) == values_.shape(0), "columns and values: equally long");
        const std::size_t n = offsets_.shape(0) - 1;
        bool ascending = offsets_.data()[0] == 0 && offsets_.data()[n] == static_cast<std::int64_t>(columns_.shape(0));
        for (std::size_t row = 0; row < n; ++row)
            ascending = ascending && offsets_.data()[row] <= offsets_.data()[row + 1];
        require(ascending, "offsets: from 0 to the number of values, never falling");
        require_columns_below(columns_.data(), columns_.shape(0), n, "columns: between 0 and n - 1");
    }

    void forces(const Matrix<const float>& positions, Matrix<float> force, int threads) const {
        const SparseRows affinities = rows();
        const auto from = map_view(positions, affinities.rows, "positions: (n, 2) with the n of the affinities");
        const auto to = map_view(force, affinities.rows, "force: (n, 2) with the n of the affinities");
        Unlocked unlocked;
        attraction(affinities, from, threads, to);
    }

    std::pair<double, double> divergence(const Matrix<const float>& positions, int threads) {
        const SparseRows affinities = rows();
        const auto from = map_view(positions, affinities.rows, "positions: (n, 2) with the n of the affinities");
        Unlocked unlocked;
        std::call_once(summed_, [&] { sums_ = sum_affinities(affinities, threads); });
        return {sums_.entropy + sum_log_distances(affinities, from, threads), sums_.mass};
    }

private:
    SparseRows rows() const { return {offsets_.data(), columns_.data(), values_.data(), offsets_.shape(0) - 1}; }

    Vector<const std::int64_t> offsets_;
    Vector<const std::int32_t> columns_;
    Vector<const float> values_;
    std::once_flag summed_;
    AffinitySums sums_{};
};

Center center_named(const std::string& name) {
    require(name == "mass" || name == "cell", "center: 'mass' or 'cell'");
    return name == "mass" ? Center::mass : Center::cell;
}

// Both trees share one workspace, kept from iteration to iteration.
class TreeRepulsion {
public:
    double barnes_hut(const Matrix<const float>& positions, double theta, Matrix<float> push, int threads) {
        const auto from = positions_view(positions);
        return run(from, push, threads,
                   [&] { tree_.build(from, grid_around(from, threads), Center::mass, theta, threads); });
    }

    double pixel_tree(const Matrix<const float>& positions, std::pair<double, double> origin,
                      std::pair<double, double> unit_per_pixel, std::pair<std::uint32_t, std::uint32_t> resolution,
                      double theta, const std::string& center, Matrix<float> push, int threads) {
        const auto from = positions_view(positions);
        const Center kind = center_named(center);
        require(resolution.first >= 1 && resolution.first <= kMostPixels && resolution.second >= 1 &&
                    resolution.second <= kMostPixels,
                "resolution: 1 to 65536 a side");
        require(unit_per_pixel.first > 0.0 && unit_per_pixel.second > 0.0, "unit_per_pixel: positive");
        const double origins[2] = {origin.first, origin.second};
        const double units[2] = {unit_per_pixel.first, unit_per_pixel.second};
        const LeafGrid grid = pixel_grid(origins, units, resolution.first, resolution.second);
        return run(from, push, threads, [&] { tree_.build(from, grid, kind, theta, threads); });
    }

    // What the last call spent on building the tree and on walking it.
    std::pair<double, double> seconds() const { return {build_seconds_, walk_seconds_}; }

    // Rows of (level, first point, point after the last, first cell after it), in preorder.
    Matrix<std::int32_t> cells() const {
        auto table = new_matrix<std::int32_t>(tree_.cells().size(), 4);
        std::int32_t* row = table.data();
        for (const TreeCell& cell : tree_.cells()) {
            *row++ = cell.level;
            *row++ = cell.begin;
            *row++ = cell.end;
            *row++ = cell.skip;
        }
        return table;
    }

private:
    template <class Build>
    double run(Positions positions, Matrix<float>& push, int threads, Build&& build) {
        const auto to = map_view(push, positions.rows, "push: the shape of positions");
        Unlocked unlocked;
        const auto start = Clock::now();
        build();
        const auto built = Clock::now();
        const double normalizer = tree_.repulsion(threads, to);
        build_seconds_ = std::chrono::duration<double>(built - start).count();
        walk_seconds_ = std::chrono::duration<double>(Clock::now() - built).count();
        return normalizer;
    }

    using Clock = std::chrono::steady_clock;

    Quadtree tree_;
    double build_seconds_ = 0.0;
    double walk_seconds_ = 0.0;
};

// The lattice, its spectrum and its buffers are kept from iteration to iteration.
class FieldRepulsion {
public:
    double pixel_field(const Matrix<const float>& positions, std::size_t most_nodes, Matrix<float> push, int threads) {
        const auto from = positions_view(positions);
        const auto to = map_view(push, from.rows, "push: the shape of positions");
        require(most_nodes >= kFewestNodes && most_nodes <= kMostNodes && most_nodes % 16 == 0,
                "most_nodes: a multiple of 16 from 32 to 4096");
        Unlocked unlocked;
        return field_.repulsion(from, most_nodes, threads, to);
    }

    // Of the last call: spacing, columns and rows of the lattice, points left out of it, and whether a
    // tree has taken its place.
    std::tuple<double, std::size_t, std::size_t, std::size_t, bool> lattice() const {
        const FieldLattice& lattice = field_.lattice();
        return {lattice.spacing, lattice.nodes[0], lattice.nodes[1], field_.outliers(), field_.used_tree()};
    }

private:
    PixelField field_;
};

using BoundsTuple = std::tuple<double, double, double, double>;

BoundsTuple as_tuple(const Bounds& bounds) { return {bounds.low[0], bounds.low[1], bounds.high[0], bounds.high[1]}; }

BoundsTuple bounds_of(const Matrix<const float>& positions, int threads) {
    const auto from = positions_view(positions);
    Unlocked unlocked;
    return as_tuple(find_bounds(from, threads));
}

BoundsTuple step(Matrix<float> positions, Matrix<float> velocity, Matrix<float> gains,
                 const Matrix<const float>& attraction, const Matrix<const float>& push, double exaggeration,
                 double normalizer, double learning_rate, double momentum, double step_limit, int threads) {
    const std::size_t n = positions.shape(0);
    require(n >= 1, "positions: at least one row");
    require(normalizer > 0.0, "normalizer: positive");
    DescentState state{map_view(positions, n, "positions: (n, 2)"),
                       map_view(velocity, n, "velocity: the shape of positions"),
                       map_view(gains, n, "gains: the shape of positions")};
    const auto pull = map_view(attraction, n, "attraction: the shape of positions");
    const auto away = map_view(push, n, "push: the shape of positions");
    const StepSettings settings{static_cast<float>(exaggeration), static_cast<float>(1.0 / normalizer),
                                static_cast<float>(learning_rate), static_cast<float>(momentum),
                                static_cast<float>(step_limit)};
    Unlocked unlocked;
    return as_tuple(take_step(settings, pull, away, threads, state));
}

void require_perplexities(const std::vector<double>& perplexities) {
    require(!perplexities.empty(), "perplexities: at least one");
    for (const double perplexity : perplexities) require(perplexity >= 1.0, "perplexities: 1 or more");
}

Matrix<float> conditional_affinities(const Matrix<const float>& distances, const std::vector<double>& perplexities,
                                     ProgressToken& token, int threads) {
    require(distances.shape(1) >= 1, "distances: at least one column");
    require_perplexities(perplexities);
    auto conditional = new_matrix<float>(distances.shape(0), distances.shape(1));
    Unlocked unlocked;
    calibrate(view(distances), perplexities, threads, token, view(conditional));
    return conditional;
}

std::tuple<Vector<std::int64_t>, Vector<std::int32_t>, Vector<float>> joint_affinities(
    const Matrix<const std::int32_t>& indices, const Matrix<const float>& conditional, ProgressToken& token,
    int threads) {
    require(indices.shape(0) == conditional.shape(0) && indices.shape(1) == conditional.shape(1),
            "indices and conditional: the same shape");
    require(indices.shape(0) >= 1 && indices.shape(1) >= 1, "indices: at least one row and one column");
    require_columns_below(indices.data(), indices.size(), indices.shape(0), "indices: between 0 and n - 1");
    JointAffinities joint;
    {
        Unlocked unlocked;
        joint = symmetrize(view(indices), view(conditional), threads, token);
    }
    const std::size_t n = indices.shape(0);
    const auto count = static_cast<std::size_t>(joint.offsets[n]);
    return {owned(std::move(joint.offsets), n + 1), owned(std::move(joint.columns), count),
            owned(std::move(joint.values), count)};
}

std::pair<Matrix<std::int32_t>, Matrix<float>> neighbors_of_strangers(const Matrix<const float>& queries,
                                                                      const Matrix<const float>& points, std::size_t k,
                                                                      ProgressToken& token, int threads) {
    require(queries.shape(1) == points.shape(1) && points.shape(1) >= 1, "queries and points: the same columns");
    require(k >= 1 && k <= points.shape(0), "k: between 1 and the number of points");
    require_countable(points);
    require_finite(points, "points: finite");
    require_finite(queries, "queries: finite");
    auto indices = new_matrix<std::int32_t>(queries.shape(0), k);
    auto distances = new_matrix<float>(queries.shape(0), k);
    {
        Unlocked unlocked;
        find_neighbors_of_strangers(view(queries), view(points), threads, token,
                                    NeighborTable{view(indices), view(distances)});
    }
    return {indices, distances};
}

Matrix<float> project(const Matrix<const float>& rows, const Matrix<const float>& directions, int threads) {
    require(rows.shape(1) == directions.shape(0), "rows and directions: columns of the one, rows of the other");
    auto out = new_matrix<float>(rows.shape(0), directions.shape(1));
    Unlocked unlocked;
    project_rows(view(rows), view(directions), threads, view(out));
    return out;
}

Matrix<float> place_points_on(const Matrix<const float>& map, const Matrix<const std::int32_t>& neighbors,
                              const Matrix<const float>& affinities, ProgressToken& token, int threads) {
    const Positions positions = positions_view(map);
    require(neighbors.shape(0) == affinities.shape(0) && neighbors.shape(1) == affinities.shape(1),
            "neighbors and affinities: the same shape");
    require(neighbors.shape(1) >= 1, "neighbors: at least one column");
    require_columns_below(neighbors.data(), neighbors.size(), positions.rows, "neighbors: rows of the map");
    auto placed = new_matrix<float>(neighbors.shape(0), 2);
    Unlocked unlocked;
    place_new_points(positions, NewPoints{view(neighbors), view(affinities)}, threads, token, view(placed));
    return placed;
}

void bind_neighbors(nb::module_& module) {
    module.def("neighbors_of_strangers", &neighbors_of_strangers, "queries"_a.noconvert(), "points"_a.noconvert(),
               "k"_a, "token"_a, "threads"_a);
    module.def("project_rows", &project, "rows"_a.noconvert(), "directions"_a.noconvert(), "threads"_a);
    module.def("place_new_points", &place_points_on, "placed"_a.noconvert(), "neighbors"_a.noconvert(),
               "affinities"_a.noconvert(), "token"_a, "threads"_a);
    module.def(
        "exact_neighbors",
        [](const Matrix<const float>& points, std::size_t k, ProgressToken& token, int threads) {
            return find_neighbors(points, k, [&](Points rows, NeighborTable table) {
                find_exact_neighbors(rows, threads, token, table);
            });
        },
        "points"_a.noconvert(), "k"_a, "token"_a, "threads"_a);
    module.def(
        "vp_tree_neighbors",
        [](const Matrix<const float>& points, std::size_t k, std::uint64_t seed, ProgressToken& token, int threads) {
            return find_neighbors(points, k, [&](Points rows, NeighborTable table) {
                find_vantage_point_neighbors(rows, seed, threads, token, table);
            });
        },
        "points"_a.noconvert(), "k"_a, "seed"_a, "token"_a, "threads"_a);
    module.def(
        "rp_forest_neighbors",
        [](const Matrix<const float>& points, std::size_t k, std::uint64_t seed, std::size_t trees,
           std::size_t candidates, std::size_t rounds, std::size_t reach, ProgressToken& token, int threads) {
            require(trees >= 1, "trees: 1 or more");
            const ForestSettings settings{seed, trees, candidates, rounds, reach};
            return find_neighbors(points, k, [&](Points rows, NeighborTable table) {
                find_forest_neighbors(rows, settings, threads, token, table);
            });
        },
        "points"_a.noconvert(), "k"_a, "seed"_a, "trees"_a, "candidates"_a, "rounds"_a, "reach"_a, "token"_a,
        "threads"_a);
    module.def(
        "cluster_neighbors",
        [](const Matrix<const float>& points, std::size_t k, std::uint64_t seed, std::size_t size, double recall,
           std::size_t probes, std::size_t reach, bool reorder, ProgressToken& token, int threads) {
            require(size >= 1, "size: 1 or more");
            require(recall > 0.0 && recall <= 1.0, "recall: above 0, at most 1");
            require(probes >= 1, "probes: 1 or more");
            const ClusterSettings settings{seed, size, recall, probes, reach};
            const std::size_t places = reorder ? points.shape(0) : 0;
            Numbers<std::int32_t> order = allocate_numbers<std::int32_t>(places);
            auto found = find_neighbors(points, k, [&](Points rows, NeighborTable table) {
                find_cluster_neighbors(rows, settings, threads, token, table, reorder ? order.get() : nullptr);
            });
            return std::make_tuple(found.first, found.second, owned(std::move(order), places));
        },
        "points"_a.noconvert(), "k"_a, "seed"_a, "size"_a, "recall"_a, "probes"_a, "reach"_a, "reorder"_a, "token"_a,
        "threads"_a);
}

void bind_forces(nb::module_& module) {
    nb::class_<Attraction>(module, "Attraction")
        .def(nb::init<Vector<const std::int64_t>, Vector<const std::int32_t>, Vector<const float>>(),
             "offsets"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert())
        .def("forces", &Attraction::forces, "positions"_a.noconvert(), "force"_a.noconvert(), "threads"_a)
        .def("divergence", &Attraction::divergence, "positions"_a.noconvert(), "threads"_a);
    module.def(
        "exact_repulsion",
        [](const Matrix<const float>& positions, Matrix<float> push, int threads) {
            const auto from = positions_view(positions);
            const auto to = map_view(push, from.rows, "push: the shape of positions");
            Unlocked unlocked;
            return exact_repulsion(from, threads, to);
        },
        "positions"_a.noconvert(), "push"_a.noconvert(), "threads"_a);
    nb::class_<TreeRepulsion>(module, "TreeRepulsion")
        .def(nb::init<>())
        .def("barnes_hut", &TreeRepulsion::barnes_hut, "positions"_a.noconvert(), "theta"_a, "push"_a.noconvert(),
             "threads"_a)
        .def("pixel_tree", &TreeRepulsion::pixel_tree, "positions"_a.noconvert(), "origin"_a, "unit_per_pixel"_a,
             "resolution"_a, "theta"_a, "center"_a, "push"_a.noconvert(), "threads"_a)
        .def("cells", &TreeRepulsion::cells)
        .def("seconds", &TreeRepulsion::seconds);
    nb::class_<FieldRepulsion>(module, "FieldRepulsion")
        .def(nb::init<>())
        .def("pixel_field", &FieldRepulsion::pixel_field, "positions"_a.noconvert(), "most_nodes"_a,
             "push"_a.noconvert(), "threads"_a)
        .def("lattice", &FieldRepulsion::lattice);
}

}  // namespace
}  // namespace pixelsne

NB_MODULE(_core, module) {
    using namespace pixelsne;
    module.attr("instruction_set") = kernels().name;
    nb::exception<Cancelled>(module, "Cancelled");
    module.def("release_free_memory", &release_free_memory);
    nb::class_<ProgressToken>(module, "ProgressToken")
        .def(nb::init<>())
        .def("expect", &ProgressToken::expect, "units"_a)
        .def("advance", &ProgressToken::advance, "units"_a)
        .def("cancel", &ProgressToken::cancel)
        .def_prop_ro("cancelled", &ProgressToken::cancelled)
        .def_prop_ro("fraction", &ProgressToken::fraction);
    bind_neighbors(module);
    module.def("conditional_affinities", &conditional_affinities, "distances"_a.noconvert(), "perplexities"_a,
               "token"_a, "threads"_a);
    module.def("joint_affinities", &joint_affinities, "indices"_a.noconvert(), "conditional"_a.noconvert(), "token"_a,
               "threads"_a);
    bind_forces(module);
    module.def("bounds", &bounds_of, "positions"_a.noconvert(), "threads"_a);
    module.def("step", &step, "positions"_a.noconvert(), "velocity"_a.noconvert(), "gains"_a.noconvert(),
               "attraction"_a.noconvert(), "push"_a.noconvert(), "exaggeration"_a, "normalizer"_a, "learning_rate"_a,
               "momentum"_a, "step_limit"_a, "threads"_a);
}
