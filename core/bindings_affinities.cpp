// Affinities, projections and new points, for Python.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "affinities/perplexity.hpp"
#include "affinities/symmetrize.hpp"
#include "border.hpp"
#include "forces/placing.hpp"
#include "progress_token.hpp"
#include "project.hpp"

namespace pixelsne {
namespace {

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

using JointArrays = std::tuple<Vector<std::int64_t>, Vector<std::int32_t>, Vector<float>>;

void require_kernels(const Matrix<const std::int32_t>& indices, const Matrix<const float>& conditional) {
    require(indices.shape(0) == conditional.shape(0) && indices.shape(1) == conditional.shape(1),
            "indices and conditional: the same shape");
    require(indices.shape(0) >= 1 && indices.shape(1) >= 1, "indices: at least one row and one column");
}

JointArrays as_arrays(JointAffinities joint, std::size_t n) {
    const auto count = static_cast<std::size_t>(joint.offsets[n]);
    return {owned(std::move(joint.offsets), n + 1), owned(std::move(joint.columns), count),
            owned(std::move(joint.values), count)};
}

JointArrays joint_affinities(const Matrix<const std::int32_t>& indices, const Matrix<const float>& conditional,
                             ProgressToken& token, int threads) {
    require_kernels(indices, conditional);
    require_columns_below(indices.data(), indices.size(), indices.shape(0), "indices: between 0 and n - 1");
    JointAffinities joint;
    {
        Unlocked unlocked;
        joint = symmetrize(view(indices), view(conditional), threads, token);
    }
    return as_arrays(std::move(joint), indices.shape(0));
}

// known: how many points `indices` and `sources` number, those elsewhere included; points: how many P has in all.
JointArrays joint_affinities_of_part(const Matrix<const std::int32_t>& indices, const Matrix<const float>& conditional,
                                     const Vector<const std::int32_t>& sources,
                                     const Vector<const std::int32_t>& targets, const Vector<const float>& values,
                                     std::size_t known, std::size_t points, ProgressToken& token, int threads) {
    require_kernels(indices, conditional);
    require(known >= indices.shape(0) && points >= indices.shape(0), "known, points: at least the number of rows");
    require_columns_below(indices.data(), indices.size(), known, "indices: between 0 and known - 1");
    require(sources.shape(0) == targets.shape(0) && sources.shape(0) == values.shape(0),
            "sources, targets and values: equally long");
    require_columns_below(sources.data(), sources.size(), known, "sources: between 0 and known - 1");
    require_columns_below(targets.data(), targets.size(), indices.shape(0), "targets: between 0 and n - 1");
    const Arrivals arrived{sources.data(), targets.data(), values.data(), sources.shape(0)};
    JointAffinities joint;
    {
        Unlocked unlocked;
        joint = symmetrize_part(view(indices), view(conditional), arrived, points, threads, token);
    }
    return as_arrays(std::move(joint), indices.shape(0));
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

}  // namespace

void bind_affinities(nb::module_& module) {
    module.def("conditional_affinities", &conditional_affinities, "distances"_a.noconvert(), "perplexities"_a,
               "token"_a, "threads"_a);
    module.def("joint_affinities", &joint_affinities, "indices"_a.noconvert(), "conditional"_a.noconvert(), "token"_a,
               "threads"_a);
    module.def("joint_affinities_of_part", &joint_affinities_of_part, "indices"_a.noconvert(),
               "conditional"_a.noconvert(), "sources"_a.noconvert(), "targets"_a.noconvert(), "values"_a.noconvert(),
               "known"_a, "points"_a, "token"_a, "threads"_a);
    module.def("project_rows", &project, "rows"_a.noconvert(), "directions"_a.noconvert(), "threads"_a);
    module.def("place_new_points", &place_points_on, "placed"_a.noconvert(), "neighbors"_a.noconvert(),
               "affinities"_a.noconvert(), "token"_a, "threads"_a);
}

}  // namespace pixelsne
