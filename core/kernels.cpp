// See kernels.hpp. Compiled once per instruction set, with PIXELSNE_ISA set to its name. Lanes are combined only after
// a loop has ended, so sums have a fixed order.
#include "kernels.hpp"

#include <math.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace pixelsne {
namespace PIXELSNE_ISA {
namespace {

#include "lanes.hpp"

// Panels are processed in groups of two vectors. With six queries, their twelve sums fit the registers and hide the
// latency of additions.
constexpr std::size_t kGroupVectors = 2;
constexpr std::size_t kGroupPoints = kGroupVectors * kLanes;

using TileSums = Floats[kTileQueries][kGroupVectors];

// Calls add(sum, points, query, axis) for every sum, with one axis of a group of points at a time. panel: the group's
// first point on the first axis.
template <class Add>
inline void add_axes(const float* panel, std::size_t dimensions, TileSums& sums, Add&& add) {
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        Floats points[kGroupVectors];
        for (std::size_t part = 0; part < kGroupVectors; ++part) {
            points[part] = load(panel + axis * kPanelPoints + part * kLanes);
        }
        for (std::size_t query = 0; query < kTileQueries; ++query) {
            for (std::size_t part = 0; part < kGroupVectors; ++part) add(sums[query][part], points[part], query, axis);
        }
    }
}

void squared_distances(const float* const* queries, const float* panel, std::size_t dimensions, const float* limits,
                       float* out, bool* any_within) {
    for (std::size_t query = 0; query < kTileQueries; ++query) any_within[query] = false;
    for (std::size_t group = 0; group < kPanelPoints; group += kGroupPoints) {
        TileSums sums = {};
        add_axes(panel + group, dimensions, sums, [&](Floats& sum, Floats points, std::size_t query, std::size_t axis) {
            const Floats difference = points - queries[query][axis];
            sum += difference * difference;
        });
        for (std::size_t query = 0; query < kTileQueries; ++query) {
            Integers within = {};
            for (std::size_t part = 0; part < kGroupVectors; ++part) {
                store(out + query * kPanelPoints + group + part * kLanes, sums[query][part]);
                within |= sums[query][part] <= limits[query];
            }
            any_within[query] |= any(within);
        }
    }
}

void half_distance_products(const float* queries, const float* panel, std::size_t dimensions, const float* lower_limits,
                            float* out, std::uint32_t* reaches_limit) {
    for (std::size_t query = 0; query < kTileQueries; ++query) reaches_limit[query] = 0;
    for (std::size_t group = 0; group < kPanelPoints; group += kGroupPoints) {
        TileSums sums;
        for (auto& row : sums) {
            for (std::size_t part = 0; part < kGroupVectors; ++part) row[part] = load(panel + group + part * kLanes);
        }
        add_axes(panel + kPanelPoints + group, dimensions, sums,
                 [&](Floats& sum, Floats points, std::size_t query, std::size_t axis) {
                     sum += points * queries[query * dimensions + axis];
                 });
        for (std::size_t query = 0; query < kTileQueries; ++query) {
            std::uint32_t bits = 0;
            for (std::size_t part = 0; part < kGroupVectors; ++part) {
                bits |= lane_bits(sums[query][part] >= lower_limits[query]) << (part * kLanes);
            }
            if (bits == 0) continue;
            reaches_limit[query] |= bits << group;
            for (std::size_t part = 0; part < kGroupVectors; ++part) {
                store(out + query * kPanelPoints + group + part * kLanes, sums[query][part]);
            }
        }
    }
}

float squared_distance(const float* first, const float* second, std::size_t dimensions) {
    Floats sums = {};
    std::size_t axis = 0;
    for (; axis + kLanes <= dimensions; axis += kLanes) {
        const Floats difference = load(first + axis) - load(second + axis);
        sums += difference * difference;
    }
    float total = pairwise_sum(sums);
    for (; axis < dimensions; ++axis) {
        const float difference = first[axis] - second[axis];
        total += difference * difference;
    }
    return total;
}

std::int32_t find(std::int32_t value, const std::int32_t* row, std::size_t k) {
    std::size_t rank = 0;
    for (; rank + kLanes <= k; rank += kLanes) {
        Integers values;
        __builtin_memcpy(&values, row + rank, sizeof(values));
        if (any(values == value)) break;
    }
    for (; rank < k; ++rank) {
        if (row[rank] == value) return static_cast<std::int32_t>(rank);
    }
    return -1;
}

void gaussian_weights(const float* gaps, std::size_t k, float precision, float* weights, double* sums) {
    Floats total = {};
    Floats first = {};
    Floats second = {};
    for (std::size_t rank = 0; rank < k; rank += kLanes) {
        const Floats gap = load(gaps + rank);
        const Integers valid = lane_numbers() + static_cast<std::int32_t>(rank) < static_cast<std::int32_t>(k);
        const Floats weight = where(valid, exponential(-precision * gap));
        store(weights + rank, weight);
        total += weight;
        first += weight * gap;
        second += weight * gap * gap;
    }
    sums[0] = sum(total);
    sums[1] = sum(first);
    sums[2] = sum(second);
}

void squared_distances_to_rows(const float* query, const float* rows, std::size_t dimensions,
                               const std::uint32_t* indices, std::size_t count, float* out) {
    constexpr std::size_t kAhead = 8;  // number of rows between prefetch and use
    for (std::size_t index = 0; index < count; ++index) {
        if (index + kAhead < count) {
            const float* later = rows + indices[index + kAhead] * dimensions;
            for (std::size_t axis = 0; axis < dimensions; axis += 16) __builtin_prefetch(later + axis);
        }
        out[index] = squared_distance(query, rows + indices[index] * dimensions, dimensions);
    }
}

// Calls visit(values, dx, dy) with kLanes edges of a row at a time. Beyond the row's last edge, edges have the value 0:
// they are those of the next row, or at the end of the matrix, edges to the point itself.
template <class Visit>
inline void visit_row(const SparseRows& matrix, const float* positions, std::size_t row, Visit&& visit) {
    const float x = positions[2 * row];
    const float y = positions[2 * row + 1];
    const std::int64_t last = matrix.offsets[row + 1];
    Floats other_x;
    Floats other_y;
    std::int64_t edge = matrix.offsets[row];
    for (; edge + kLanes <= last; edge += kLanes) {
        gather_positions(positions, matrix.columns + edge, other_x, other_y);
        visit(load(matrix.values + edge), x - other_x, y - other_y);
    }
    if (edge == last) return;
    const int remaining = static_cast<int>(last - edge);
    if (edge + kLanes <= matrix.offsets[matrix.rows]) {
        gather_positions(positions, matrix.columns + edge, other_x, other_y);
    } else {
        std::int32_t padded_columns[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) {
            padded_columns[lane] = lane < remaining ? matrix.columns[edge + lane] : static_cast<std::int32_t>(row);
        }
        gather_positions(positions, padded_columns, other_x, other_y);
    }
    visit(load_first(matrix.values + edge, remaining), x - other_x, y - other_y);
}

void attraction(const SparseRows& matrix, const float* positions, std::size_t begin, std::size_t end, float* force) {
    for (std::size_t row = begin; row < end; ++row) {
        Floats force_x = {};
        Floats force_y = {};
        visit_row(matrix, positions, row, [&](Floats value, Floats dx, Floats dy) {
            const Floats weight = value / (1.0f + dx * dx + dy * dy);
            force_x += weight * dx;
            force_y += weight * dy;
        });
        force[2 * row] = pairwise_sum(force_x);
        force[2 * row + 1] = pairwise_sum(force_y);
    }
}

double log_distances(const SparseRows& matrix, const float* positions, std::size_t begin, std::size_t end) {
    double total = 0.0;
    for (std::size_t row = begin; row < end; ++row) {
        Floats logarithms = {};
        visit_row(matrix, positions, row, [&](Floats value, Floats dx, Floats dy) {
            logarithms += value * logarithm(1.0f + dx * dx + dy * dy);
        });
        total += sum(logarithms);
    }
    return total;
}

// The number of vectors that are added in float before their sum is added to a double.
constexpr std::size_t kVectorsAtOnce = 16;

double negative_entropy(const float* values, std::size_t count, double* mass) {
    double total = 0.0;
    *mass = 0.0;
    for (std::size_t first = 0; first < count; first += kVectorsAtOnce * kLanes) {
        Floats logarithms = {};
        const std::size_t last = count < first + kVectorsAtOnce * kLanes ? count : first + kVectorsAtOnce * kLanes;
        for (std::size_t index = first; index < last; index += kLanes) {
            const Floats value = index + kLanes <= last ? load(values + index)
                                                        : load_first(values + index, static_cast<int>(last - index));
            logarithms += value * logarithm(value);  // the logarithm of 0 is finite
            *mass += sum(value);
        }
        total += sum(logarithms);
    }
    return total;
}

// kLanes consecutive points. A short group is filled up with point 0.
struct Group {
    Floats x, y;
    Integers self;
    int filled;

