#include "convolution.hpp"

#include <cmath>

#include "../kernels.hpp"
#include "../parallel_for.hpp"

namespace pixelsne {
namespace {

constexpr double kTwoPi = 6.283185307179586;

constexpr std::size_t kColumnsPerTask = 2 * kLineLanes;

// Returns the buffer of a transform. Each thread keeps its own from call to call.
float* scratch_of(std::size_t size) {
    thread_local AlignedVector<float> scratch;
    if (scratch.size() < 2 * size * kLineFloats) scratch.resize(2 * size * kLineFloats);
    return scratch.data();
}

// Returns the radices of the stages. The first and the last are 4, as the passes over half-empty planes require.
std::vector<std::size_t> radices_of(std::size_t size) {
    std::vector<std::size_t> radices{4};
    std::size_t rest = size / 16;
    for (const std::size_t radix : {4, 5, 3, 2}) {
        for (; rest % radix == 0; rest /= radix) radices.push_back(radix);
    }
    radices.push_back(4);
    return radices;
}

// Returns the spline's frequency response: the sum at a node of quintic splines on all nodes with weights cos(frequency
// * node).
double spline_response(std::size_t frequency, std::size_t size) {
    const double angle = kTwoPi * static_cast<double>(frequency) / static_cast<double>(size);
    return (66.0 + 52.0 * std::cos(angle) + 2.0 * std::cos(2.0 * angle)) / 120.0;
}

// Returns the factors that undo both splines in the kernel's spectrum: the one that deposits points and the one that
// interpolates at points.
std::vector<double> deconvolution_factors(std::size_t nodes) {
    std::vector<double> factors(nodes + 1);
    for (std::size_t frequency = 0; frequency <= nodes; ++frequency) {
        const double response = spline_response(frequency, 2 * nodes);
        factors[frequency] = 1.0 / (response * response * 2.0 * static_cast<double>(nodes));
    }
    return factors;
}

std::size_t folded(std::size_t index, std::size_t size) { return std::min(index, size - index); }

// Returns nodes + 1, rounded up to whole lines.
std::size_t padded_to_lines(std::size_t nodes) { return (nodes / kLineLanes + 1) * kLineLanes; }

}  // namespace

void PlannedTransform::prepare(std::size_t size) {
    if (plan_.size == size) return;
    const std::vector<std::size_t> radices = radices_of(size);
    twiddles_.clear();
    std::vector<std::size_t> starts;
    std::size_t length = size;
    for (const std::size_t radix : radices) {
        starts.push_back(twiddles_.size());
        for (std::size_t group = 0; group < length / radix; ++group) {
            for (std::size_t tap = 1; tap < radix; ++tap) {
                const double angle = kTwoPi * static_cast<double>(group * tap) / static_cast<double>(length);
                twiddles_.push_back(static_cast<float>(std::cos(angle)));
                twiddles_.push_back(static_cast<float>(std::sin(angle)));
            }
        }
        length /= radix;
    }
    plan_.size = size;
    plan_.stages = radices.size();
    length = size;
    for (std::size_t stage = 0; stage < radices.size(); ++stage) {
        plan_.stage[stage] = {radices[stage], length, size / length, twiddles_.data() + starts[stage]};
        length /= radices[stage];
    }
}

void Convolution::prepare(const FieldLattice& lattice, int threads) {
    if (lattice_.same_kernel(lattice)) return;
    lattice_ = lattice;
    const auto [width, height] = lattice.nodes;
    across_.prepare(2 * width);
    down_.prepare(2 * height);
    kernel_.resize(padded_to_lines(height) * (width + 1));
    spectrum_.assign(padded_to_lines(height) * spectrum().row_floats, 0.0f);
    transform_kernel_across(transform_kernel_down(threads), threads);
}

// The kernel is even along both axes, so its spectrum is real and even, too.
AlignedVector<float> Convolution::transform_kernel_down(int threads) const {
    const auto [width, height] = lattice_.nodes;
    const double area = lattice_.spacing * lattice_.spacing;
    const std::size_t row_floats = padded_to_lines(width);
    AlignedVector<float> by_rows(padded_to_lines(height) * row_floats);
    run_chunks(row_floats / kLineLanes, threads, [&, width = width, height = height](std::size_t block) {
        float* scratch = scratch_of(down_.plan().size);
        float* data = scratch + down_.plan().size * kLineFloats;
        for (std::size_t row = 0; row < 2 * height; ++row) {
            const double y = static_cast<double>(folded(row, 2 * height));
            for (std::size_t lane = 0; lane < kLineLanes; ++lane) {
                const double x = static_cast<double>(folded(std::min(block * kLineLanes + lane, width), 2 * width));
                const double squared = area * (x * x + y * y);
                const double value = (lattice_.uses_kernel_minus_one ? -squared : 1.0) / (1.0 + squared);
                data[row * kLineFloats + lane] = static_cast<float>(value);
                data[row * kLineFloats + kLineLanes + lane] = 0.0f;
            }
        }
        const float* result = kernels().field->transform(down_.plan(), data, scratch);
        for (std::size_t row = 0; row <= height; ++row) {
            std::copy_n(result + row * kLineFloats, kLineLanes, by_rows.data() + row * row_floats + block * kLineLanes);
        }
    });
    return by_rows;
}

void Convolution::transform_kernel_across(const AlignedVector<float>& by_rows, int threads) {
    const auto [width, height] = lattice_.nodes;
    const std::size_t row_floats = padded_to_lines(width);
    const std::vector<double> factors_x = deconvolution_factors(width);
    const std::vector<double> factors_y = deconvolution_factors(height);
    run_chunks(padded_to_lines(height) / kLineLanes, threads, [&, width = width, height = height](std::size_t block) {
        float* scratch = scratch_of(across_.plan().size);
        float* data = scratch + across_.plan().size * kLineFloats;
        for (std::size_t column = 0; column < 2 * width; ++column) {
            for (std::size_t lane = 0; lane < kLineLanes; ++lane) {
                data[column * kLineFloats + lane] =
                    by_rows[(block * kLineLanes + lane) * row_floats + folded(column, 2 * width)];
                data[column * kLineFloats + kLineLanes + lane] = 0.0f;
            }
        }
        const float* result = kernels().field->transform(across_.plan(), data, scratch);
        float* target = kernel_.data() + block * (width + 1) * kLineLanes;
        for (std::size_t column = 0; column <= width; ++column) {
            for (std::size_t lane = 0; lane < kLineLanes; ++lane) {
                const double factor = factors_x[column] * factors_y[std::min(block * kLineLanes + lane, height)];
                target[column * kLineLanes + lane] = static_cast<float>(result[column * kLineFloats + lane] * factor);
            }
        }
    });
}

SpectrumView Convolution::spectrum() {
    // Rows have one line more than needed. Otherwise their distance could be a power of two, and they would compete for
    // the same cache lines.
    return {spectrum_.data(), 2 * lattice_.nodes[0] + kLineFloats, lattice_.nodes[0], lattice_.nodes[1]};
}

void Convolution::apply(AlignedVector<float>& node_values, std::size_t stride, int threads) {
    const FieldKernels& kernel = *kernels().field;
    const SpectrumView view = spectrum();
    run_chunks(view.width / kColumnsPerTask, threads, [&](std::size_t task) {
        kernel.forward_columns(down_.plan(), node_values.data(), stride, task * kColumnsPerTask, view,
                               scratch_of(down_.plan().size));
    });
    run_chunks(view.height / kLineLanes + 1, threads, [&](std::size_t block) {
        kernel.convolve_rows(across_.plan(), block * kLineLanes, kernel_.data() + block * (view.width + 1) * kLineLanes,
                             view, scratch_of(across_.plan().size));
    });
    run_chunks(view.width / kColumnsPerTask, threads, [&](std::size_t task) {
        kernel.backward_columns(down_.plan(), view, task * kColumnsPerTask, node_values.data(), stride,
                                scratch_of(down_.plan().size));
    });
}

}  // namespace pixelsne
