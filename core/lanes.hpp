// Vectors of floats and integers as wide as those of the instruction set that a kernel file is compiled for.
//
// These are the vector types that GCC and Clang offer on every processor. Arithmetic and comparisons are written as for
// plain numbers, and `mask ? a : b` selects lane by lane. Where a processor has no such registers, the compiler splits
// the work. Only kernels.cpp includes this file, inside the namespace of its instruction set, so that instruction sets
// share no code.

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#else
constexpr int kLanes = 8;
#endif

typedef float Floats __attribute__((vector_size(4 * kLanes)));
typedef std::int32_t Integers __attribute__((vector_size(4 * kLanes)));  // also masks: 0 or -1 per lane

inline Floats load(const float* source) {
    Floats values;
    __builtin_memcpy(&values, source, sizeof(values));
    return values;
}

// Loads the first `count` values and sets the other lanes to 0.
inline Floats load_first(const float* source, int count) {
#if defined(__AVX512F__)
    return (Floats)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), source);
#else
    Floats values = {};
    for (int lane = 0; lane < count; ++lane) values[lane] = source[lane];
    return values;
#endif
}

inline void store(float* target, Floats values) { __builtin_memcpy(target, &values, sizeof(values)); }

// Returns the values where the mask is set, 0 elsewhere.
inline Floats where(Integers mask, Floats values) {
    Integers bits;
    __builtin_memcpy(&bits, &values, sizeof(bits));
    bits &= mask;
    __builtin_memcpy(&values, &bits, sizeof(bits));
    return values;
}

inline bool any(Integers mask) {
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_ps((__m256)mask) != 0;
#else
    std::int32_t found = 0;
    for (int lane = 0; lane < kLanes; ++lane) found |= mask[lane];
    return found != 0;
#endif
}

// Returns 0, 1, 2, ...
inline Integers lane_numbers() {
    Integers numbers;
    for (int lane = 0; lane < kLanes; ++lane) numbers[lane] = lane;
    return numbers;
}

// Returns an integer whose bit l is set if lane l of the mask is.
inline std::uint32_t lane_bits(Integers mask) {
#if defined(__AVX512F__)
    return static_cast<std::uint32_t>(_mm512_movepi32_mask((__m512i)mask));
#elif defined(__AVX2__)
    return static_cast<std::uint32_t>(_mm256_movemask_ps((__m256)mask));
#else
    std::uint32_t bits = 0;
    for (int lane = 0; lane < kLanes; ++lane) bits |= (static_cast<std::uint32_t>(mask[lane]) & 1u) << lane;
    return bits;
#endif
}

// Adds the lanes by halves. This takes a few shuffles, while adding them in order would wait for each addition.
inline float pairwise_sum(Floats values) {
    typedef float Quarter __attribute__((vector_size(16)));
    Quarter parts[kLanes / 4];
    __builtin_memcpy(parts, &values, sizeof(values));
    Quarter total = parts[0];
    for (int part = 1; part < kLanes / 4; ++part) total += parts[part];
    return (total[0] + total[2]) + (total[1] + total[3]);
}

// Adds the lanes in order, in double precision.
inline double sum(Floats values) {
    double total = 0.0;
    for (int lane = 0; lane < kLanes; ++lane) total += values[lane];
    return total;
}

// Natural logarithm of normal numbers above 0, with a relative error of about 2e-7. Adds the exponent and, for the
// mantissa scaled to about 1, the series in t = (m - 1) / (m + 1). For 0 and subnormal numbers, the result is finite,
// between -88.1 and -87.3, so its product with the number vanishes, as p log p should.
inline Floats logarithm(Floats values) {
    Integers bits;
    __builtin_memcpy(&bits, &values, sizeof(bits));
    Integers exponent = (bits >> 23) - 127;
    bits = (bits & 0x007fffff) | 0x3f800000;
    Floats mantissa;
    __builtin_memcpy(&mantissa, &bits, sizeof(bits));
    const Integers large = mantissa > 1.41421356f;
    mantissa = large ? mantissa * 0.5f : mantissa;
    exponent -= large;  // a set mask is -1
    const Floats t = (mantissa - 1.0f) / (mantissa + 1.0f);
    const Floats square = t * t;
    const Floats series = 1.0f + square * (1.0f / 3 + square * (1.0f / 5 + square * (1.0f / 7 + square * (1.0f / 9))));
    return __builtin_convertvector(exponent, Floats) * 0.693147181f + 2.0f * t * series;
}

// Exponential of numbers <= 0, with a relative error of about 2e-7; 0 where the result is below 1e-37. Splits the power
// into an integer number of doublings, which becomes the exponent, and a rest of at most half a doubling, which a
// series evaluates.
inline Floats exponential(Floats powers) {
    constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it removes the fraction
    const Floats doublings = powers * 1.44269504f;
    const Integers tiny = doublings < -123.0f;
    const Floats bounded = tiny ? Floats{} : doublings;
    const Floats whole = (bounded + kRound) - kRound;
    const Floats rest = (bounded - whole) * 0.693147181f;
    const Floats series =
        1.0f +
        rest * (1.0f + rest * (1.0f / 2 + rest * (1.0f / 6 + rest * (1.0f / 24 + rest * (1.0f / 120 + rest / 720)))));
    const Integers exponent = (__builtin_convertvector(whole, Integers) + 127) << 23;
    Floats scale;
    __builtin_memcpy(&scale, &exponent, sizeof(scale));
    return where(~tiny, series * scale);
}

// Loads x and y of the positions (n, 2) at the given columns, one per lane. Each position is one 8-byte load. The
// gather instructions of processors load x and y separately and are slow on many of them.
inline void gather_positions(const float* positions, const std::int32_t* columns, Floats& x, Floats& y) {
#if defined(__AVX2__)
    const auto pair = [&](int lane) {
        double both;
        __builtin_memcpy(&both, positions + 2 * static_cast<std::size_t>(columns[lane]), sizeof(both));
        return both;
    };
#endif
#if defined(__AVX512F__)
    // The shuffle that separates x from y works on quarters of a register, which determines the order of the columns.
    const __m512 first =
        _mm512_castpd_ps(_mm512_setr_pd(pair(0), pair(1), pair(4), pair(5), pair(8), pair(9), pair(12), pair(13)));
    const __m512 second =
        _mm512_castpd_ps(_mm512_setr_pd(pair(2), pair(3), pair(6), pair(7), pair(10), pair(11), pair(14), pair(15)));
    x = (Floats)_mm512_shuffle_ps(first, second, _MM_SHUFFLE(2, 0, 2, 0));
    y = (Floats)_mm512_shuffle_ps(first, second, _MM_SHUFFLE(3, 1, 3, 1));
#elif defined(__AVX2__)
    const __m256 first = _mm256_castpd_ps(_mm256_setr_pd(pair(0), pair(1), pair(4), pair(5)));
    const __m256 second = _mm256_castpd_ps(_mm256_setr_pd(pair(2), pair(3), pair(6), pair(7)));
    x = (Floats)_mm256_shuffle_ps(first, second, _MM_SHUFFLE(2, 0, 2, 0));
    y = (Floats)_mm256_shuffle_ps(first, second, _MM_SHUFFLE(3, 1, 3, 1));
#else
    for (int lane = 0; lane < kLanes; ++lane) {
        const float* position = positions + 2 * static_cast<std::size_t>(columns[lane]);
        x[lane] = position[0];
        y[lane] = position[1];
    }
#endif
}
