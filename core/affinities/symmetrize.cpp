#include "symmetrize.hpp"

#include <algorithm>
#include <vector>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

// The rows of a block, with all edges that arrive at them, stay in the cache.
constexpr std::size_t kRowsPerBlock = 512;

// Rows are finished in this many waves, so that only a part of all edges is ever stored a second time.
constexpr std::size_t kWaves = 8;

// A table of a row's ranks may be this many times as long as the row.
constexpr std::size_t kPointsPerNeighbor = 8;

constexpr std::size_t kRowsPerChunk = 4096;
constexpr std::size_t kArrivalsPerChunk = 262144;

struct Edge {
    std::int32_t source;
    std::int32_t target;
    float value;
};

// Finished rows of one block.
struct Block {
    std::vector<std::int64_t> lengths;
    std::vector<std::int32_t> columns;
    std::vector<float> values;
};

class Symmetrizer {
public:
    Symmetrizer(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional,
                const std::vector<Arrivals>& arrived, std::size_t points, int threads, ProgressToken& token)
        : n_(indices.rows),
          k_(indices.columns),
          scale_(static_cast<float>(0.5 / static_cast<double>(points))),
          indices_(indices),
          conditional_(conditional),
          arrived_(arrived),
          threads_(threads),
          token_(token) {
        joint_.offsets = allocate_numbers<std::int64_t>(n_ + 1);
        joint_.offsets[0] = 0;
        // At worst, no edge has a reciprocal one. Memory that is never written to is never used.
        std::size_t most = 2 * n_ * k_;
        for (const Arrivals& part : arrived_) most += part.count;
        joint_.columns = allocate_numbers<std::int32_t>(most);
        joint_.values = allocate_numbers<float>(most);
    }

    JointAffinities run() {
        token_.expect(n_);
        const std::size_t blocks = chunk_count(n_, kRowsPerBlock);
        const std::size_t wave = chunk_count(blocks, kWaves);
        for (std::size_t first = 0; first < blocks; first += wave) finish_wave(first, std::min(blocks, first + wave));
        return std::move(joint_);
    }

private:
    void finish_wave(std::size_t first_block, std::size_t last_block) {
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

    // All edges that arrive in the wave's rows, block by block, in the order of their sources.
    void collect_edges(std::size_t first_block, std::size_t last_block) {
        const std::size_t blocks = last_block - first_block;
        std::size_t chunks = chunk_count(n_, kRowsPerChunk);
        for (const Arrivals& part : arrived_) chunks += chunk_count(part.count, kArrivalsPerChunk);
        cursors_.assign(chunks * blocks, 0);
        each_edge(first_block, last_block,
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
            edges_ = allocate_numbers<Edge>(total);
            capacity_ = total;
        }
        Edge* const edges = edges_.get();
        each_edge(first_block, last_block,
                  [=](std::size_t source, std::int32_t target, const float* value, std::size_t& cursor) {
                      edges[cursor++] = {static_cast<std::int32_t>(source), target, *value};
                  });
    }

    // visit(source, target, value, the cursor of its chunk and block) for every edge that ends in the wave's rows.
    template <class Visit>
    void each_edge(std::size_t first_block, std::size_t last_block, Visit visit) {
        const std::size_t blocks = last_block - first_block;
        const std::size_t first = first_block * kRowsPerBlock;
        const std::size_t rows = std::min(n_, last_block * kRowsPerBlock) - first;
        const auto see = [=](std::size_t source, std::int32_t target, const float* value, std::size_t* cursors) {
            // One comparison: what lies before the first row wraps around to a large number.
            const std::size_t place = static_cast<std::size_t>(target) - first;
            if (place < rows) visit(source, target, value, cursors[place / kRowsPerBlock]);
        };
        parallel_for(n_, kRowsPerChunk, threads_, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
            token_.advance(0);
            const std::size_t k = k_;
            std::size_t* const cursors = cursors_.data() + chunk * blocks;
            for (std::size_t row = begin; row < end; ++row) {
                const std::int32_t* const targets = indices_.row(row);
                const float* const values = conditional_.row(row);
                for (std::size_t rank = 0; rank < k; ++rank) see(row, targets[rank], values + rank, cursors);
            }
        });
        std::size_t* later = cursors_.data() + chunk_count(n_, kRowsPerChunk) * blocks;
        for (const Arrivals& part : arrived_) {
            parallel_for(part.count, kArrivalsPerChunk, threads_,
                         [&](std::size_t begin, std::size_t end, std::size_t chunk) {
                             token_.advance(0);
                             for (std::size_t edge = begin; edge < end; ++edge) {
                                 const std::int32_t source = part.source_numbers[part.sources[edge]];
                                 see(static_cast<std::size_t>(source), part.target_numbers[part.targets[edge]],
                                     part.values + edge, later + chunk * blocks);
                             }
                         });
            later += chunk_count(part.count, kArrivalsPerChunk) * blocks;
        }
    }

