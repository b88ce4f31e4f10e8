#include "pixel_field.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../kernels.hpp"
#include "../parallel_for.hpp"
#include "../step.hpp"
#include "barnes_hut.hpp"
#include "outliers.hpp"

namespace pixelsne {
namespace {

// A band of this many rows stays in the cache while it is filled.
constexpr std::size_t kBandRows = 16;
constexpr std::size_t kUnitRows = kBandRows + kTaps - 1;

constexpr std::size_t kPointsPerChunk = 4096;

// A unit has at most this many points, or this share of all: more units mean more rows to add up.
constexpr std::size_t kPointsPerUnit = 8192;
constexpr std::size_t kMostSplits = 256;

// From embedding units to nodes.
struct Placing {
    double origin[2];
    double scale;
    float last[2];  // places beyond would touch nodes that do not exist
    Bounds box;
    std::uint16_t outlier;

    Placing(const FieldLattice& lattice, const Bounds& box, std::size_t outlier)
        : scale(1.0 / lattice.spacing), box(box), outlier(static_cast<std::uint16_t>(outlier)) {
        for (int axis = 0; axis < 2; ++axis) {
            origin[axis] = lattice.origin[axis];
            last[axis] = std::nextafter(static_cast<float>(lattice.nodes[axis] - kTaps + kTapsBelow + 1), 0.0f);
        }
    }

    // Clamped, so that no rounding whatever can lead outside of the lattice.
    float operator()(float coordinate, int axis) const {
        const auto exact = static_cast<float>((coordinate - origin[axis]) * scale);
        return std::min(std::max(exact, static_cast<float>(kTapsBelow)), last[axis]);
    }
};

void place_points(const Placing place, Positions positions, std::size_t begin, std::size_t end, LatticePoint* placed,
                  std::uint16_t* kinds, std::uint32_t* counts) {
    for (std::size_t point = begin; point < end; ++point) {
        const float* position = positions.row(point);
        const LatticePoint here{place(position[0], 0), place(position[1], 1), static_cast<std::uint32_t>(point)};
        const auto band = static_cast<std::uint16_t>((static_cast<std::uint32_t>(here.y) - kTapsBelow) / kBandRows);
        const std::uint16_t kind = inside(place.box, position) ? band : place.outlier;
        placed[point] = here;
        kinds[point] = kind;
        ++counts[kind];
    }
}

// Looking for outliers pays where the lattice is larger than this.
constexpr std::size_t kCheapNodes = 128;

// Between few points single pairs matter, and a tree is as fast.
constexpr std::size_t kFewPoints = 2048;

// Where points are sparser than this, the tree is faster (benchmarks/force_error.py).
constexpr std::size_t kSparseNodesPerPoint = 48;

// The tree errs by less than 1 % at this, as the field does.
constexpr double kTheta = 0.3;

}  // namespace

double PixelField::repulsion(Positions positions, std::size_t most_nodes, int threads, ArrayView<float> push) {
    const Bounds box = choose_box(positions, most_nodes, threads);
    used_tree_ = outgrown(positions.rows);
    return used_tree_ ? repulsion_by_tree(positions, threads, push) : repulsion_by_field(positions, box, threads, push);
}

Bounds PixelField::choose_box(Positions positions, std::size_t most_nodes, int threads) {
    Bounds box = find_bounds(positions, threads);
    for (int axis = 0; axis < 2; ++axis) {
        if (!std::isfinite(box.high[axis] - box.low[axis])) throw std::invalid_argument("positions: finite");
    }
    lattice_ = choose_lattice(box, positions.rows, most_nodes);
    if (std::max(lattice_.nodes[0], lattice_.nodes[1]) > kCheapNodes) {
        box = box_without_outliers(positions, box, threads);
        lattice_ = choose_lattice(box, positions.rows, most_nodes);
    }
    return box;
}

bool PixelField::outgrown(std::size_t n) const {
    const std::size_t nodes = lattice_.nodes[0] * lattice_.nodes[1];
    const bool is_sparse = nodes > kSparseNodesPerPoint * n && !may_be_sparse_;
    return n < kFewPoints || lattice_.spacing > kSpacing || is_sparse;
}

double PixelField::repulsion_by_tree(Positions positions, int threads, ArrayView<float> push) {
    outliers_.clear();
    tree_.build(positions, grid_around(positions, threads), Center::mass, kTheta, threads);
    return tree_.repulsion(threads, push);
}

double PixelField::repulsion_by_field(Positions positions, const Bounds& box, int threads, ArrayView<float> push) {
    convolution_.prepare(lattice_, threads);
    sort_by_band(positions, box, threads);
    for (const std::uint32_t outlier : outliers_) {  // the bounds have not seen what is no number
        if (!std::isfinite(positions.row(outlier)[0] + positions.row(outlier)[1])) {
            throw std::invalid_argument("positions: finite");
        }
    }
    deposit(threads);
    add_up(threads);
    convolution_.apply(nodes_, stride(), threads);
    for (const std::uint32_t outlier : outliers_) std::fill_n(push.row(outlier), 2, 0.0f);
    const double sum = read(threads, push);
    const auto inside = static_cast<double>(sorted_.size());
    const double itself = lattice_.differences ? inside - inside * inside : inside;
    return sum - itself + add_outlier_forces(positions, outliers_, threads, push);
}

std::size_t PixelField::bands() const { return chunk_count(lattice_.nodes[1], kBandRows); }

// A counting sort: places and bands of all points, then where each chunk's share of a band begins, then the
// points themselves. Chunks do not depend on threads, so neither does the order.
void PixelField::sort_by_band(Positions positions, const Bounds& box, int threads) {
    const std::size_t n = positions.rows;
    const std::size_t kinds = bands() + 1;  // the last one: outliers
    counts_.assign(chunk_count(n, kPointsPerChunk) * kinds, 0);
    placed_.resize(n);
    kinds_.resize(n);
    const Placing place(lattice_, box, kinds - 1);
    parallel_for(n, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        place_points(place, positions, begin, end, placed_.data(), kinds_.data(), counts_.data() + chunk * kinds);
    });
    turn_counts_into_places(kinds);
    sorted_.resize(band_begin_.back());
    outliers_.resize(n - sorted_.size());
    parallel_for(n, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        std::uint32_t* const targets = counts_.data() + chunk * kinds;
        LatticePoint* const sorted = sorted_.data();
        for (std::size_t point = begin; point < end; ++point) {
            const std::uint32_t target = targets[kinds_[point]]++;
            if (target < sorted_.size()) {
                sorted[target] = placed_[point];
            } else {
                outliers_[target - sorted_.size()] = placed_[point].index;
            }
        }
    });
    cut_units();
}

