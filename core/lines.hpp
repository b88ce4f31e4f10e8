// Vectors of eight floats and lines of eight complex numbers. Only field_kernels.cpp includes this file, inside the
// namespace of its instruction set.

typedef float Floats8 __attribute__((vector_size(32)));

inline Floats8 load(const float* source) {
    Floats8 values;
    __builtin_memcpy(&values, source, sizeof(values));
    return values;
}

inline void store(float* target, Floats8 values) { __builtin_memcpy(target, &values, sizeof(values)); }

inline float sum(Floats8 values) {
    return ((values[0] + values[4]) + (values[2] + values[6])) + ((values[1] + values[5]) + (values[3] + values[7]));
}

struct Line {
    Floats8 real, imaginary;
};

inline Line operator+(Line left, Line right) { return {left.real + right.real, left.imaginary + right.imaginary}; }
inline Line operator-(Line left, Line right) { return {left.real - right.real, left.imaginary - right.imaginary}; }
inline Line operator*(Line line, float factor) { return {line.real * factor, line.imaginary * factor}; }

inline Line load_line(const float* source) { return {load(source), load(source + kLineLanes)}; }

inline void store_line(float* target, Line line) {
    store(target, line.real);
    store(target + kLineLanes, line.imaginary);
}

// Multiplies by -i.
inline Line times_minus_i(Line line) { return {line.imaginary, -line.real}; }

// Multiplies by cosine - i sine.
inline Line rotated(Line line, const float* twiddle) {
    const float cosine = twiddle[0];
    const float sine = twiddle[1];
    return {line.real * cosine + line.imaginary * sine, line.imaginary * cosine - line.real * sine};
}

// Transposes an 8 x 8 matrix.
inline void transpose(Floats8 (&rows)[8]) {
#if defined(__AVX2__)
    __m256 pairs[8];
    __m256 fours[8];
    for (int row = 0; row < 8; row += 2) {
        pairs[row] = _mm256_unpacklo_ps((__m256)rows[row], (__m256)rows[row + 1]);
        pairs[row + 1] = _mm256_unpackhi_ps((__m256)rows[row], (__m256)rows[row + 1]);
    }
    for (int half = 0; half < 8; half += 4) {
        fours[half] = _mm256_shuffle_ps(pairs[half], pairs[half + 2], _MM_SHUFFLE(1, 0, 1, 0));
        fours[half + 1] = _mm256_shuffle_ps(pairs[half], pairs[half + 2], _MM_SHUFFLE(3, 2, 3, 2));
        fours[half + 2] = _mm256_shuffle_ps(pairs[half + 1], pairs[half + 3], _MM_SHUFFLE(1, 0, 1, 0));
        fours[half + 3] = _mm256_shuffle_ps(pairs[half + 1], pairs[half + 3], _MM_SHUFFLE(3, 2, 3, 2));
    }
    for (int row = 0; row < 4; ++row) {
        rows[row] = (Floats8)_mm256_permute2f128_ps(fours[row], fours[row + 4], 0x20);
        rows[row + 4] = (Floats8)_mm256_permute2f128_ps(fours[row], fours[row + 4], 0x31);
    }
#else
    for (int row = 0; row < 8; ++row) {
        for (int column = 0; column < row; ++column) {
            const float previous = rows[row][column];
            rows[row][column] = rows[column][row];
            rows[column][row] = previous;
        }
    }
#endif
}
