#include "random_projection_forest.hpp"

#include <algorithm>
#include <tuple>

#include "../parallel_for.hpp"
#include "gather_rows.hpp"
#include "key_rows.hpp"
#include "neighbor_exploring.hpp"
#include "projection_tree.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kRowsPerChunk = 16 * kQueriesPerBlock;

constexpr std::size_t kMinLeafSize = 128;

// Exploring ends when a round replaces less than this share of all neighbors.
constexpr double kMinChangedShare = 0.01;

// (minus the number of the block's points in the leaf, tree, leaf). Ascending order puts the leaves with the most
// points first.
using LeafVote = std::tuple<std::int32_t, std::uint32_t, std::uint32_t>;

void add_leaves(const std::vector<ProjectionTree>& trees, std::size_t begin, std::size_t end,
                std::size_t max_candidates, std::vector<LeafVote>& votes, CandidateSet& candidates) {
    votes.clear();
    for (std::uint32_t tree = 0; tree < trees.size(); ++tree) {
        const std::size_t first_vote = votes.size();
        for (std::size_t row = begin; row < end; ++row) votes.emplace_back(-1, tree, trees[tree].leaf_of[row]);
        std::sort(votes.begin() + static_cast<std::ptrdiff_t>(first_vote), votes.end());
        std::size_t distinct = first_vote;
        for (std::size_t vote = first_vote + 1; vote < votes.size(); ++vote) {
            if (std::get<2>(votes[vote]) == std::get<2>(votes[distinct])) {
                --std::get<0>(votes[distinct]);
            } else {
                votes[++distinct] = votes[vote];
            }
        }
        votes.resize(distinct + 1);
    }
    std::sort(votes.begin(), votes.end());
    for (const auto& [count, tree, leaf] : votes) {
        if (candidates.rows().size() >= max_candidates) break;
        const ProjectionTree& source = trees[tree];
        for (std::uint32_t slot = source.leaf_begin[leaf]; slot < source.leaf_begin[leaf + 1]; ++slot)
            candidates.add(source.order[slot]);
    }
}

// Adds the block's leaves of the first tree. All rows of a block lie in one leaf or in two adjacent ones. Both are
// candidates, so every point finds k others.
void add_own_leaves(const ProjectionTree& tree, std::size_t begin, std::size_t end, CandidateSet& candidates) {
    const std::uint32_t first = tree.leaf_begin[tree.leaf_of[begin]];
    const std::uint32_t last = tree.leaf_begin[tree.leaf_of[end - 1] + 1];
    for (std::uint32_t row = first; row < last; ++row) candidates.add(row);
}

// The points in the order of the first tree, so that near points are close in memory. All later steps use slots of this
// order as indices.
struct SortedPoints {
    std::vector<std::uint32_t> original;  // slot -> point
    AlignedVector<float> values;          // (n, d)
    ProjectionTree tree;                  // the first tree, for slots
    Points view;

    SortedPoints(Points points, std::size_t leaf_size, std::uint64_t seed, int threads, ProgressToken& token)
        : tree(build_projection_tree(points, leaf_size, seed, 0, token)) {
        original = tree.order;
        values = gather_rows(points, original, threads);
        view = {values.data(), points.rows, points.columns};
        for (std::uint32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
            std::fill(tree.leaf_of.begin() + tree.leaf_begin[leaf], tree.leaf_of.begin() + tree.leaf_begin[leaf + 1],
                      leaf);
        }
    }
};

std::vector<ProjectionTree> build_other_trees(Points points, std::size_t leaf_size, const ForestSettings& settings,
                                              int threads, ProgressToken& token) {
    std::vector<ProjectionTree> trees(settings.trees - 1);
    run_chunks(trees.size(), threads, [&](std::size_t tree) {
        trees[tree] = build_projection_tree(points, leaf_size, settings.seed, tree + 1, token);
        token.advance(points.rows / 8);
    });
    return trees;
}

KeyRows first_neighbors(const SortedPoints& sorted, std::size_t k, std::size_t leaf_size,
                        const ForestSettings& settings, int threads, ProgressToken& token) {
    KeyRows rows(sorted.view.rows * k);
    const std::vector<ProjectionTree> trees = build_other_trees(sorted.view, leaf_size, settings, threads, token);
    parallel_for(sorted.view.rows, kRowsPerChunk, threads,
                 [&](std::size_t chunk_begin, std::size_t chunk_end, std::size_t) {
                     BlockSearch search(sorted.view);
                     std::vector<LeafVote> votes;
                     for (std::size_t begin = chunk_begin; begin < chunk_end; begin += kQueriesPerBlock) {
                         const std::size_t end = std::min(chunk_end, begin + kQueriesPerBlock);
                         add_own_leaves(sorted.tree, begin, end, search.candidates());
                         add_leaves(trees, begin, end, settings.candidates, votes, search.candidates());
                         search.fill(begin, end, k, nullptr, rows);
                     }
                     token.advance(chunk_end - chunk_begin);
                 });
    return rows;
}

void write_table(const SortedPoints& sorted, const KeyRows& rows, int threads, NeighborTable table) {
    const std::size_t k = table.k();
    parallel_for(sorted.view.rows, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<std::uint64_t> keys(k);
        for (std::size_t row = begin; row < end; ++row) {
            for (std::size_t rank = 0; rank < k; ++rank) {
                const std::uint64_t key = rows[row * k + rank];
                keys[rank] = candidate_key(key_squared_distance(key), sorted.original[key_index(key)]);
            }
            std::sort(keys.begin(), keys.end());
            table.write_row(sorted.original[row], keys.data());
        }
    });
}

}  // namespace

void find_forest_neighbors(Points points, const ForestSettings& settings, int threads, ProgressToken& token,
                           NeighborTable table) {
    const std::size_t n = points.rows;
    const std::size_t k = table.k();
    const std::size_t leaf_size = std::max<std::size_t>(kMinLeafSize, 2 * (k + 1));  // half a leaf still holds k others
    token.expect(n + settings.rounds * n + (settings.trees - 1) * (n / 8));
    const SortedPoints sorted(points, leaf_size, settings.seed, threads, token);
    KeyRows rows = first_neighbors(sorted, k, leaf_size, settings, threads, token);
    KeyRows improved(settings.rounds > 0 ? n * k : 0);
    for (std::size_t round = 0; round < settings.rounds; ++round) {
        const double changed = explore_neighbors(sorted.view, k, settings.reach, threads, token, rows, improved);
        rows.swap(improved);
        if (changed < kMinChangedShare) break;
    }
    KeyRows().swap(improved);
    write_table(sorted, rows, threads, table);
}

}  // namespace pixelsne
