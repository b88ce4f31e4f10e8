// Fourier transforms of lines, and the three passes of a convolution. Only field_kernels.cpp includes this file, inside
// the namespace of its instruction set.
//
// Stages are Stockham's: each reads one buffer and writes the other in an order that leaves the result sorted. A
// backward transform is a forward one with real and imaginary parts swapped before and after it. Planes are zero
// beyond the lattice. So the first stage of a forward transform reads only half of the lines, and the last stage of a
// backward one writes only half.

// Returns the line unchanged if twiddle is nullptr, as in the last stage.
inline Line maybe_rotated(Line line, const float* twiddle) { return twiddle ? rotated(line, twiddle) : line; }

inline void write_four(Line even, Line odd, Line other_even, Line other_odd, const float* twiddles, bool half,
                       std::size_t apart, float* target) {
    const Line rotated_odd = times_minus_i(other_odd);
    store_line(target, even + other_even);
    store_line(target + apart, maybe_rotated(odd + rotated_odd, twiddles));
    if (half) return;
    store_line(target + 2 * apart, maybe_rotated(even - other_even, twiddles ? twiddles + 2 : nullptr));
    store_line(target + 3 * apart, maybe_rotated(odd - rotated_odd, twiddles ? twiddles + 4 : nullptr));
}

// half_input: lines of the upper half are 0 and not read. half_output: lines of the upper half are not written.
inline void radix_4_stage(const FourierStage& stage, const float* source, float* target, bool half_input,
                          bool half_output) {
    const std::size_t groups = stage.length / 4;
    const std::size_t apart = groups * stage.stride * kLineFloats;
    const std::size_t step = stage.stride * kLineFloats;
    for (std::size_t group = 0; group < groups; ++group) {
        const float* twiddles = groups > 1 ? stage.twiddles + 6 * group : nullptr;
        for (std::size_t index = 0; index < stage.stride; ++index) {
            const float* from = source + (group * stage.stride + index) * kLineFloats;
            float* to = target + (4 * group * stage.stride + index) * kLineFloats;
            const Line first = load_line(from);
            const Line second = load_line(from + apart);
            if (half_input) {
                write_four(first, first, second, second, twiddles, half_output, step, to);
                continue;
            }
            const Line third = load_line(from + 2 * apart);
            const Line fourth = load_line(from + 3 * apart);
            write_four(first + third, first - third, second + fourth, second - fourth, twiddles, half_output, step, to);
        }
    }
}

inline void radix_2_stage(const FourierStage& stage, const float* source, float* target) {
    const std::size_t groups = stage.length / 2;
    const std::size_t apart = groups * stage.stride * kLineFloats;
    for (std::size_t group = 0; group < groups; ++group) {
        for (std::size_t index = 0; index < stage.stride; ++index) {
            const float* from = source + (group * stage.stride + index) * kLineFloats;
            float* to = target + (2 * group * stage.stride + index) * kLineFloats;
            const Line first = load_line(from);
            const Line second = load_line(from + apart);
            store_line(to, first + second);
            store_line(to + stage.stride * kLineFloats, rotated(first - second, stage.twiddles + 2 * group));
        }
    }
}

inline void radix_3_stage(const FourierStage& stage, const float* source, float* target) {
    constexpr float kSine = 0.866025403784438647f;  // sine of a third of a turn
    const std::size_t groups = stage.length / 3;
    const std::size_t apart = groups * stage.stride * kLineFloats;
    const std::size_t step = stage.stride * kLineFloats;
    for (std::size_t group = 0; group < groups; ++group) {
        const float* twiddles = stage.twiddles + 4 * group;
        for (std::size_t index = 0; index < stage.stride; ++index) {
            const float* from = source + (group * stage.stride + index) * kLineFloats;
            float* to = target + (3 * group * stage.stride + index) * kLineFloats;
            const Line first = load_line(from);
            const Line second = load_line(from + apart);
            const Line third = load_line(from + 2 * apart);
            const Line both = second + third;
            const Line middle = first - both * 0.5f;
            const Line side = times_minus_i((second - third) * kSine);
            store_line(to, first + both);
            store_line(to + step, rotated(middle + side, twiddles));
            store_line(to + 2 * step, rotated(middle - side, twiddles + 2));
        }
    }
}

inline void radix_5_stage(const FourierStage& stage, const float* source, float* target) {
    constexpr float kCosine1 = 0.309016994374947424f;  // cosine of a fifth of a turn
    constexpr float kCosine2 = -0.809016994374947424f;
    constexpr float kSine1 = 0.951056516295153572f;
    constexpr float kSine2 = 0.587785252292473129f;
    const std::size_t groups = stage.length / 5;
    const std::size_t apart = groups * stage.stride * kLineFloats;
    const std::size_t step = stage.stride * kLineFloats;
    for (std::size_t group = 0; group < groups; ++group) {
        const float* twiddles = stage.twiddles + 8 * group;
        for (std::size_t index = 0; index < stage.stride; ++index) {
            const float* from = source + (group * stage.stride + index) * kLineFloats;
            float* to = target + (5 * group * stage.stride + index) * kLineFloats;
            const Line first = load_line(from);
            const Line outer = load_line(from + apart) + load_line(from + 4 * apart);
            const Line outer_side = load_line(from + apart) - load_line(from + 4 * apart);
            const Line inner = load_line(from + 2 * apart) + load_line(from + 3 * apart);
            const Line inner_side = load_line(from + 2 * apart) - load_line(from + 3 * apart);
            const Line middle1 = first + outer * kCosine1 + inner * kCosine2;
            const Line middle2 = first + outer * kCosine2 + inner * kCosine1;
            const Line side1 = times_minus_i(outer_side * kSine1 + inner_side * kSine2);
            const Line side2 = times_minus_i(outer_side * kSine2 - inner_side * kSine1);
            store_line(to, first + outer + inner);
            store_line(to + step, rotated(middle1 + side1, twiddles));
            store_line(to + 2 * step, rotated(middle2 + side2, twiddles + 2));
            store_line(to + 3 * step, rotated(middle2 - side2, twiddles + 4));
            store_line(to + 4 * step, rotated(middle1 - side1, twiddles + 6));
        }
    }
}

