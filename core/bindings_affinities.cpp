// Affinities, for Python.
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

// Numbers of sources, numbers of targets, then of every edge the places in these, and its value.
using ArrivedArrays = std::tuple<Vector<const std::int32_t>, Vector<const std::int32_t>, Vector<const std::int32_t>,
                                 Vector<const std::int32_t>, Vector<const float>>;

Arrivals checked_arrivals(const ArrivedArrays& arrays, std::size_t known, std::size_t n) {
    const auto& [source_numbers, target_numbers, sources, targets, values] = arrays;
    require(sources.shape(0) == targets.shape(0) && sources.shape(0) == values.shape(0),
            "sources, targets and values: equally long");
    require_columns_below(source_numbers.data(), source_numbers.size(), known, "source numbers: below known");
    require_columns_below(target_numbers.data(), target_numbers.size(), n, "target numbers: below n");
    require(sources.size() == 0 || (source_numbers.size() > 0 && target_numbers.size() > 0),
            "source and target numbers: at least one each where there are edges");
    require_columns_below(sources.data(), sources.size(), std::max<std::size_t>(source_numbers.size(), 1),
                          "sources: places in their numbers");
    require_columns_below(targets.data(), targets.size(), std::max<std::size_t>(target_numbers.size(), 1),
                          "targets: places in their numbers");
    return {source_numbers.data(), target_numbers.data(), sources.data(),
            targets.data(),        values.data(),         sources.shape(0)};
}

// known: how many points there are numbers for, those elsewhere included; points: how many P has in all.
JointArrays joint_affinities_of_part(const Matrix<const std::int32_t>& indices, const Matrix<const float>& conditional,
                                     const std::vector<ArrivedArrays>& arrived, std::size_t known, std::size_t points,
                                     ProgressToken& token, int threads) {
    require_kernels(indices, conditional);
    const std::size_t n = indices.shape(0);
    require(known >= n && points >= n, "known, points: at least the number of rows");
    require_columns_below(indices.data(), indices.size(), known, "indices: between 0 and known - 1");
    std::vector<Arrivals> parts;
    for (const ArrivedArrays& arrays : arrived) parts.push_back(checked_arrivals(arrays, known, n));
    JointAffinities joint;
    {
        Unlocked unlocked;
        joint = symmetrize_part(view(indices), view(conditional), parts, points, threads, token);
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
               "conditional"_a.noconvert(), "arrived"_a, "known"_a, "points"_a, "token"_a, "threads"_a);
}

}  // namespace pixelsne