    Group(const float* xs, const float* ys, std::size_t begin, std::size_t end) {
        filled = end - begin < static_cast<std::size_t>(kLanes) ? static_cast<int>(end - begin) : kLanes;
        for (int lane = 0; lane < kLanes; ++lane) {
            const std::size_t point = lane < filled ? begin + static_cast<std::size_t>(lane) : 0;
            x[lane] = xs[point];
            y[lane] = ys[point];
            self[lane] = static_cast<std::int32_t>(point);
        }
    }
};

// Keeps a group of points in the lanes and loops over all other points. After every tile the lanes' float sums are
// added to doubles, so that a sum over a million terms loses no precision.
template <bool kWeighted>
double sum_repulsion(const float* xs, const float* ys, const float* weights, std::size_t n, std::size_t begin,
                     std::size_t end, float* push) {
    constexpr std::size_t kTile = 256;
    double normalizer = 0.0;
    for (std::size_t first = begin; first < end; first += kLanes) {
        const Group group(xs, ys, first, end);
        double total_x[kLanes] = {};
        double total_y[kLanes] = {};
        double total_z[kLanes] = {};
        for (std::size_t tile = 0; tile < n; tile += kTile) {
            const std::size_t tile_end = tile + kTile < n ? tile + kTile : n;
            Floats sum_x = {};
            Floats sum_y = {};
            Floats sum_z = {};
            for (std::size_t other = tile; other < tile_end; ++other) {
                const Floats dx = group.x - xs[other];
                const Floats dy = group.y - ys[other];
                const Integers is_other = group.self != static_cast<std::int32_t>(other);
                const Floats kernel = where(is_other, 1.0f / (1.0f + dx * dx + dy * dy));
                const Floats weighted = kWeighted ? kernel * weights[other] : kernel;
                const Floats squared = weighted * kernel;
                sum_z += weighted;
                sum_x += squared * dx;
                sum_y += squared * dy;
            }
            for (int lane = 0; lane < kLanes; ++lane) {
                total_x[lane] += sum_x[lane];
                total_y[lane] += sum_y[lane];
                total_z[lane] += sum_z[lane];
            }
        }
        for (int lane = 0; lane < group.filled; ++lane) {
            const std::size_t point = first + static_cast<std::size_t>(lane);
            push[2 * point] = static_cast<float>(total_x[lane]);
            push[2 * point + 1] = static_cast<float>(total_y[lane]);
            normalizer += kWeighted ? weights[point] * total_z[lane] : total_z[lane];
        }
    }
    return normalizer;
}

double exact_repulsion(const float* xs, const float* ys, const float* weights, std::size_t n, std::size_t begin,
                       std::size_t end, float* push) {
    return weights == nullptr ? sum_repulsion<false>(xs, ys, weights, n, begin, end, push)
                              : sum_repulsion<true>(xs, ys, weights, n, begin, end, push);
}

// Points that are consecutive in Morton order traverse the tree together, one per lane, in two vectors at a time, so
// that the latency of one hides behind the other. Each lane decides for itself. A lane that has used a cell is inactive
// until the traversal has left that cell (`resume`). The traversal enters a cell's children if any active lane cannot
// use the cell.
struct Walkers {
    Group group;
    Integers resume = {};
    Floats sum_x = {};
    Floats sum_y = {};
    Floats sum_z = {};