void PixelField::turn_counts_into_places(std::size_t kinds) {
    band_begin_.resize(kinds);
    std::uint32_t total = 0;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        band_begin_[kind] = total;
        for (std::size_t count = kind; count < counts_.size(); count += kinds) {
            const std::uint32_t points = counts_[count];
            counts_[count] = total;
            total += points;
        }
    }
}

void PixelField::cut_units() {
    const std::size_t most = std::max(kPointsPerUnit, chunk_count(sorted_.size(), kMostSplits));
    units_.clear();
    for (std::size_t band = 0; band < bands(); ++band) {
        for (std::size_t begin = band_begin_[band]; begin < band_begin_[band + 1]; begin += most) {
            units_.push_back({band, begin, std::min<std::size_t>(begin + most, band_begin_[band + 1])});
        }
    }
}

void PixelField::deposit(int threads) {
    const std::size_t unit_floats = kUnitRows * stride();
    unit_rows_.resize(units_.size() * unit_floats);
    run_chunks(units_.size(), threads, [&](std::size_t index) {
        const Unit& unit = units_[index];
        float* rows = unit_rows_.data() + index * unit_floats;
        std::fill_n(rows, unit_floats, 0.0f);
        kernels().field->deposit(sorted_.data() + unit.begin, unit.end - unit.begin, unit.band * kBandRows, stride(),
                                 rows);
    });
}

// Rows that several units touch are added in the order of the units, whichever thread filled them.
void PixelField::add_up(int threads) {
    const std::size_t width = stride();
    nodes_.resize(lattice_.nodes[1] * width);
    run_chunks(bands(), threads, [&](std::size_t band) {
        const std::size_t first_row = band * kBandRows;
        const std::size_t last_row = std::min(first_row + kBandRows, lattice_.nodes[1]);
        std::fill(nodes_.begin() + static_cast<std::ptrdiff_t>(first_row * width),
                  nodes_.begin() + static_cast<std::ptrdiff_t>(last_row * width), 0.0f);
        const std::size_t from_band = band > 0 ? band - 1 : 0;
        const auto begins_before = [](const Unit& unit, std::size_t wanted) { return unit.band < wanted; };
        auto unit = std::lower_bound(units_.begin(), units_.end(), from_band, begins_before);
        for (; unit != units_.end() && unit->band <= band; ++unit) {
            const std::size_t unit_row = unit->band * kBandRows;
            const float* rows = unit_rows_.data() + static_cast<std::size_t>(unit - units_.begin()) * kUnitRows * width;
            for (std::size_t row = first_row; row < std::min(last_row, unit_row + kUnitRows); ++row) {
                const float* source = rows + (row - unit_row) * width;
                float* target = nodes_.data() + row * width;
                for (std::size_t column = 0; column < width; ++column) target[column] += source[column];
            }
        }
    });
}

double PixelField::read(int threads, ArrayView<float> push) {
    const auto slope = static_cast<float>(-0.5 / lattice_.spacing);
    sums_.resize(units_.size());
    run_chunks(units_.size(), threads, [&](std::size_t index) {
        const Unit& unit = units_[index];
        sums_[index] = kernels().field->read(sorted_.data() + unit.begin, unit.end - unit.begin, nodes_.data(),
                                             stride(), slope, push.data);
    });
    double total = 0.0;
    for (const double sum : sums_) total += sum;
    return total;
}

}  // namespace pixelsne
