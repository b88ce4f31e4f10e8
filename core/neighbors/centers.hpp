// Centers of clusters, and the nearest of them to each of many points.
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

    // The rows of `points` that `rows` names.
    Centers(Points points, const Rows& rows);

    std::size_t count() const { return values_.size() / columns_; }
    Points view() const { return {values_.data(), count(), columns_}; }

    // part_of[i] = the center nearest to points[rows[i]]; of equally near ones the first.
    void assign(Points points, const std::uint32_t* rows, std::size_t count, int threads, ProgressToken& token,
                std::uint32_t* part_of) const;

    // A center without points stays where it is.
    void move_to_means(Points points, const Rows& rows, const Rows& part_of);

    // Walks from center to nearest center not yet seen and renumbers them on the way.
    void sort_by_walking();

private:
    void pack();
    std::size_t nearest_of(const float* center, const Rows& among) const;
    void assign_tile(Points points, const std::uint32_t* rows, std::size_t filled, std::uint32_t* part_of) const;

    std::vector<float> values_;  // (centers, d)
    std::size_t columns_;
    Panels panels_;
};

}  // namespace pixelsne
