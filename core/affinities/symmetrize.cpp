#include "symmetrize.hpp"

#include <algorithm>
#include <vector>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

// The rows of a block and all edges that end in them stay in the cache.
constexpr std::size_t kRowsPerBlock = 512;

// Rows are finished in this many batches, so that only a part of the edges is ever stored twice.
constexpr std::size_t kBatches = 16;

// A table of ranks is used while it is at most this many times as long as the row.
constexpr std::size_t kMaxTableRatio = 8;

constexpr std::size_t kRowsPerChunk = 4096;
constexpr std::size_t kIncomingPerChunk = 262144;

struct Edge {
    std::int32_t source;
    std::int32_t target;
    float value;
};

// The finished rows of one block.
struct Block {
    std::vector<std::int64_t> lengths;
    std::vector<std::int32_t> columns;
    std::vector<float> values;
};

class Symmetrizer {
public:
    Symmetrizer(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional,
                const std::vector<IncomingEdges>& incoming, std::size_t total_points, int threads, ProgressToken& token)
        : n_(indices.rows),
          k_(indices.columns),
          scale_(static_cast<float>(0.5 / static_cast<double>(total_points))),
          indices_(indices),
          conditional_(conditional),
          incoming_(incoming),
          threads_(threads),
          token_(token) {
        joint_.offsets = allocate_buffer<std::int64_t>(n_ + 1);
        joint_.offsets[0] = 0;
        // In the worst case no edge has a reciprocal one. Pages that are never written take no physical memory.
        std::size_t max_edges = 2 * n_ * k_;
        for (const IncomingEdges& part : incoming_) max_edges += part.count;
        joint_.columns = allocate_buffer<std::int32_t>(max_edges);
        joint_.values = allocate_buffer<float>(max_edges);
    }

    JointAffinities run() {
        token_.expect(n_);
        const std::size_t blocks = chunk_count(n_, kRowsPerBlock);
        const std::size_t batch = chunk_count(blocks, kBatches);
        for (std::size_t first = 0; first < blocks; first += batch)
            finish_batch(first, std::min(blocks, first + batch));
        return std::move(joint_);
    }

private:
    void finish_batch(std::size_t first_block, std::size_t last_block) {
        collect_edges(first_block, last_block);
        std::vector<Block> finished(last_block - first_block);
        run_chunks(finished.size(), threads_, [&](std::size_t block) {
            const std::size_t begin = (first_block + block) * kRowsPerBlock;
            finished[block] = finish_block(begin, std::min(n_, begin + kRowsPerBlock), edges_.get() + begins_[block],
                                           edges_.get() + begins_[block + 1]);
            token_.advance(finished[block].lengths.size());
        });
        append(first_block * kRowsPerBlock, finished);
    }

