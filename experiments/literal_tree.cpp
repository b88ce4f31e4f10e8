// The quadtrees as the paper's Sec. 3.2, 4.1 and 4.4 describe them: nodes, one point after the other, in double
// precision. Three properties can be switched, to measure the effect of each:
//   bounded    leaves are pixels (P-Quadtree) instead of single points (D-Quadtree)
//   one time   cells are created once and kept; an iteration only counts the points again (bounded trees only)
//   integers   cells are found by shifts and masks instead of divisions and remainders, squares by x * x
// `make_tree` and `repel` are called from literal_tree.py.

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

constexpr int kDeepest = 48;  // maximum depth of a D-Quadtree; points in the same cell at this depth share a leaf

struct Point {
  double x, y;
};

struct Screen {
  Point origin;  // embedding units
  Point unit;    // embedding units per pixel
};

struct Sum {
  Point push{0.0, 0.0};
  double kernel = 0.0;
};

struct Walker {
  Point at;      // pixels
  Point square;  // beta: squared embedding units per pixel
  double theta;
  double unit;  // the longer of a pixel's sides
};

template <bool kIntegers>
double squared(double x) {
  if constexpr (kIntegers) return x * x;
  return std::pow(x, 2);
}

template <bool kIntegers>
double half(double x) {
  if constexpr (kIntegers) return 0.5 * x;
  return x / 2;
}

template <bool kIntegers>
double distance_squared(const Walker& walker, Point center) {
  return walker.square.x * squared<kIntegers>(walker.at.x - center.x) +
         walker.square.y * squared<kIntegers>(walker.at.y - center.y);
}

template <bool kIntegers>
bool far_enough(const Walker& walker, double width, double squared_distance) {
  return squared<kIntegers>(width * walker.unit) < squared<kIntegers>(walker.theta) * squared_distance;
}

void add(const Walker& walker, Point center, double count, double squared_distance, Sum& sum) {
  const double kernel = 1.0 / (1.0 + squared_distance);
  sum.kernel += count * kernel;
  sum.push.x += count * kernel * kernel * (walker.at.x - center.x);
  sum.push.y += count * kernel * kernel * (walker.at.y - center.y);
}

class Tree {
 public:
  virtual ~Tree() = default;
  virtual void fill(const std::vector<Point>& points) = 0;
  virtual void visit(const Walker& walker, int64_t itself, Sum& sum) const = 0;
};

// All cells of all levels, created once, as one array of counts per level, row by row.
template <bool kIntegers>
class ArrayTree final : public Tree {
 public:
  explicit ArrayTree(int levels) : levels_(levels) {
    for (int level = 0; level <= levels; ++level) {
      const int64_t side = int64_t{1} << level;
      counts_.emplace_back(static_cast<size_t>(side * side), 0);
      auto& centers = centers_.emplace_back();
      centers.reserve(static_cast<size_t>(side));
      const double width = std::ldexp(1.0, levels - level);
      for (int64_t column = 0; column < side; ++column)
        centers.push_back(half<kIntegers>(width * static_cast<double>(2 * column + 1)));
    }
  }

  void fill(const std::vector<Point>& points) override {
    for (auto& counts : counts_) counts.assign(counts.size(), 0);
    for (const Point point : points) assign(point);
  }

  void visit(const Walker& walker, int64_t, Sum& sum) const override {
    walk(walker, 0, 0, 0, std::ldexp(1.0, levels_), sum);
  }

 private:
  void assign(Point point) {
    if constexpr (kIntegers) {
      const auto column = static_cast<uint32_t>(point.x), row = static_cast<uint32_t>(point.y);
      for (int level = 0; level <= levels_; ++level) {
        const int shift = levels_ - level;
        ++counts_[level][(static_cast<size_t>(row >> shift) << level) | (column >> shift)];
      }
    } else {
      double width = std::ldexp(1.0, levels_);
      for (int level = 0; level <= levels_; ++level) {
        const auto side = static_cast<int64_t>(std::pow(2.0, level));
        const auto column = static_cast<int64_t>(point.x / width), row = static_cast<int64_t>(point.y / width);
        ++counts_[level][static_cast<size_t>(row * side + column)];
        width = width / 2;
      }
    }
  }

