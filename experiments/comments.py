"""The text of docs/paper.md around its tables. Our numbers come from the tables; numbers here are the paper's or follow from it."""

OPENING = """\
This page reproduces every table and figure of Kim et al., *PixelSNE: Visualizing Fast with Just Enough Precision via Pixel-Aligned Stochastic Neighbor Embedding*, and shows the paper's results next to ours. `python -m experiments report` writes it from [experiments/results](../experiments/results/cells.jsonl). [experiments/README.md](../experiments/README.md) explains how to repeat the measurements.

As in the paper, times are those of one thread, unless a row says otherwise. **P** is the time of the neighbor search and the affinities. **Coord** is the time of the descent: 1,000 iterations, or 350 with our defaults. **Total** is the sum of both. As in the paper, it does not include PCA. Numbers in parentheses are standard deviations over runs with different seeds. The paper used an Intel Core i7-6700K. A ratio between the paper's times and ours compares machines, compilers and programs at once, so first compare methods within one column."""

OTHER_SCALE = """\
This run of the paper's experiments has another scale than the one in docs/paper.md. The tables show this run, but the comments below them were written for docs/paper.md."""

HEADLINE = """\
(These runs differ in more than the method: another machine, two threads instead of one, perplexity 30 instead of 50, 350 iterations of another schedule instead of 1,000, and a convolution instead of a tree. The quality of our map is higher than that of PixelSNE-RP here, see below. The paper does not report the quality for all 70,000 digits.)"""

COORD_RATIO = """\
The comments on Table 2 explain why the ratio is so small here."""

DATA = """\
All data are reduced to 50 dimensions by PCA, and the rows are in random order. The labels of 20News are the seven top-level groups, as in the paper. We did not have the original files of some data sets and used substitutes. Their times show how the methods compare on such data, not how long the methods would take on the data of the paper."""

TIMES = """\
- **P.** The vantage-point tree is the bottleneck on large data, both in the paper and here. Its search is exact. The random projection forest finds nearly all neighbors in a fraction of the time. BH-SNE and PixelSNE-VP use the same search, but the paper reports different times for it (5.10 and 3.76 minutes on MNIST). So its programs differ in more than the paper says.
- **Coord.** In the paper, BH-SNE takes 2.2 to 2.9 times as long as PixelSNE (1.9 on Yelp). Here both take about the same time. The reason is that our BH-SNE is fast, not that our PixelSNE is slow: see the comments on Table 2.
- **BH-SNE on RP's P** is BH-SNE with the affinities of PixelSNE-RP, so that their Coord times differ only by the tree.
- **ours** uses the cluster search for neighbors, the pixel field (a convolution on a lattice) for the repulsion, and its own schedule of 350 iterations.
- **t-SNE** uses all pairs, with a dense P.
- *paper / here* is given only where the number of points is the same. In the paper, the total of BH-SNE on FacExp (5.56 minutes) is less than the sum of its parts (5.67)."""

ABLATION = """\
The first table is the paper's Table 2: the time that the integer arithmetic of Sec. 4.4 saves. We measure the tree alone, because nothing else changes. The tree is written as the paper describes it: nodes with pointers, one point after the other, double precision, compiled with `-O2` ([literal_tree.cpp](../experiments/literal_tree.cpp)). *Control* is the same comparison for a tree with point leaves. There the integer version only replaces `pow(x, 2)` by `x * x`, and a division by two by a product. Compilers do both on their own, so the control shows how large a gain can be by chance.

The second table adds the ideas of the paper one at a time. All trees are timed on the same maps of one PixelSNE-RP run: the middle map of every 100 iterations represents these 100, and the fastest of three evaluations counts.

- *Point leaves*: each leaf holds one point, and a cell is represented by its center of mass (D-Quadtree).
- *Pixel leaves*: each leaf is a pixel, and a cell is represented by its midpoint (P-Quadtree).
- *Rebuilt*: the tree is built again in every iteration.
- *One-time*: nodes are kept, and only their counts are reset. With *one-time arrays* there are no nodes, only an array with one count for each cell of each level.
- *Core*: the two trees of our C++ core.

Results:

- **The paper's ratio appears here, too.** On MNIST, a rebuilt tree with point leaves takes more than twice as long as one-time arrays with pixel leaves. The ratio of the paper's Coord times is 2.3.
- **Bounded depth** alone saves little if nearly every point has its own pixel, such as 70,000 points on a million pixels. It saves more on 512 by 512 pixels.
- **One-time construction** saves time if the cells are arrays: the tree is small, nothing is allocated, and there are no pointers to follow. With nodes it costs more than it saves, because kept nodes are scattered in memory and empty nodes are visited again and again.
- **Integer arithmetic** gains about as much as the control, so we cannot distinguish its gain from chance. The paper reports 4 to 5 % of the total.
- **Why the two trees of our core are equally fast.** Both use one algorithm that allocates nothing. It sorts the points by Morton code, stores the occupied cells in the order of the traversal in one pass, and traverses the tree for several points at once, with vector instructions. This is more than ten times as fast as the trees of literal_tree.cpp. The costs that the paper saves do not occur in it. Four fifths of the remaining time is the traversal, which takes equally long in both trees as long as points have their own pixels. Attraction, a third of an iteration, does not use the tree. [tree_profile.md](../benchmarks/results/tree_profile.md) has separate times for building and traversing. With a million points on 512 by 512 pixels, where a pixel holds many points, the core's tree with pixel leaves is 1.4 to 1.8 times as fast as its tree with point leaves."""