    Walkers(const float* xs, const float* ys, std::size_t begin, std::size_t end, std::int32_t never)
        : group(xs, ys, begin, end) {
        for (int lane = group.filled; lane < kLanes; ++lane) resume[lane] = never;
    }

    // Returns the lanes that must continue with the cell's children.
    Integers visit(const TreeCell& cell, std::int32_t cell_index) {
        const Floats dx = group.x - cell.x;
        const Floats dy = group.y - cell.y;
        const Floats squared = dx * dx + dy * dy;
        const Integers active = resume <= cell_index;
        const Integers outside = (group.self < cell.begin) | (group.self >= cell.end);
        const Integers used = active & outside & (squared > cell.squared_opening_radius);
        const Floats kernel = where(used, 1.0f / (1.0f + squared));
        const Floats weight = cell.weight * kernel;
        const Floats squared_weight = weight * kernel;
        sum_z += weight;
        sum_x += squared_weight * dx;
        sum_y += squared_weight * dy;
        resume = used ? Integers{} + cell.skip : resume;
        return active & ~used;
    }

    // weights: of these points; null: none.
    double write(const float* weights, float* push) const {
        double normalizer = 0.0;
        for (int lane = 0; lane < group.filled; ++lane) {
            push[2 * lane] = sum_x[lane];
            push[2 * lane + 1] = sum_y[lane];
            normalizer += weights == nullptr ? sum_z[lane] : static_cast<double>(weights[lane]) * sum_z[lane];
        }
        return normalizer;
    }
};

double tree_repulsion(const TreeCell* cells, std::size_t cell_count, const float* xs, const float* ys,
                      const float* weights, std::size_t begin, std::size_t end, float* push) {
    double normalizer = 0.0;
    const std::int32_t never = static_cast<std::int32_t>(cell_count);
    for (std::size_t first = begin; first < end; first += 2 * kLanes) {
        const std::size_t second = first + kLanes < end ? first + kLanes : end;
        Walkers left(xs, ys, first, end, never);
        Walkers right(xs, ys, second, end, never);
        for (std::int32_t cell_index = 0; cell_index < never;) {
            const TreeCell& cell = cells[cell_index];
            const Integers opened = left.visit(cell, cell_index) | right.visit(cell, cell_index);
            cell_index = any(opened) ? cell_index + 1 : cell.skip;
        }
        normalizer += left.write(weights == nullptr ? nullptr : weights + first, push + 2 * first);
        normalizer += right.write(weights == nullptr ? nullptr : weights + second, push + 2 * second);
    }
    return normalizer;
}

constexpr float kSmallestGain = 0.01f;

// The delta-bar-delta rule of t-SNE: the gain grows while a coordinate keeps its direction.
inline Floats gains_after(Floats gains, Floats gradients, Floats velocities) {
    const Integers uphill = ((gradients > 0.0f) & (velocities > 0.0f)) | ((gradients < 0.0f) & (velocities < 0.0f));
    const Floats changed = uphill ? gains * 0.8f : gains + 0.2f;
    return changed < kSmallestGain ? Floats{} + kSmallestGain : changed;
}

// Shortens the moves of points that are longer than the limit. In double precision, because squares may overflow.
inline Floats limited(Floats moves, float limit) {
    float parts[kLanes];
    store(parts, moves);
    for (int lane = 0; lane < kLanes; lane += 2) {
        const double x = parts[lane];
        const double y = parts[lane + 1];
        const double length = sqrt(x * x + y * y);
        const float scale = length > limit ? static_cast<float>(limit / length) : 1.0f;
        parts[lane] *= scale;
        parts[lane + 1] *= scale;
    }
    return load(parts);
}

// Moves kLanes coordinates, x and y in turn, and returns their new values.
inline Floats step_lanes(const StepSettings& settings, const float* attraction, const float* push, float* positions,
                         float* velocity, float* gains) {
    const Floats velocities = load(velocity);
    const Floats gradients =
        4.0f * (settings.exaggeration * load(attraction) - load(push) * settings.inverse_normalizer);
    const Floats new_gains = gains_after(load(gains), gradients, velocities);
    Floats moves = settings.momentum * velocities - settings.learning_rate * new_gains * gradients;
    // A move longer than the limit has a coordinate beyond limit / sqrt(2).
    if (any(moves * moves > 0.49f * settings.step_limit * settings.step_limit)) {
        moves = limited(moves, settings.step_limit);
    }
    const Floats moved = load(positions) + moves;
    store(gains, new_gains);
    store(velocity, moves);
    store(positions, moved);
    return moved;
}

void step(const StepSettings& settings, const float* attraction, const float* push, std::size_t begin, std::size_t end,
          float* positions, float* velocity, float* gains, double* sums) {
    double totals[kLanes] = {};
    const auto add = [&](Floats moved) {
        for (int lane = 0; lane < kLanes; ++lane) totals[lane] += moved[lane];
    };
    std::size_t first = 2 * begin;
    for (; first + kLanes <= 2 * end; first += kLanes) {
        add(step_lanes(settings, attraction + first, push + first, positions + first, velocity + first, gains + first));
    }
    const std::size_t bytes = (2 * end - first) * sizeof(float);
    if (bytes > 0) {
        float padded[5][kLanes] = {};
        float* const arrays[3] = {positions + first, velocity + first, gains + first};
        for (int array = 0; array < 3; ++array) __builtin_memcpy(padded[array], arrays[array], bytes);
        __builtin_memcpy(padded[3], attraction + first, bytes);
        __builtin_memcpy(padded[4], push + first, bytes);
        add(step_lanes(settings, padded[3], padded[4], padded[0], padded[1], padded[2]));
        for (int array = 0; array < 3; ++array) __builtin_memcpy(arrays[array], padded[array], bytes);
    }
    sums[0] = sums[1] = 0.0;
    for (int lane = 0; lane < kLanes; ++lane) sums[lane % 2] += totals[lane];
}

}  // namespace

extern const FieldKernels field_table;  // field_kernels.cpp
extern const Kernels table;
const Kernels table = {PIXELSNE_ISA_NAME,
                       &field_table,
                       squared_distances,
                       half_distance_products,
                       squared_distances_to_rows,
                       squared_distance,
                       find,
                       gaussian_weights,
                       attraction,
                       log_distances,
                       negative_entropy,
                       exact_repulsion,
                       tree_repulsion,
                       step};

}  // namespace PIXELSNE_ISA
}  // namespace pixelsne
