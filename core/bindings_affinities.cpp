// Bindings of the affinities.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "affinities/perplexity.hpp"
#include "affinities/symmetrize.hpp"
#include "bindings_common.hpp"
#include "progress_token.hpp"

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
    GilRelease released;
    calibrate(view(distances), perplexities, threads, token, view(conditional));
    return conditional;
}

using JointArrays = std::tuple<Vector<std::int64_t>, Vector<std::int32_t>, Vector<float>>;

void require_conditional(const Matrix<const std::int32_t>& indices, const Matrix<const float>& conditional) {
    require(indices.shape(0) == conditional.shape(0) && indices.shape(1) == conditional.shape(1),
            "indices and conditional: the same shape");
    require(indices.shape(0) >= 1 && indices.shape(1) >= 1, "indices: at least one row and one column");
}

JointArrays as_arrays(JointAffinities joint, std::size_t n) {
    const auto count = static_cast<std::size_t>(joint.offsets[n]);
    return {as_vector(std::move(joint.offsets), n + 1), as_vector(std::move(joint.columns), count),
            as_vector(std::move(joint.values), count)};
}

JointArrays joint_affinities(const Matrix<const std::int32_t>& indices, const Matrix<const float>& conditional,
                             ProgressToken& token, int threads) {
    require_conditional(indices, conditional);
    require_columns_below(indices.data(), indices.size(), indices.shape(0), "indices: between 0 and n - 1");
    JointAffinities joint;
    {
        GilRelease released;
        joint = symmetrize(view(indices), view(conditional), threads, token);
    }
    return as_arrays(std::move(joint), indices.shape(0));
}

// Edges from other shards: source ids, target ids, then for every edge its indices into these, and its value.
using IncomingArrays = std::tuple<Vector<const std::int32_t>, Vector<const std::int32_t>, Vector<const std::int32_t>,
                                  Vector<const std::int32_t>, Vector<const float>>;

IncomingEdges checked_incoming(const IncomingArrays& arrays, std::size_t known, std::size_t n) {
    const auto& [source_ids, target_ids, sources, targets, values] = arrays;
    require(sources.shape(0) == targets.shape(0) && sources.shape(0) == values.shape(0),
            "sources, targets and values: equally long");
    require_columns_below(source_ids.data(), source_ids.size(), known, "source_ids: below known");
    require_columns_below(target_ids.data(), target_ids.size(), n, "target_ids: below n");
    require(sources.size() == 0 || (source_ids.size() > 0 && target_ids.size() > 0),
            "source_ids and target_ids: at least one each if there are edges");
    require_columns_below(sources.data(), sources.size(), std::max<std::size_t>(source_ids.size(), 1),
                          "sources: indices into source_ids");
    require_columns_below(targets.data(), targets.size(), std::max<std::size_t>(target_ids.size(), 1),
                          "targets: indices into target_ids");
    return {source_ids.data(), target_ids.data(), sources.data(), targets.data(), values.data(), sources.shape(0)};
}

// known: number of ids, including those of points in other shards. points: number of points in all shards.
JointArrays joint_affinities_of_part(const Matrix<const std::int32_t>& indices, const Matrix<const float>& conditional,
                                     const std::vector<IncomingArrays>& incoming, std::size_t known, std::size_t points,
                                     ProgressToken& token, int threads) {
    require_conditional(indices, conditional);
    const std::size_t n = indices.shape(0);
    require(known >= n && points >= n, "known, points: at least the number of rows");
    require_columns_below(indices.data(), indices.size(), known, "indices: between 0 and known - 1");
    std::vector<IncomingEdges> parts;
    for (const IncomingArrays& arrays : incoming) parts.push_back(checked_incoming(arrays, known, n));
    JointAffinities joint;
    {
        GilRelease released;
        joint = symmetrize_shard(view(indices), view(conditional), parts, points, threads, token);
    }
    return as_arrays(std::move(joint), n);
}

}  // namespace

void bind_affinities(nb::module_& module) {
    module.def("conditional_affinities", &conditional_affinities, "distances"_a.noconvert(), "perplexities"_a,
               "token"_a, "threads"_a);
    module.def("joint_affinities", &joint_affinities, "indices"_a.noconvert(), "conditional"_a.noconvert(), "token"_a,
               "threads"_a);
    module.def("joint_affinities_of_part", &joint_affinities_of_part, "indices"_a.noconvert(),
               "conditional"_a.noconvert(), "incoming"_a, "known"_a, "points"_a, "token"_a, "threads"_a);
}

}  // namespace pixelsne
