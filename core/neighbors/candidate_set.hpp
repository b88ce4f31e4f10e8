// A set of row indices that is filled and emptied once per block of queries.
#pragma once

#include <cstdint>
#include <vector>

namespace pixelsne {

class CandidateSet {
public:
    explicit CandidateSet(std::size_t n) : present_((n + 63) / 64) {}

    void add(std::uint32_t row) {
        const std::uint64_t bit = std::uint64_t{1} << (row % 64);
        if ((present_[row / 64] & bit) != 0) return;
        present_[row / 64] |= bit;
        rows_.push_back(row);
    }

    void clear() {
        for (const std::uint32_t row : rows_) present_[row / 64] = 0;
        rows_.clear();
    }

    const std::vector<std::uint32_t>& rows() const { return rows_; }

private:
    std::vector<std::uint64_t> present_;
    std::vector<std::uint32_t> rows_;
};

}  // namespace pixelsne