  size_t index_of(int level, int64_t column, int64_t row) const {
    if constexpr (kIntegers) return static_cast<size_t>((row << level) | column);
    return static_cast<size_t>(row * static_cast<int64_t>(centers_[level].size()) + column);
  }

  bool contains_walker(const Walker& walker, int64_t column, int64_t row) const {
    return static_cast<int64_t>(walker.at.x) == column && static_cast<int64_t>(walker.at.y) == row;
  }

  void walk(const Walker& walker, int level, int64_t column, int64_t row, double width, Sum& sum) const {
    double count = counts_[level][index_of(level, column, row)];
    if (count == 0.0) return;
    const bool leaf = level == levels_;
    const Point center{centers_[level][column], centers_[level][row]};
    const double distance = distance_squared<kIntegers>(walker, center);
    if (leaf || far_enough<kIntegers>(walker, width, distance)) {
      if (leaf && contains_walker(walker, column, row)) count -= 1.0;
      add(walker, center, count, distance, sum);
      return;
    }
    for (int child = 0; child < 4; ++child) {
      const int64_t right = kIntegers ? child & 1 : child % 2, below = kIntegers ? child >> 1 : child / 2;
      const int64_t next_column = kIntegers ? (column << 1) | right : column * 2 + right;
      const int64_t next_row = kIntegers ? (row << 1) | below : row * 2 + below;
      walk(walker, level + 1, next_column, next_row, half<kIntegers>(width), sum);
    }
  }

  int levels_;
  std::vector<std::vector<int32_t>> counts_;
  std::vector<std::vector<double>> centers_;  // midpoints of the columns of each level, and of its rows
};

// A tree of nodes. If bounded, leaves are pixels and cells are represented by their midpoints. Otherwise leaves hold one
// point and cells are represented by their centers of mass. The tree is built for every map, or nodes are kept and only
// their counts are reset.
template <bool kIntegers, bool kBounded, bool kKeepsNodes>
class NodeTree final : public Tree {
 public:
  explicit NodeTree(int levels) : levels_(levels) {}

  void fill(const std::vector<Point>& points) override {
    points_ = &points;
    if (kKeepsNodes && root_) {
      reset(*root_);
    } else {
      const double side = std::ldexp(1.0, levels_);
      root_ = std::make_unique<Node>(Point{half<kIntegers>(side), half<kIntegers>(side)}, side);
    }
    for (size_t i = 0; i < points.size(); ++i) insert(*root_, static_cast<int64_t>(i), 0);
  }

  void visit(const Walker& walker, int64_t itself, Sum& sum) const override { walk(*root_, walker, itself, sum); }

 private:
  struct Node {
    Node(Point middle, double side) : center(middle), width(side) {}
    Point center;
    double width;
    Point mass{0.0, 0.0};  // sum of the points
    int64_t count = 0;
    int64_t point = -1;  // index of the last point that was added to a leaf
    std::unique_ptr<Node> children[4];
    bool leaf = true;
  };

  static void reset(Node& node) {
    if (node.count == 0) return;  // then the cells below it are empty, too
    node.count = 0;
    node.mass = {0.0, 0.0};
    for (const auto& child : node.children)
      if (child) reset(*child);
  }

  void insert(Node& node, int64_t i, int level) {
    const Point point = (*points_)[static_cast<size_t>(i)];
    ++node.count;
    node.mass = {node.mass.x + point.x, node.mass.y + point.y};
    const bool is_leaf = kBounded ? level == levels_ : (node.count == 1 || level == kDeepest);
    if (is_leaf) {
      node.point = i;
      return;
    }
    if (!kBounded && node.leaf) {  // move the only point of this leaf down, too
      node.leaf = false;
      insert(child_of(node, (*points_)[static_cast<size_t>(node.point)], level), node.point, level + 1);
    }
    node.leaf = false;
    insert(child_of(node, point, level), i, level + 1);
  }

  int child_index(const Node& node, Point point, int level) const {
    if constexpr (!kBounded) return (point.x >= node.center.x ? 1 : 0) + (point.y >= node.center.y ? 2 : 0);
    if constexpr (kIntegers) {
      const int shift = levels_ - level - 1;
      return static_cast<int>(((static_cast<uint32_t>(point.x) >> shift) & 1U) |
                              (((static_cast<uint32_t>(point.y) >> shift) & 1U) << 1));
    }
    const double width = node.width / 2;
    return static_cast<int>(static_cast<int64_t>(point.x / width) % 2 + 2 * (static_cast<int64_t>(point.y / width) % 2));
  }