inline void run_stage(const FourierStage& stage, const float* source, float* target) {
    switch (stage.radix) {
        case 2:
            return radix_2_stage(stage, source, target);
        case 3:
            return radix_3_stage(stage, source, target);
        case 4:
            return radix_4_stage(stage, source, target, false, false);
        default:
            return radix_5_stage(stage, source, target);
    }
}

// Returns the buffer that holds the result. The other buffer is free again.
template <bool half_input, bool half_output>
inline float* run_stages(const FourierPlan& plan, float* data, float* scratch) {
    const std::size_t last = plan.stages - 1;
    radix_4_stage(plan.stage[0], data, scratch, half_input, false);
    for (std::size_t stage = 1; stage < last; ++stage) {
        float* previous = data;
        data = scratch;
        scratch = previous;
        run_stage(plan.stage[stage], data, scratch);
    }
    radix_4_stage(plan.stage[last], scratch, data, false, half_output);
    return data;
}

float* transform(const FourierPlan& plan, float* data, float* scratch) {
    return run_stages<false, false>(plan, data, scratch);
}

// Transforms two real columns as the real and imaginary parts of one complex column. Their spectra are conjugate at k
// and -k, and this symmetry separates them.
void forward_columns(const FourierPlan& plan, const float* lattice, std::size_t stride, std::size_t column,
                     SpectrumView spectrum, float* scratch) {
    float* data = scratch + plan.size * kLineFloats;
    for (std::size_t row = 0; row < spectrum.height; ++row) {
        const float* nodes = lattice + row * stride + column;
        store_line(data + row * kLineFloats, {load(nodes), load(nodes + kLineLanes)});
    }
    const float* result = run_stages<true, false>(plan, data, scratch);
    for (std::size_t row = 0; row <= spectrum.height; ++row) {
        const Line direct = load_line(result + row * kLineFloats);
        const Line mirrored = load_line(result + (row == 0 ? 0 : plan.size - row) * kLineFloats);
        float* target = spectrum.lines + row * spectrum.row_floats + 2 * column;
        store_line(target, {(direct.real + mirrored.real) * 0.5f, (direct.imaginary - mirrored.imaginary) * 0.5f});
        store_line(target + kLineFloats,
                   {(direct.imaginary + mirrored.imaginary) * 0.5f, (mirrored.real - direct.real) * 0.5f});
    }
}

void backward_columns(const FourierPlan& plan, SpectrumView spectrum, std::size_t column, float* lattice,
                      std::size_t stride, float* scratch) {
    float* data = scratch + plan.size * kLineFloats;
    for (std::size_t row = 0; row <= spectrum.height; ++row) {
        const float* source = spectrum.lines + row * spectrum.row_floats + 2 * column;
        const Line left = load_line(source);
        const Line right = load_line(source + kLineFloats);
        store_line(data + row * kLineFloats, {left.imaginary + right.real, left.real - right.imaginary});
        if (row == 0 || row == spectrum.height) continue;
        store_line(data + (plan.size - row) * kLineFloats, {right.real - left.imaginary, left.real + right.imaginary});
    }
    const float* result = run_stages<false, true>(plan, data, scratch);
    for (std::size_t row = 0; row < spectrum.height; ++row) {
        const Line line = load_line(result + row * kLineFloats);
        float* nodes = lattice + row * stride + column;
        store(nodes, line.imaginary);
        store(nodes + kLineLanes, line.real);
    }
}

// Transposes eight lines of eight rows of the spectrum, from lines along x to lines along y or back.
inline void transpose_block(const float* source, std::size_t source_apart, float* target, std::size_t target_apart) {
    for (std::size_t part = 0; part < kLineFloats; part += kLineLanes) {
        Floats8 rows[8];
        for (std::size_t row = 0; row < 8; ++row) rows[row] = load(source + row * source_apart + part);
        transpose(rows);
        for (std::size_t row = 0; row < 8; ++row) store(target + row * target_apart + part, rows[row]);
    }
}

void convolve_rows(const FourierPlan& plan, std::size_t row, const float* kernel, SpectrumView spectrum,
                   float* scratch) {
    float* data = scratch + plan.size * kLineFloats;
    float* rows = spectrum.lines + row * spectrum.row_floats;
    for (std::size_t column = 0; column < spectrum.width; column += kLineLanes) {
        transpose_block(rows + 2 * column, spectrum.row_floats, data + column * kLineFloats, kLineFloats);
    }
    float* result = run_stages<true, false>(plan, data, scratch);
    for (std::size_t index = 0; index < plan.size; ++index) {
        const Floats8 factor = load(kernel + (index <= spectrum.width ? index : plan.size - index) * kLineLanes);
        float* line = result + index * kLineFloats;
        const Line value = load_line(line);
        store_line(line, {value.imaginary * factor, value.real * factor});
    }
    result = run_stages<false, true>(plan, result, result == data ? scratch : data);
    for (std::size_t index = 0; index < spectrum.width; ++index) {
        float* line = result + index * kLineFloats;
        const Line value = load_line(line);
        store_line(line, {value.imaginary, value.real});
    }
    for (std::size_t column = 0; column < spectrum.width; column += kLineLanes) {
        transpose_block(result + column * kLineFloats, kLineFloats, rows + 2 * column, spectrum.row_floats);
    }
}
