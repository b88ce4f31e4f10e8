// Convolves a lattice with the kernel by Fourier transforms.
#pragma once

#include <cstddef>
#include <vector>

#include "../aligned_vector.hpp"
#include "../field_kernels.hpp"
#include "field_lattice.hpp"

namespace pixelsne {

// The stages of a transform of `size` lines. size: a multiple of 32 whose only prime factors are 2, 3 and 5.
class PlannedTransform {
public:
    void prepare(std::size_t size);
    const FourierPlan& plan() const { return plan_; }

private:
    FourierPlan plan_{};
    std::vector<float> twiddles_;
};

class Convolution {
public:
    // Adopts a lattice's size and kernel, and computes the kernel's spectrum if they have changed.
    void prepare(const FieldLattice& lattice, int threads);

    // Replaces node values, (rows, stride) floats, by their convolution.
    void apply(AlignedVector<float>& node_values, std::size_t stride, int threads);

private:
    AlignedVector<float> transform_kernel_down(int threads) const;  // (rows 0 to height, columns 0 to width)
    void transform_kernel_across(const AlignedVector<float>& by_rows, int threads);
    SpectrumView spectrum();

    FieldLattice lattice_{};
    PlannedTransform across_;
    PlannedTransform down_;
    AlignedVector<float> kernel_;    // (row blocks, width + 1, 8)
    AlignedVector<float> spectrum_;  // see SpectrumView
};

}  // namespace pixelsne