  Node& child_of(Node& node, Point point, int level) {
    const int child = child_index(node, point, level);
    if (!node.children[child]) {
      const double side = half<kIntegers>(node.width), away = half<kIntegers>(side);
      const Point middle{node.center.x + (child % 2 == 1 ? away : -away), node.center.y + (child / 2 == 1 ? away : -away)};
      node.children[child] = std::make_unique<Node>(middle, side);
    }
    return *node.children[child];
  }

  bool contains_walker(const Node& node, const Walker& walker, int64_t itself) const {
    if constexpr (!kBounded) return node.point == itself || (node.count > 1 && inside(node, walker));
    return inside(node, walker);
  }

  static bool inside(const Node& node, const Walker& walker) {
    const double away = half<kIntegers>(node.width);
    return walker.at.x >= node.center.x - away && walker.at.x < node.center.x + away &&
           walker.at.y >= node.center.y - away && walker.at.y < node.center.y + away;
  }

  void walk(const Node& node, const Walker& walker, int64_t itself, Sum& sum) const {
    if (kKeepsNodes && node.count == 0) return;
    auto count = static_cast<double>(node.count);
    Point center = kBounded ? node.center : Point{node.mass.x / count, node.mass.y / count};
    const double distance = distance_squared<kIntegers>(walker, center);
    if (node.leaf && contains_walker(node, walker, itself)) {
      count -= 1.0;
      if (count == 0.0) return;
      if (!kBounded) center = {(node.mass.x - walker.at.x) / count, (node.mass.y - walker.at.y) / count};
      add(walker, center, count, distance_squared<kIntegers>(walker, center), sum);
    } else if (node.leaf || far_enough<kIntegers>(walker, node.width, distance)) {
      add(walker, center, count, distance, sum);
    } else {
      for (const auto& child : node.children)
        if (child) walk(*child, walker, itself, sum);
    }
  }

  int levels_;
  const std::vector<Point>* points_ = nullptr;
  std::unique_ptr<Node> root_;
};

template <bool kIntegers>
std::unique_ptr<Tree> make(int levels, bool bounded, bool one_time, bool arrays) {
  if (!bounded) return std::make_unique<NodeTree<kIntegers, false, false>>(levels);
  if (arrays) return std::make_unique<ArrayTree<kIntegers>>(levels);
  if (one_time) return std::make_unique<NodeTree<kIntegers, true, true>>(levels);
  return std::make_unique<NodeTree<kIntegers, true, false>>(levels);
}

}  // namespace

extern "C" {

Tree* make_tree(int levels, int bounded, int one_time, int arrays, int integers) {
  return (integers ? make<true>(levels, bounded, one_time, arrays) : make<false>(levels, bounded, one_time, arrays))
      .release();
}

void free_tree(Tree* tree) { delete tree; }

// Write push (n, 2) for positions (n, 2), in embedding units, and return the normalizer.
double repel(Tree* tree, const float* positions, int64_t n, const double* origin, const double* unit, double side,
             double theta, float* push) {
  std::vector<Point> points(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const auto on_screen = [&](int axis) {
      const double pixel = (positions[2 * i + axis] - origin[axis]) / unit[axis];
      return pixel < 0.0 ? 0.0 : (pixel < side ? pixel : std::nextafter(side, 0.0));
    };
    points[static_cast<size_t>(i)] = {on_screen(0), on_screen(1)};
  }
  tree->fill(points);
  double normalizer = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    const Walker walker{points[static_cast<size_t>(i)],
                        {unit[0] * unit[0], unit[1] * unit[1]},
                        theta,
                        unit[0] > unit[1] ? unit[0] : unit[1]};
    Sum sum;
    tree->visit(walker, i, sum);
    push[2 * i] = static_cast<float>(sum.push.x * unit[0]);
    push[2 * i + 1] = static_cast<float>(sum.push.y * unit[1]);
    normalizer += sum.kernel;
  }
  return normalizer;
}
}