    // Collects all edges that end in the batch's rows, block by block, in the order of their sources.
    void collect_edges(std::size_t first_block, std::size_t last_block) {
        const std::size_t blocks = last_block - first_block;
        std::size_t chunks = chunk_count(n_, kRowsPerChunk);
        for (const IncomingEdges& part : incoming_) chunks += chunk_count(part.count, kIncomingPerChunk);
        cursors_.assign(chunks * blocks, 0);
        for_each_edge(first_block, last_block,
                      [](std::size_t, std::int32_t, const float*, std::size_t& cursor) { ++cursor; });
        begins_.assign(1, 0);
        std::size_t total = 0;
        for (std::size_t block = 0; block < blocks; ++block) {
            for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
                const std::size_t count = cursors_[chunk * blocks + block];
                cursors_[chunk * blocks + block] = total;
                total += count;
            }
            begins_.push_back(total);
        }
        if (total > capacity_) {
            edges_.reset();
            edges_ = allocate_buffer<Edge>(total);
            capacity_ = total;
        }
        Edge* const edges = edges_.get();
        for_each_edge(first_block, last_block,
                      [=](std::size_t source, std::int32_t target, const float* value, std::size_t& cursor) {
                          edges[cursor++] = {static_cast<std::int32_t>(source), target, *value};
                      });
    }

    // Calls visit(source, target, value, cursor of the chunk and block) for every edge that ends in the batch's rows.
    template <class Visit>
    void for_each_edge(std::size_t first_block, std::size_t last_block, Visit visit) {
        const std::size_t blocks = last_block - first_block;
        const std::size_t first = first_block * kRowsPerBlock;
        const std::size_t rows = std::min(n_, last_block * kRowsPerBlock) - first;
        const auto visit_if_in_batch = [=](std::size_t source, std::int32_t target, const float* value,
                                           std::size_t* cursors) {
            // One comparison suffices: the difference of a target before the first row wraps around to a large number.
            const std::size_t row = static_cast<std::size_t>(target) - first;
            if (row < rows) visit(source, target, value, cursors[row / kRowsPerBlock]);
        };
        parallel_for(n_, kRowsPerChunk, threads_, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
            token_.throw_if_cancelled();
            const std::size_t k = k_;
            std::size_t* const cursors = cursors_.data() + chunk * blocks;
            for (std::size_t row = begin; row < end; ++row) {
                const std::int32_t* const targets = indices_.row(row);
                const float* const values = conditional_.row(row);
                for (std::size_t rank = 0; rank < k; ++rank)
                    visit_if_in_batch(row, targets[rank], values + rank, cursors);
            }
        });
        std::size_t* part_cursors = cursors_.data() + chunk_count(n_, kRowsPerChunk) * blocks;
        for (const IncomingEdges& part : incoming_) {
            parallel_for(
                part.count, kIncomingPerChunk, threads_, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
                    token_.throw_if_cancelled();
                    for (std::size_t edge = begin; edge < end; ++edge) {
                        const std::int32_t source = part.source_ids[part.sources[edge]];
                        visit_if_in_batch(static_cast<std::size_t>(source), part.target_ids[part.targets[edge]],
                                          part.values + edge, part_cursors + chunk * blocks);
                    }
                });
            part_cursors += chunk_count(part.count, kIncomingPerChunk) * blocks;
        }
    }

    // Merges reciprocal edges into one. The remaining edges follow the row's own neighbors, in the order of their
    // sources.
    Block finish_block(std::size_t begin, std::size_t end, Edge* edges, Edge* edges_end) const {
        std::vector<float> reciprocal((end - begin) * k_);
        Block block;
        block.lengths.assign(end - begin, static_cast<std::int64_t>(k_));
        merge_reciprocal(begin, edges, edges_end, reciprocal, block);
        write_rows(begin, edges, edges_end, reciprocal, block);
        return block;
    }

    // Returns whether rows list so many of all points that a table of ranks pays off. Searching the row for every edge
    // would take k² steps per row.
    bool uses_rank_table() const { return incoming_.empty() && k_ * kMaxTableRatio >= n_; }

    // Returns the rank of each point in each row, or -1, (rows, n).
    std::vector<std::int32_t> rank_table(std::size_t begin, std::size_t rows) const {
        std::vector<std::int32_t> ranks(rows * n_, -1);
        for (std::size_t row = 0; row < rows; ++row) {
            const std::int32_t* const neighbors = indices_.row(begin + row);
            for (std::size_t rank = k_; rank-- > 0;) {
                ranks[row * n_ + static_cast<std::size_t>(neighbors[rank])] = static_cast<std::int32_t>(rank);
            }
        }
        return ranks;
    }

    // Sets reciprocal (rows, k) to the values of reciprocal edges. All other edges make their rows longer.
    void merge_reciprocal(std::size_t begin, Edge* edges, const Edge* edges_end, std::vector<float>& reciprocal,
                          Block& block) const {
        const auto find = kernels().find;
        const std::vector<std::int32_t> ranks =
            uses_rank_table() ? rank_table(begin, block.lengths.size()) : std::vector<std::int32_t>();
        for (Edge* edge = edges; edge != edges_end; ++edge) {
            const std::size_t row = static_cast<std::size_t>(edge->target) - begin;
            const std::int32_t rank = ranks.empty() ? find(edge->source, indices_.row(begin + row), k_)
                                                    : ranks[row * n_ + static_cast<std::size_t>(edge->source)];
            if (rank < 0) {
                ++block.lengths[row];
            } else {
                reciprocal[row * k_ + static_cast<std::size_t>(rank)] = edge->value;
                edge->target = kMerged;
            }
        }
    }

    void write_rows(std::size_t begin, const Edge* edges, const Edge* edges_end, const std::vector<float>& reciprocal,
                    Block& block) const {
        const std::size_t rows = block.lengths.size();
        std::vector<std::size_t> cursors(rows);
        std::size_t total = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            cursors[row] = total;
            total += static_cast<std::size_t>(block.lengths[row]);
        }
        block.columns.resize(total);
        block.values.resize(total);
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t rank = 0; rank < k_; ++rank) {
                block.columns[cursors[row]] = indices_.row(begin + row)[rank];
                block.values[cursors[row]++] =
                    scale_ * (conditional_.row(begin + row)[rank] + reciprocal[row * k_ + rank]);
            }
        }
        for (const Edge* edge = edges; edge != edges_end; ++edge) {
            if (edge->target == kMerged) continue;
            const std::size_t index = cursors[static_cast<std::size_t>(edge->target) - begin]++;
            block.columns[index] = edge->source;
            block.values[index] = scale_ * edge->value;
        }
    }

    void append(std::size_t row, const std::vector<Block>& finished) {
        std::vector<std::int64_t> begins;
        for (const Block& block : finished) {
            begins.push_back(joint_.offsets[row]);
            for (const std::int64_t length : block.lengths) {
                joint_.offsets[row + 1] = joint_.offsets[row] + length;
                ++row;
            }
        }
        run_chunks(finished.size(), threads_, [&](std::size_t block) {
            std::copy(finished[block].columns.begin(), finished[block].columns.end(),
                      joint_.columns.get() + begins[block]);
            std::copy(finished[block].values.begin(), finished[block].values.end(),
                      joint_.values.get() + begins[block]);
        });
    }

    static constexpr std::int32_t kMerged = -1;  // target of an edge that was merged into its reciprocal edge

    std::size_t n_;
    std::size_t k_;
    float scale_;
    ArrayView<const std::int32_t> indices_;
    ArrayView<const float> conditional_;
    std::vector<IncomingEdges> incoming_;
    int threads_;
    ProgressToken& token_;
    Buffer<Edge> edges_;                // edges of a batch
    std::size_t capacity_ = 0;          // capacity of edges_
    std::vector<std::size_t> begins_;   // (blocks + 1) indices into edges_
    std::vector<std::size_t> cursors_;  // (chunks, blocks)
    JointAffinities joint_;
};

}  // namespace

JointAffinities symmetrize(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional, int threads,
                           ProgressToken& token) {
    return Symmetrizer(indices, conditional, {}, indices.rows, threads, token).run();
}

JointAffinities symmetrize_shard(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional,
                                 const std::vector<IncomingEdges>& incoming, std::size_t total_points, int threads,
                                 ProgressToken& token) {
    return Symmetrizer(indices, conditional, incoming, total_points, threads, token).run();
}

}  // namespace pixelsne