    // Edges that go both ways become one; the others come after the row's own, in the order of sources.
    Block finish_block(std::size_t begin, std::size_t end, Edge* edges, Edge* edges_end) const {
        std::vector<float> back((end - begin) * k_);
        Block block;
        block.lengths.assign(end - begin, static_cast<std::int64_t>(k_));
        merge_reciprocal(begin, edges, edges_end, back, block);
        write_rows(begin, edges, edges_end, back, block);
        return block;
    }

    // Whether rows name a good part of all points. Looking through them for every edge would take k² a row.
    bool has_many() const { return arrived_.empty() && k_ * kPointsPerNeighbor >= n_; }

    // (rows, n): the rank of a point in a row, -1 for none.
    std::vector<std::int32_t> rank_table(std::size_t begin, std::size_t rows) const {
        std::vector<std::int32_t> ranks(rows * n_, -1);
        for (std::size_t row = 0; row < rows; ++row) {
            const std::int32_t* const named = indices_.row(begin + row);
            for (std::size_t rank = k_; rank-- > 0;) {
                ranks[row * n_ + static_cast<std::size_t>(named[rank])] = static_cast<std::int32_t>(rank);
            }
        }
        return ranks;
    }

    // back: (rows, k), the values of reciprocal edges. Other edges make their rows longer.
    void merge_reciprocal(std::size_t begin, Edge* edges, const Edge* edges_end, std::vector<float>& back,
                          Block& block) const {
        const auto find = kernels().find;
        const std::vector<std::int32_t> ranks =
            has_many() ? rank_table(begin, block.lengths.size()) : std::vector<std::int32_t>();
        for (Edge* edge = edges; edge != edges_end; ++edge) {
            const std::size_t row = static_cast<std::size_t>(edge->target) - begin;
            const std::int32_t rank = ranks.empty() ? find(edge->source, indices_.row(begin + row), k_)
                                                    : ranks[row * n_ + static_cast<std::size_t>(edge->source)];
            if (rank < 0) {
                ++block.lengths[row];
            } else {
                back[row * k_ + static_cast<std::size_t>(rank)] = edge->value;
                edge->target = kMerged;
            }
        }
    }

    void write_rows(std::size_t begin, const Edge* edges, const Edge* edges_end, const std::vector<float>& back,
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
                block.values[cursors[row]++] = scale_ * (conditional_.row(begin + row)[rank] + back[row * k_ + rank]);
            }
        }
        for (const Edge* edge = edges; edge != edges_end; ++edge) {
            if (edge->target == kMerged) continue;
            const std::size_t place = cursors[static_cast<std::size_t>(edge->target) - begin]++;
            block.columns[place] = edge->source;
            block.values[place] = scale_ * edge->value;
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

    static constexpr std::int32_t kMerged = -1;  // target of an edge that was merged into its reciprocal one

    std::size_t n_;
    std::size_t k_;
    float scale_;
    ArrayView<const std::int32_t> indices_;
    ArrayView<const float> conditional_;
    std::vector<Arrivals> arrived_;
    int threads_;
    ProgressToken& token_;
    Numbers<Edge> edges_;               // of a wave
    std::size_t capacity_ = 0;          // of edges_
    std::vector<std::size_t> begins_;   // (blocks + 1) in edges_
    std::vector<std::size_t> cursors_;  // (chunks, blocks)
    JointAffinities joint_;
};

}  // namespace

JointAffinities symmetrize(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional, int threads,
                           ProgressToken& token) {
    return Symmetrizer(indices, conditional, {}, indices.rows, threads, token).run();
}

JointAffinities symmetrize_part(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional,
                                const std::vector<Arrivals>& arrived, std::size_t points, int threads,
                                ProgressToken& token) {
    return Symmetrizer(indices, conditional, arrived, points, threads, token).run();
}

}  // namespace pixelsne
