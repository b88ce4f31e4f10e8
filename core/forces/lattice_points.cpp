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
    std::uint16_t outside;  // the kind of points outside the box

    Placing(const FieldLattice& lattice, const Bounds& box, std::size_t outside)
        : scale(1.0 / lattice.spacing), box(box), outside(static_cast<std::uint16_t>(outside)) {
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
        const std::uint16_t kind = inside(place.box, position) ? band : place.outside;
        placed[point] = here;
        kinds[point] = kind;
        ++counts[kind];
    }
}

}  // namespace

std::size_t LatticePoints::bands() const { return chunk_count(lattice_.nodes[1], kBandRows); }

// A counting sort: places and bands of all points, then where each chunk's share of a band begins, then the
// points themselves. Chunks do not depend on threads, so neither does the order.
void LatticePoints::place(Positions positions, const FieldLattice& lattice, const Bounds& box, int threads) {
    const std::size_t n = positions.rows;
    lattice_ = lattice;
    const std::size_t kinds = bands() + 1;  // the last one: those outside
    counts_.assign(chunk_count(n, kPointsPerChunk) * kinds, 0);
    placed_.resize(n);
    kinds_.resize(n);
    const Placing placing(lattice_, box, kinds - 1);
    parallel_for(n, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        place_points(placing, positions, begin, end, placed_.data(), kinds_.data(), counts_.data() + chunk * kinds);
    });
    turn_counts_into_places(kinds);
    sorted_.resize(band_begin_.back());
    outside_.resize(n - sorted_.size());
    parallel_for(n, kPointsPerChunk, threads, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        std::uint32_t* const targets = counts_.data() + chunk * kinds;
        LatticePoint* const sorted = sorted_.data();
        for (std::size_t point = begin; point < end; ++point) {
            const std::uint32_t target = targets[kinds_[point]]++;
            if (target < sorted_.size()) {
                sorted[target] = placed_[point];
            } else {
                outside_[target - sorted_.size()] = placed_[point].index;
            }
        }
    });
    cut_units();
}

void LatticePoints::turn_counts_into_places(std::size_t kinds) {
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

void LatticePoints::cut_units() {
    const std::size_t most = std::max(kPointsPerUnit, chunk_count(sorted_.size(), kMostSplits));
    units_.clear();
    for (std::size_t band = 0; band < bands(); ++band) {
        for (std::size_t begin = band_begin_[band]; begin < band_begin_[band + 1]; begin += most) {
            units_.push_back({band, begin, std::min<std::size_t>(begin + most, band_begin_[band + 1])});
        }
    }
}

void LatticePoints::fill_units(int threads) {
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
void LatticePoints::deposit(int threads, Nodes& nodes) {
    fill_units(threads);
    const std::size_t width = stride();
    nodes.resize(lattice_.nodes[1] * width);
    run_chunks(bands(), threads, [&](std::size_t band) {
        const std::size_t first_row = band * kBandRows;
        const std::size_t last_row = std::min(first_row + kBandRows, lattice_.nodes[1]);
        std::fill(nodes.begin() + static_cast<std::ptrdiff_t>(first_row * width),
                  nodes.begin() + static_cast<std::ptrdiff_t>(last_row * width), 0.0f);
        const std::size_t from_band = band > 0 ? band - 1 : 0;
        const auto begins_before = [](const Unit& unit, std::size_t wanted) { return unit.band < wanted; };
        auto unit = std::lower_bound(units_.begin(), units_.end(), from_band, begins_before);
        for (; unit != units_.end() && unit->band <= band; ++unit) {
            const std::size_t unit_row = unit->band * kBandRows;
            const float* rows = unit_rows_.data() + static_cast<std::size_t>(unit - units_.begin()) * kUnitRows * width;
            for (std::size_t row = first_row; row < std::min(last_row, unit_row + kUnitRows); ++row) {
                const float* source = rows + (row - unit_row) * width;
                float* target = nodes.data() + row * width;
                for (std::size_t column = 0; column < width; ++column) target[column] += source[column];
            }
        }
    });
}

// What points read of their own deposit, before it is convolved, is the sum of the squares of the nodes.
double LatticePoints::crowding(const Nodes& nodes, int threads) {
    const std::size_t width = stride();
    sums_.resize(bands());
    run_chunks(bands(), threads, [&](std::size_t band) {
        const std::size_t last_row = std::min((band + 1) * kBandRows, lattice_.nodes[1]);
        float lanes[kRowPadding] = {};  // side by side, so that the compiler makes vectors of them; divides the stride
        const float* const end = nodes.data() + last_row * width;
        for (const float* node = nodes.data() + band * kBandRows * width; node != end; node += kRowPadding) {
            for (std::size_t lane = 0; lane < kRowPadding; ++lane) lanes[lane] += node[lane] * node[lane];
        }
        double total = 0.0;
        for (const float lane : lanes) total += static_cast<double>(lane);
        sums_[band] = total;
    });
    double total = 0.0;
    for (const double sum : sums_) total += sum;
    return total / static_cast<double>(std::max<std::size_t>(1, inside()));
}

double LatticePoints::read(const Nodes& nodes, int threads, ArrayView<float> push) {
    const auto slope = static_cast<float>(-0.5 / lattice_.spacing);
    sums_.resize(units_.size());
    run_chunks(units_.size(), threads, [&](std::size_t index) {
        const Unit& unit = units_[index];
        sums_[index] = kernels().field->read(sorted_.data() + unit.begin, unit.end - unit.begin, nodes.data(), stride(),
                                             slope, push.data);
    });
    double total = 0.0;
    for (const double sum : sums_) total += sum;
    return total;
}

}  // namespace pixelsne
