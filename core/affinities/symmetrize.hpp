// From conditional to joint affinities: P = (C + C^T) / 2n, as sparse rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../large_memory.hpp"
#include "../progress_token.hpp"

namespace pixelsne {

struct JointAffinities {
    Numbers<std::int64_t> offsets;  // (n + 1)
    Numbers<std::int32_t> columns;
    Numbers<float> values;
};

// indices: (n, k), every entry in [0, n) and none twice in a row; conditional: (n, k). A row of the result
// has the point's own k neighbors as they come, then, ascending, those that have the point among theirs
// only. p_ij and p_ji have the same bits.
JointAffinities symmetrize(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional, int threads,
                           ProgressToken& token);

// Edges from points that are elsewhere to points that are here. Both are given by places in tables of their numbers:
// sources have numbers from n on, targets below.
struct Arrivals {
    const std::int32_t* source_numbers;
    const std::int32_t* target_numbers;
    const std::int32_t* sources;  // (count) places
    const std::int32_t* targets;
    const float* values;
    std::size_t count;
};

// The same for n points of so many in all: entries of `indices` from n on are points elsewhere, whose own rows are made
// there; `arrived` has their edges to the points here, none twice.
JointAffinities symmetrize_part(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional,
                                const std::vector<Arrivals>& arrived, std::size_t points, int threads,
                                ProgressToken& token);

}  // namespace pixelsne
