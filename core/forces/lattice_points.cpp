#include "lattice_points.hpp"

#include <algorithm>
#include <cmath>

#include "../kernels.hpp"
#include "../parallel_for.hpp"
#include "outliers.hpp"

namespace pixelsne {
namespace {

// A band of this many rows stays in the cache while it is filled.
constexpr std::size_t kBandRows = 16;
constexpr std::size_t kTaskRows = kBandRows + kTaps - 1;

constexpr std::size_t kPointsPerChunk = 4096;

// A task has at most kPointsPerTask points, or 1 / kMaxSplits of all points if that is more. More tasks mean more rows
// to add up.
constexpr std::size_t kPointsPerTask = 8192;
constexpr std::size_t kMaxSplits = 256;

// Converts embedding units to lattice coordinates.
struct ToLattice {
    double origin[2];
    double scale;
    float max_coordinate[2];  // larger coordinates would touch nodes that do not exist
    Bounds box;
    std::uint16_t outside;  // the group of points outside the box

    ToLattice(const FieldLattice& lattice, const Bounds& box, std::size_t outside)
        : scale(1.0 / lattice.spacing), box(box), outside(static_cast<std::uint16_t>(outside)) {
        for (int axis = 0; axis < 2; ++axis) {
            origin[axis] = lattice.origin[axis];
            max_coordinate[axis] =
                std::nextafter(static_cast<float>(lattice.nodes[axis] - kTaps + kTapsBelow + 1), 0.0f);
        }
    }

    // Clamps the result, so that rounding cannot lead outside the lattice.
    float operator()(float coordinate, int axis) const {
        const auto exact = static_cast<float>((coordinate - origin[axis]) * scale);
        return std::min(std::max(exact, static_cast<float>(kTapsBelow)), max_coordinate[axis]);
    }
};

void convert_points(const ToLattice to_lattice, Positions positions, std::size_t begin, std::size_t end,
                    LatticePoint* converted, std::uint16_t* groups, std::uint32_t* counts) {
    for (std::size_t point = begin; point < end; ++point) {
        const float* position = positions.row(point);
        const LatticePoint on_lattice{to_lattice(position[0], 0), to_lattice(position[1], 1),
                                      static_cast<std::uint32_t>(point)};
        const auto band =
            static_cast<std::uint16_t>((static_cast<std::uint32_t>(on_lattice.y) - kTapsBelow) / kBandRows);
        const std::uint16_t group = inside(to_lattice.box, position) ? band : to_lattice.outside;
        converted[point] = on_lattice;
        groups[point] = group;
        ++counts[group];
    }
}

}  // namespace

std::size_t LatticePoints::bands() const { return chunk_count(lattice_.nodes[1], kBandRows); }

// Sorts by counting: computes the lattice coordinates and bands of all points, then the offset of each chunk in each
// band, then moves the points. Chunks do not depend on the number of threads, so neither does the order.
void LatticePoints::assign(Positions positions, PointWeights weights, const FieldLattice& lattice, const Bounds& box,
                           int threads) {
    const std::size_t n = positions.rows;
    lattice_ = lattice;
    weights_ = weights;
    const std::size_t groups = bands() + 1;  // the last group: points outside the box
    counts_.assign(chunk_count(n, kPointsPerChunk) * groups, 0);
    unsorted_.resize(n);
    groups_.resize(n);
    const ToLattice to_lattice(lattice_, box, groups - 1);
    parallel_for(n, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        convert_points(to_lattice, positions, begin, end, unsorted_.data(), groups_.data(),
                       counts_.data() + chunk * groups);
    });
    counts_to_offsets(groups);
    sorted_.resize(band_begin_.back());
    outside_.resize(n - sorted_.size());
    parallel_for(n, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        std::uint32_t* const targets = counts_.data() + chunk * groups;
        LatticePoint* const sorted = sorted_.data();
        for (std::size_t point = begin; point < end; ++point) {
            const std::uint32_t target = targets[groups_[point]]++;
            if (target < sorted_.size()) {
                sorted[target] = unsorted_[point];
            } else {
                outside_[target - sorted_.size()] = unsorted_[point].index;
            }
        }
    });
    sum_weights();
    make_tasks();
}

void LatticePoints::sum_weights() {
    inside_weight_ = inside_squared_weights_ = static_cast<double>(sorted_.size());
    if (!weights_) return;
    inside_weight_ = inside_squared_weights_ = 0.0;
    for (const LatticePoint& point : sorted_) {
        const double weight = weights_[point.index];
        inside_weight_ += weight;
        inside_squared_weights_ += weight * weight;
    }
}

