#include "symmetrize.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kRowsPerChunk = 1024;

using Edge = std::pair<std::int32_t, float>;  // column, value

// The edges that arrive at each point. Which thread stores an edge first is left to chance; sorting
// each point's edges afterwards makes the result the same every time.
struct IncomingEdges {
    std::vector<std::int64_t> offsets;  // (n + 1)
    std::unique_ptr<Edge[]> edges;

    IncomingEdges(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional, int threads,
                  ProgressToken& token)
        : offsets(indices.rows + 1) {
        const std::size_t n = indices.rows;
        const auto cursors = std::make_unique<std::atomic<std::int64_t>[]>(n);
        for (std::size_t row = 0; row < n; ++row) cursors[row].store(0, std::memory_order_relaxed);
        const auto each_edge = [&](auto&& visit) {
            parallel_for(n, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
                for (std::size_t edge = begin * indices.columns; edge < end * indices.columns; ++edge) visit(edge);
                token.advance(end - begin);
            });
        };
        each_edge([&](std::size_t edge) {
            cursors[static_cast<std::size_t>(indices.data[edge])].fetch_add(1, std::memory_order_relaxed);
        });
        for (std::size_t row = 0; row < n; ++row) {
            offsets[row + 1] = offsets[row] + cursors[row].load(std::memory_order_relaxed);
            cursors[row].store(offsets[row], std::memory_order_relaxed);
        }
        edges.reset(new Edge[n * indices.columns]);
        each_edge([&](std::size_t edge) {
            const auto place =
                cursors[static_cast<std::size_t>(indices.data[edge])].fetch_add(1, std::memory_order_relaxed);
            edges[static_cast<std::size_t>(place)] =
                Edge(static_cast<std::int32_t>(edge / indices.columns), conditional.data[edge]);
        });
    }
};

// Reads two lists of edges, both by ascending column, as one: visit(column, sum of their values).
template <class Visit>
void merge_edges(const Edge* left, const Edge* left_end, const Edge* right, const Edge* right_end, Visit&& visit) {
    while (left != left_end || right != right_end) {
        if (right == right_end || (left != left_end && left->first < right->first)) {
            visit(left->first, left->second);
            ++left;
        } else if (left == left_end || right->first < left->first) {
            visit(right->first, right->second);
            ++right;
        } else {
            visit(left->first, left->second + right->second);
            ++left, ++right;
        }
    }
}

}  // namespace

JointAffinities symmetrize(ArrayView<const std::int32_t> indices, ArrayView<const float> conditional, int threads,
                           ProgressToken& token) {
    const std::size_t n = indices.rows;
    const std::size_t k = indices.columns;
    token.expect(4 * n);  // two passes over the edges, two over the rows
    const IncomingEdges incoming(indices, conditional, threads, token);
    const auto each_row = [&](auto&& visit) {
        parallel_for(n, kRowsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
            std::vector<Edge> outgoing(k);
            for (std::size_t row = begin; row < end; ++row) {
                for (std::size_t rank = 0; rank < k; ++rank)
                    outgoing[rank] = Edge(indices.row(row)[rank], conditional.row(row)[rank]);
                std::sort(outgoing.begin(), outgoing.end());
                visit(row, outgoing.data(), incoming.edges.get() + incoming.offsets[row],
                      incoming.edges.get() + incoming.offsets[row + 1]);
            }
            token.advance(end - begin);
        });
    };
    JointAffinities joint;
    joint.offsets.assign(n + 1, 0);
    each_row([&](std::size_t row, const Edge* outgoing, Edge* arriving, Edge* arriving_end) {
        std::sort(arriving, arriving_end);
        merge_edges(outgoing, outgoing + k, arriving, arriving_end,
                    [&](std::int32_t, float) { ++joint.offsets[row + 1]; });
    });
    for (std::size_t row = 0; row < n; ++row) joint.offsets[row + 1] += joint.offsets[row];
    joint.columns.reset(new std::int32_t[static_cast<std::size_t>(joint.offsets[n])]);
    joint.values.reset(new float[static_cast<std::size_t>(joint.offsets[n])]);
    const double scale = 0.5 / static_cast<double>(n);
    each_row([&](std::size_t row, const Edge* outgoing, Edge* arriving, Edge* arriving_end) {
        auto place = static_cast<std::size_t>(joint.offsets[row]);
        merge_edges(outgoing, outgoing + k, arriving, arriving_end, [&](std::int32_t column, float value) {
            joint.columns[place] = column;
            joint.values[place++] = static_cast<float>(scale * value);
        });
    });
    return joint;
}

}  // namespace pixelsne
