#include "vantage_point_tree.hpp"

#include <numeric>

#include "../kernels.hpp"
#include "../parallel_for.hpp"
#include "../random_stream.hpp"
#include "gather_rows.hpp"

namespace pixelsne {
namespace {

constexpr std::size_t kLeafSize = 32;
constexpr std::size_t kQueriesPerChunk = 16;  // a query among a million points may take 20 ms

// Float distances obey the triangle inequality only up to rounding, so pruning keeps this relative slack.
constexpr float kSlack = 1e-4f;

// A node covers a run of slots. Its vantage point comes first, then the nearer half of its points (inside the radius),
// then the farther half. So the tree is an order plus one radius per node, and halving a run finds its children.
std::size_t middle(std::size_t begin, std::size_t end) { return begin + 1 + (end - begin - 1) / 2; }

struct TreeOrder {
    std::vector<std::uint32_t> order;  // (n) slot -> point
    std::vector<float> radii;          // (n) radius of the node that begins at this slot
};

class TreeBuilder {
public:
    TreeBuilder(Points points, std::uint64_t seed, ProgressToken& token, TreeOrder& tree)
        : points_(points), random_(seed, 0), token_(token), tree_(tree) {
        tree.order.resize(points.rows);
        tree.radii.resize(points.rows);
        std::iota(tree.order.begin(), tree.order.end(), 0u);
        split(0, points.rows);
    }

private:
    void split(std::size_t begin, std::size_t end) {
        if (end - begin <= kLeafSize) return;
        token_.throw_if_cancelled();
        std::uint32_t* order = tree_.order.data();
        std::swap(order[begin], order[begin + random_.below(static_cast<std::uint32_t>(end - begin))]);
        keys_.clear();
        for (std::size_t slot = begin + 1; slot < end; ++slot) {
            const float squared =
                kernels().squared_distance(points_.row(order[begin]), points_.row(order[slot]), points_.columns);
            keys_.push_back(candidate_key(squared, order[slot]));
        }
        const std::size_t half = middle(begin, end);
        std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(half - begin - 1), keys_.end());
        for (std::size_t slot = begin + 1; slot < end; ++slot) order[slot] = key_index(keys_[slot - begin - 1]);
        tree_.radii[begin] = std::sqrt(key_squared_distance(keys_[half - begin - 1]));
        split(begin + 1, half);
        split(half, end);
    }

    Points points_;
    RandomStream random_;
    ProgressToken& token_;
    TreeOrder& tree_;
    std::vector<std::uint64_t> keys_;
};

// Searches in tree order. `sorted` holds the points by slot, so a leaf is contiguous in memory.
class TreeSearch {
public:
    TreeSearch(Points sorted, const TreeOrder& tree) : sorted_(sorted), tree_(tree) {}

    void nearest(std::size_t query, NearestList& list) { visit(query, 0, sorted_.rows, list); }

private:
    float offer(std::size_t query, std::size_t slot, NearestList& list) const {
        const float squared = kernel_.squared_distance(sorted_.row(query), sorted_.row(slot), sorted_.columns);
        if (slot != query) list.offer(squared, tree_.order[slot]);
        return squared;
    }

    void visit(std::size_t query, std::size_t begin, std::size_t end, NearestList& list) const {
        if (end - begin <= kLeafSize) {
            for (std::size_t slot = begin; slot < end; ++slot) offer(query, slot, list);
            list.tighten();
            return;
        }
        const float radius = tree_.radii[begin];
        const float distance = std::sqrt(offer(query, begin, list));
        const float slack = kSlack * (distance + radius);
        const std::size_t half = middle(begin, end);
        const bool inside_first = distance < radius;
        for (const bool inside : {inside_first, !inside_first}) {
            const float gap = inside ? distance - radius : radius - distance;
            if (gap > std::sqrt(list.limit()) + slack) continue;
            inside ? visit(query, begin + 1, half, list) : visit(query, half, end, list);
        }
    }

    const Kernels& kernel_ = kernels();
    Points sorted_;
    const TreeOrder& tree_;
};

}  // namespace

void find_vantage_point_neighbors(Points points, std::uint64_t seed, int threads, ProgressToken& token,
                                  NeighborTable table) {
    TreeOrder tree;
    TreeBuilder(points, seed, token, tree);
    const AlignedVector<float> gathered = gather_rows(points, tree.order, threads);
    TreeSearch search({gathered.data(), points.rows, points.columns}, tree);
    token.expect(points.rows);
    parallel_for(points.rows, kQueriesPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t) {
        NearestList list;
        for (std::size_t slot = begin; slot < end; ++slot) {
            list.start(table.k());
            search.nearest(slot, list);
            table.write_row(tree.order[slot], list.finish());
        }
        token.advance(end - begin);
    });
}

}  // namespace pixelsne
