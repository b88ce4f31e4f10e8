// From conditional to joint affinities: P = (C + C^T) / 2n, as sparse rows.
#pragma once

#include <cstdint>

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

}  // namespace pixelsne
