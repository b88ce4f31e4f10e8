#include "tree_repulsion.hpp"

#include "barnes_hut.hpp"

namespace pixelsne {

double TreeRepulsion::barnes_hut(Positions positions, PointWeights weights, double theta, int threads,
                                 ArrayView<float> push) {
    const auto start = Clock::now();
    return build_and_walk(start, positions, weights, grid_around(positions, threads), Center::mass, theta, threads,
                          push);
}

double TreeRepulsion::pixel_tree(Positions positions, PointWeights weights, const LeafGrid& pixels, Center center,
                                 double theta, int threads, ArrayView<float> push) {
    return build_and_walk(Clock::now(), positions, weights, pixels, center, theta, threads, push);
}

double TreeRepulsion::build_and_walk(Clock::time_point start, Positions positions, PointWeights weights,
                                     const LeafGrid& grid, Center center, double theta, int threads,
                                     ArrayView<float> push) {
    tree_.build(positions, weights, grid, center, theta, threads);
    const auto built = Clock::now();
    const double normalizer = tree_.repulsion(threads, push);
    build_seconds_ = std::chrono::duration<double>(built - start).count();
    walk_seconds_ = std::chrono::duration<double>(Clock::now() - built).count();
    return normalizer;
}

}  // namespace pixelsne
