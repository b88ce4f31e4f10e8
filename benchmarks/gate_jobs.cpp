// Five fixed jobs of the core for gate.py: `gate_jobs NAME REPEATS`. They run on one thread, with synthetic input.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "affinities/perplexity.hpp"
#include "affinities/symmetrize.hpp"
#include "forces/attraction.hpp"
#include "forces/pixel_field.hpp"
#include "forces/placing.hpp"
#include "neighbors/cluster_search.hpp"
#include "random_stream.hpp"

using namespace pixelsne;

namespace {

constexpr std::size_t kPoints = 4000, kNewPoints = 500, kColumns = 20, kNeighbors = 30, kClusters = 40;
constexpr double kPerplexity = 10.0, kSide = 60.0;

double uniform(RandomStream& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

// Rows around kClusters centers, in a cube of the given side.
std::vector<float> clustered(std::size_t rows, std::size_t columns, double side) {
    RandomStream random(0, columns);
    std::vector<double> centers(kClusters * columns);
    for (double& center : centers) center = side * uniform(random);
    std::vector<float> values(rows * columns);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            const double noise = uniform(random) + uniform(random) - 1.0;
            values[row * columns + column] =
                static_cast<float>(centers[row % kClusters * columns + column] + 0.05 * side * noise);
        }
    }
    return values;
}

// A graph whose edges join points of one cluster, and ascending distances.
struct Graph {
    std::vector<std::int32_t> indices;
    std::vector<float> distances;

    explicit Graph(std::size_t rows) : indices(rows * kNeighbors), distances(rows * kNeighbors) {
        RandomStream random(1, rows);
        for (std::size_t row = 0; row < rows; ++row) {
            double distance = 1.0;
            for (std::size_t rank = 0; rank < kNeighbors; ++rank) {
                const std::size_t other = (row + kClusters * (1 + rank + random.below(2) * kNeighbors)) % kPoints;
                indices[row * kNeighbors + rank] = static_cast<std::int32_t>(other);
                distances[row * kNeighbors + rank] = static_cast<float>(distance += 0.1 * uniform(random));
            }
        }
    }
};

std::vector<float> conditional_of(const Graph& graph) {
    std::vector<float> conditional(graph.distances.size());
    const std::size_t rows = conditional.size() / kNeighbors;
    ProgressToken token;
    calibrate({graph.distances.data(), rows, kNeighbors}, {kPerplexity}, 1, token,
              {conditional.data(), rows, kNeighbors});
    return conditional;
}

JointAffinities joint_of(const Graph& graph, const std::vector<float>& conditional) {
    ProgressToken token;
    return symmetrize({graph.indices.data(), kPoints, kNeighbors}, {conditional.data(), kPoints, kNeighbors}, 1, token);
}

using Job = std::function<void()>;

Job search() {
    return [points = clustered(kPoints, kColumns, 10.0)] {
        std::vector<std::int32_t> indices(kPoints * kNeighbors);
        std::vector<float> distances(kPoints * kNeighbors);
        ProgressToken token;
        find_cluster_neighbors({{points.data(), kPoints, kColumns}}, {0, 256, 0.995, 34, 20}, 1, token,
                               {{indices.data(), kPoints, kNeighbors}, {distances.data(), kPoints, kNeighbors}});
    };
}

Job affinities() {
    return [graph = Graph(kPoints)] { joint_of(graph, conditional_of(graph)); };
}

Job field() {
    return [positions = clustered(kPoints, 2, kSide), repulsion = PixelField(),
            push = std::vector<float>(2 * kPoints)]() mutable {
        repulsion.repulsion({positions.data(), kPoints, 2}, {}, {2048}, 1, {push.data(), kPoints, 2});
    };
}

Job pull() {
    auto graph = std::make_shared<Graph>(kPoints);
    auto joint = std::make_shared<JointAffinities>(joint_of(*graph, conditional_of(*graph)));
    return [joint, positions = clustered(kPoints, 2, kSide), force = std::vector<float>(2 * kPoints)]() mutable {
        const SparseRows rows{joint->offsets.get(), joint->columns.get(), joint->values.get(), kPoints};
        attraction(rows, {positions.data(), kPoints, 2}, 1, {force.data(), kPoints, 2});
    };
}

Job transform() {
    Graph graph(kNewPoints);
    return [positions = clustered(kPoints, 2, kSide), conditional = conditional_of(graph), graph] {
        std::vector<float> settled(2 * kNewPoints);
        ProgressToken token;
        place_new_points({positions.data(), kPoints, 2}, {},
                         {{graph.indices.data(), kNewPoints, kNeighbors}, {conditional.data(), kNewPoints, kNeighbors}},
                         1, token, {settled.data(), kNewPoints, 2});
    };
}

}  // namespace

int main(int count, char** arguments) {
    const std::map<std::string, Job (*)()> jobs = {
        {"search", search}, {"affinities", affinities}, {"field", field}, {"attraction", pull}, {"transform", transform}};
    if (count != 3 || jobs.count(arguments[1]) == 0) {
        std::fprintf(stderr, "gate_jobs search|affinities|field|attraction|transform REPEATS\n");
        return 2;
    }
    const Job job = jobs.at(arguments[1])();
    for (int repeat = 0; repeat < std::atoi(arguments[2]); ++repeat) job();
    return 0;
}
