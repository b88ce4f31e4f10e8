// Vectors of floats and integers as wide as the instruction set a kernel file is compiled for.
//
// These are the vector types GCC and Clang offer on every processor: arithmetic and comparisons are
// written as for plain numbers, `mask ? a : b` selects lane by lane, and where a processor has no such
// registers the compiler splits the work. Only kernels.cpp includes this file, inside the namespace of
// its instruction set, so that nothing here is shared between sets.

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#else
constexpr int kLanes = 8;
#endif

typedef float Floats __attribute__((vector_size(4 * kLanes)));
typedef std::int32_t Integers __attribute__((vector_size(4 * kLanes)));  // also masks: 0 or -1 a lane

inline Floats load(const float* source) {
    Floats values;
    __builtin_memcpy(&values, source, sizeof(values));
    return values;
}

inline void store(float* target, Floats values) { __builtin_memcpy(target, &values, sizeof(values)); }

// The values where the mask is set, 0 elsewhere.
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

// Lanes added in order, in double.
inline double sum(Floats values) {
    double total = 0.0;
    for (int lane = 0; lane < kLanes; ++lane) total += values[lane];
    return total;
}
