// Joint affinities from conditional ones: P = (C + C^T) / 2n, as a sparse matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../large_memory.hpp"
#include "../progress_token.hpp"

namespace pixelsne {

struct JointAffinities {
    Buffer<std::int64_t> offsets;  // (n + 1)
    Buffer<std::int32_t> columns;
    Buffer<float> values;
};

// indices: (n, k), entries in [0, n), distinct within a row; conditional: (n, k). A row of the result has the point's
// own k neighbors in their order, then, in ascending order, the points that have the point as a neighbor but are not
// its neighbors. p_ij and p_ji have the same bits.
JointAffinities symmetrize(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional, int threads,
                           ProgressToken& token);

// Edges from points of other shards to points of this shard. `sources` and `targets` are indices into the tables of
// ids. Ids of sources are n or more, ids of targets are below n.
struct IncomingEdges {
    const std::int32_t* source_ids;
    const std::int32_t* target_ids;
    const std::int32_t* sources;  // (count) indices into source_ids
    const std::int32_t* targets;
    const float* values;
    std::size_t count;
};

// Symmetrizes one shard, which has n of all `total_points` points. Entries of `indices` from n on are points of other
// shards, which compute the rows of those points. `incoming` has their edges to the points of this shard, each once.
JointAffinities symmetrize_shard(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional,
                                 const std::vector<IncomingEdges>& incoming, std::size_t total_points, int threads,
                                 ProgressToken& token);

}  // namespace pixelsne
