// The mean of rows, accumulated in double precision.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pixelsne {

class MeanOfRows {
public:
    explicit MeanOfRows(std::size_t columns) : sums_(columns) {}

    void add(const float* row) {
        for (std::size_t column = 0; column < sums_.size(); ++column) sums_[column] += row[column];
        ++rows_;
    }

    std::size_t rows() const { return rows_; }

    // Writes the mean of the rows added, at least one, and resets the sums.
    void finish(float* mean) {
        for (std::size_t column = 0; column < sums_.size(); ++column) {
            mean[column] = static_cast<float>(sums_[column] / static_cast<double>(rows_));
        }
        std::fill(sums_.begin(), sums_.end(), 0.0);
        rows_ = 0;
    }

private:
    std::vector<double> sums_;
    std::size_t rows_ = 0;
};

}  // namespace pixelsne
