// Cluster centers, and the assignment of points to the nearest center.
#pragma once

#include <cstdint>
#include <vector>

#include "../array_view.hpp"
#include "../progress_token.hpp"
#include "panels.hpp"

namespace pixelsne {

class Centers {
public:
    using Rows = std::vector<std::uint32_t>;

    // Copies the rows of `points` that `rows` lists.
    Centers(Points points, const Rows& rows);

    std::size_t count() const { return values_.size() / columns_; }
    Points view() const { return {values_.data(), count(), columns_}; }

    // Sets part_of[i] to the index of the center nearest to points[rows[i]]. The first center wins a tie.
    void assign(Points points, const std::uint32_t* rows, std::size_t count, int threads, ProgressToken& token,
                std::uint32_t* part_of) const;

    // Moves each center to the mean of its points. A center without points does not move.
    void move_to_means(Points points, const Rows& rows, const Rows& part_of);

    // Renumbers the centers along a greedy tour that always continues with the nearest remaining center.
    void sort_by_tour();

private:
    void pack();
    std::size_t nearest_of(const float* center, const Rows& candidates) const;
    void assign_tile(Points points, const std::uint32_t* rows, std::size_t filled, std::uint32_t* part_of) const;

    std::vector<float> values_;  // (centers, d)
    std::size_t columns_;
    Panels panels_;
};

}  // namespace pixelsne