PRECISION = """\
The true neighbors are those in the 50 principal components, which all methods use as input. Our precision is higher than the paper's for k up to 20. A possible reason is that in the published program, points within two pixels of each other do not repel each other, so the order among them is lost.

At k = 30, the paper's precision is up to two percent higher than ours for r of 1024 and more. The choice of digits has an effect of about the same size (the row below the resolutions). The paper's precision rises more from k = 20 to 30 (.036 at r = 1024) than from k = 10 to 20 (.023). None of our maps shows this. We could not find out why, or which 10,000 digits the paper used.

In the paper, precision grows with r. Here it does not, because the force on a point depends on its exact position, not on its pixel."""

ACCURACY = """\
The paper's values for k = 10 and 20 at r = 2048 (.9395, .9450) seem to be swapped. As in the paper, our accuracy does not depend on r. It is higher than the paper's."""

COST = """\
The cost is the KL divergence of each map with respect to its own sparse P of perplexity 50. The normalizer is summed over all pairs. The paper does not say which points, which P and which normalizer it used. Its cost of random coordinates, 91.58, gives a hint: this is too large for a KL divergence with such a P. But it agrees to four digits with the value for 10,000 digits at perplexity 50 if P is multiplied by 12, as it is during early exaggeration. So we assume that its other costs are KL divergences of the same kind, without exaggeration.

In the paper, PixelSNE has a lower cost at r = 512 than at larger r. The normalizer is probably the reason: the published program takes it from the tree, which leaves out pairs within two pixels. If we leave out these pairs (last column), our cost falls by about as much at r = 512, and does not change at r = 4096. With an exact normalizer, the cost hardly depends on r. If cells are represented by centers of mass instead of midpoints, the cost of PixelSNE is that of BH-SNE."""

SIZE = """\
The paper's figure has no numbers to compare with. The exponents are fitted to times with 20,000 points or more, because with fewer points, costs that do not depend on n have a noticeable share. The descent of our defaults takes linear time. The descent of PixelSNE-RP does not, at these sizes and this r, for three reasons that the table below shows:

- The screen still has more pixels than there are points. So the tree gets deeper with n, though less than that of BH-SNE.
- Attraction reads the positions of neighbors, which no longer fit into the caches.
- The learning rate of the paper does not depend on n. So maps of more points take longer to form clusters, within which the tree is cheap."""

PARTS = """\
These are the times of single parts with one thread, on finished maps of our defaults. With few pixels (r = 512), the tree with pixel leaves takes linear time, as the paper says, and the tree with point leaves does not. Attraction has the same number of edges per point for any n, but with larger n it takes longer to fetch them from memory. This effect is larger in input order, where neighbors are far apart in memory, than in cluster order, which our defaults use."""

RESOLUTION = """\
In the paper, PixelSNE takes longer with larger r, because the tree has more levels. At r = 4096 it is still twice as fast as BH-SNE. Here its time grows with r, too, but the difference to BH-SNE is smaller: see the comments on Table 2. BH-SNE does not depend on r. It uses the affinities of PixelSNE-RP."""

QUALITY = """\
The paper's curves have no numbers. It shows precision for 20News and MNIST and accuracy for the other data, and says that PixelSNE-RP is about as good as BH-SNE or better. Here the accuracies of the two agree within one percent, and their precisions within three percent from k = 10 on. For smaller k, PixelSNE loses a few percent of precision, because it uses the midpoints of cells. Where BH-SNE's own search would take hours, it uses the affinities of PixelSNE-RP. With more than 20,000 points, a sample of 10,000 points is compared with all points.

On the substitute for Yelp, with a million points, PixelSNE-RP has hardly begun to unfold the map after 1,000 iterations. The learning rate of the paper is the same for any number of points, but the force on each point falls with their number. The learning rate of our defaults grows with the number of points."""

MAPS = """\
Times are totals. In the map of headlines, about forty regions are labeled with three words each: words that are more frequent there than elsewhere."""

PROGRAM = """\
As far as we could tell, the program that the authors published differs from the paper in ways that affect the results:

- Leaves that contain the point itself, or lie within two pixels of it, are left out of its force and of the normalizer. See the comments on precision and cost above.
- The criterion compares the side of a cell, not its diagonal, with the distance, and does not square it. Ours does the same.
- The learning rate of 200 does not include the factor 4 of the gradient, so it is 50 here."""

CUT = """\
- BH-SNE and PixelSNE-VP do not use their own search with more than 100,000 points: it took the paper 9 to 12 hours on Yelp. BH-SNE uses the affinities of PixelSNE-RP there. It also uses them in the experiments on time by n (with more than 50,000 points) and by r.
- t-SNE runs with up to 30,000 points, as in the paper, and only once.
- All methods run only once with 200,000 points or more, and in the experiment on time by n from 50,000 points on. The experiments on time by n and r have two repetitions otherwise, where the paper has five.
- Time by n ends at 200,000 points. They are a sample of the substitute for Yelp, because we had only a part of NewsAgg.
- The trees of the paper are measured with 100,000 points of the substitute for Yelp.
- Cells with *not run* were left out for lack of time. The same commands with `--no-limits` measure all of them."""