void LatticePoints::counts_to_offsets(std::size_t groups) {
    band_begin_.resize(groups);
    std::uint32_t total = 0;
    for (std::size_t group = 0; group < groups; ++group) {
        band_begin_[group] = total;
        for (std::size_t index = group; index < counts_.size(); index += groups) {
            const std::uint32_t count = counts_[index];
            counts_[index] = total;
            total += count;
        }
    }
}

void LatticePoints::make_tasks() {
    const std::size_t max_points = std::max(kPointsPerTask, chunk_count(sorted_.size(), kMaxSplits));
    tasks_.clear();
    for (std::size_t band = 0; band < bands(); ++band) {
        for (std::size_t begin = band_begin_[band]; begin < band_begin_[band + 1]; begin += max_points) {
            tasks_.push_back({band, begin, std::min<std::size_t>(begin + max_points, band_begin_[band + 1])});
        }
    }
}

void LatticePoints::run_tasks(int threads) {
    const std::size_t task_floats = kTaskRows * stride();
    task_rows_.resize(tasks_.size() * task_floats);
    run_chunks(tasks_.size(), threads, [&](std::size_t index) {
        const Task& task = tasks_[index];
        float* rows = task_rows_.data() + index * task_floats;
        std::fill_n(rows, task_floats, 0.0f);
        kernels().field->deposit(sorted_.data() + task.begin, task.end - task.begin, weights_.data,
                                 task.band * kBandRows, stride(), rows);
    });
}

// Adds rows that several tasks touch in the order of the tasks, independently of the threads that ran them.
void LatticePoints::deposit(int threads, NodeValues& node_values) {
    run_tasks(threads);
    const std::size_t width = stride();
    node_values.resize(lattice_.nodes[1] * width);
    run_chunks(bands(), threads, [&](std::size_t band) {
        const std::size_t first_row = band * kBandRows;
        const std::size_t last_row = std::min(first_row + kBandRows, lattice_.nodes[1]);
        std::fill(node_values.begin() + static_cast<std::ptrdiff_t>(first_row * width),
                  node_values.begin() + static_cast<std::ptrdiff_t>(last_row * width), 0.0f);
        const std::size_t from_band = band > 0 ? band - 1 : 0;
        const auto is_before = [](const Task& task, std::size_t first_band) { return task.band < first_band; };
        auto task = std::lower_bound(tasks_.begin(), tasks_.end(), from_band, is_before);
        for (; task != tasks_.end() && task->band <= band; ++task) {
            const std::size_t first_task_row = task->band * kBandRows;
            const float* rows = task_rows_.data() + static_cast<std::size_t>(task - tasks_.begin()) * kTaskRows * width;
            for (std::size_t row = first_row; row < std::min(last_row, first_task_row + kTaskRows); ++row) {
                const float* source = rows + (row - first_task_row) * width;
                float* target = node_values.data() + row * width;
                for (std::size_t column = 0; column < width; ++column) target[column] += source[column];
            }
        }
    });
}

// Interpolation is the transpose of the deposit, so the weighted sum of the interpolated values over all points is the
// sum of the squared node values: one pass over the nodes suffices.
double LatticePoints::crowding(const NodeValues& node_values, int threads) {
    const std::size_t width = stride();
    sums_.resize(bands());
    run_chunks(bands(), threads, [&](std::size_t band) {
        const std::size_t last_row = std::min((band + 1) * kBandRows, lattice_.nodes[1]);
        // Independent sums let the compiler vectorize the loop. kRowPadding divides the stride.
        float lanes[kRowPadding] = {};
        const float* const end = node_values.data() + last_row * width;
        for (const float* node = node_values.data() + band * kBandRows * width; node != end; node += kRowPadding) {
            for (std::size_t lane = 0; lane < kRowPadding; ++lane) lanes[lane] += node[lane] * node[lane];
        }
        double total = 0.0;
        for (const float lane : lanes) total += static_cast<double>(lane);
        sums_[band] = total;
    });
    double total = 0.0;
    for (const double sum : sums_) total += sum;
    return sorted_.empty() ? 0.0 : total / inside_weight_;
}

double LatticePoints::interpolate(const NodeValues& node_values, int threads, ArrayView<float> push) {
    const auto gradient_scale = static_cast<float>(-0.5 / lattice_.spacing);
    sums_.resize(tasks_.size());
    run_chunks(tasks_.size(), threads, [&](std::size_t index) {
        const Task& task = tasks_[index];
        sums_[index] = kernels().field->interpolate(sorted_.data() + task.begin, task.end - task.begin, weights_.data,
                                                    node_values.data(), stride(), gradient_scale, push.data);
    });
    double total = 0.0;
    for (const double sum : sums_) total += sum;
    return total;
}

}  // namespace pixelsne
