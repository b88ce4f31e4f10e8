"""Comments on the figures. Our numbers come from the tables; numbers here are the paper's or follow from it."""

OPENING = """\
Every table and figure of Kim et al., *PixelSNE: Visualizing Fast with Just Enough Precision via Pixel-Aligned \
Stochastic Neighbor Embedding*, with the paper's figures beside ours. This page is written by \
`python -m experiments report` from [experiments/results](../experiments/results/cells.jsonl); how to measure it yourself is in \
[experiments/README.md](../experiments/README.md).

Times are those of one thread unless a line says otherwise, as in the paper. **P** is the search for neighbors and the \
affinities, **Coord** the descent of 1,000 iterations (350 for our defaults), **Total** both; PCA is not counted, as in \
the paper. Numbers in parentheses are standard deviations over repetitions that differ in their seed. The paper's \
machine was an Intel Core i7-6700K; a ratio between the two columns compares machines, compilers and programs at once, \
so read ratios within a column first."""

OTHER_SCALE = """\
A run of the paper's experiments at another scale than the one reported in docs/paper.md: the comments below are those \
of that report, the figures are not."""

HEADLINE = """\
(Other machine, two threads instead of one, perplexity 30 instead of 50, 350 iterations of another schedule instead of 1,000, a convolution instead of a tree. Its quality is higher than that of PixelSNE-RP here, see below; the paper has no figures of quality for all 70,000 digits.)"""

COORD_RATIO = """\
Why the trees are so close here is explained under the ablation."""

DATA = """\
All are reduced to 50 dimensions by PCA, and rows are in random order. 20News has the paper's seven higher-level groups \
as labels. Where a file stands in for one that could not be had, its times say how the methods compare on data of that \
kind, not what they would be on the paper's."""

TIMES = """\
- **P.** The vantage-point tree is the paper's bottleneck on large data, and ours. Its search is exact; the random-projection forest finds nearly all neighbors in a fraction of the time. The paper's two P's with a vantage-point tree differ though the search is the same (5.10 against 3.76 minutes on MNIST): the programs differ in more than they say.
- **Coord.** The paper's BH-SNE takes 2.2 to 2.9 times as long as its PixelSNE (1.9 on Yelp); here both take about the same time, because our BH-SNE is as fast as our PixelSNE, not because PixelSNE is slow: see the ablation.
- **Ours** takes its neighbors from clusters compared with clusters, its repulsion from a convolution of the pixel lattice, and 350 iterations from a schedule of its own.
- **t-SNE** has a dense P, all pairs.
- Ratios are told where both have the same number of points. The paper's FacExp BH-SNE total (5.56 minutes) is less than the sum of its parts (5.67)."""

ABLATION = """\
The first table is the paper's Table 2: what Sec. 4.4's integer arithmetic saves. Ours is measured in the tree alone, the only part it changes, on a tree written as the paper describes it (nodes, one point after the other, double precision, `-O2`): [literal_tree.cpp](../experiments/literal_tree.cpp). *Control* is the same difference for a tree of points, in which nothing but `x * x` for `pow(x, 2)` and a product for a division by two is exchanged; compilers do both by themselves, so it shows how far a gain may be chance. The second table switches the paper's ideas one by one on the same maps: of every 100 iterations of a PixelSNE-RP run the map in the middle stands for all, and of three evaluations the fastest counts. *To the point*: leaves of one point and centers of mass (D-Quadtree). *To the pixel*: leaves of one pixel and cell midpoints (P-Quadtree), *rebuilt* in every iteration or *one-time*, when nodes are kept and only their counts begin anew; *arrays* is one-time construction taken to its end, a count for each cell of each level, without nodes. The last two lines are our core's trees.

- **The paper's ratio is here, too**: on MNIST a tree of points that is rebuilt takes more than twice as long as a pixel tree whose cells are all there from the start, as counts in arrays (the paper's Coord: 2.3).
- **Bounded depth** alone saves little where nearly every point has a pixel of its own, as 70,000 have on a million pixels, and more on 512 by 512. **One-time construction** pays if cells need no nodes: then a tree is small, and nothing is allocated or followed. With nodes that are kept, it costs more than it saves, since kept nodes lie where earlier maps left them, and empty ones are met again and again.
- **Integer arithmetic**: what it gains is about what the control gains, so we cannot tell it from chance. The paper has 4 to 5 % of the total.
- **Why our core's two trees are equally fast.** Both are one algorithm that allocates nothing: a sort by interleaved bits and one pass that lays out the occupied cells in the order of the walk, several points walking at once in the lanes of a vector. That is more than ten times as fast as either literal tree. What the paper saved, it does not spend in the first place; four fifths of what is left is the walk itself, which is as long in both trees as long as points have pixels of their own, and attraction, a third of an iteration, knows no tree: [tree_profile.md](../benchmarks/results/tree_profile.md) has building and walking apart. At a million points on 512 by 512 pixels, where pixels hold many points, the core's pixel tree is 1.4 to 1.8 times as fast as its tree of points."""

PRECISION = """\
Neighborhoods are those of the 50 principal components that every method saw. Ours is above the paper's for k up to 20. A reason may be points within a pixel: the published program lets points within two pixels of each other not repel at all, so their order among each other is lost. At k = 30 the paper's figures rise by more from k = 20 (.036 at r = 1024) than from 10 to 20 (.023), which none of our maps does; there the paper is ahead by up to two percent for r of 1024 and more, about as much as another choice of digits changes (the line below the resolutions). We could not find out which 10,000 digits the paper took, or what happens between its k = 20 and 30. That precision grows with r we do not see: here a point's force comes from its own place, not from its pixel's."""

ACCURACY = """\
The paper's values for k = 10 and 20 at r = 2048 (.9395, .9450) look exchanged. Ours do not depend on r, as in the \
paper, and lie above it."""

COST = """\
The cost is the KL divergence of each map over its own sparse P of perplexity 50, with a normalizer summed over all pairs. The paper does not say which points, which P or which normalizer it took. Its first number tells: with random coordinates it reports 91.58, which is no KL divergence of such a P, but to four digits the value for 10,000 digits at perplexity 50 while P is exaggerated twelvefold, as it is at the start. So we take its other costs for plain KL of the same kind.

Its PixelSNE at r = 512 has a lower cost than at larger r. Probably that is the normalizer: the published program takes it from the tree, which leaves out pairs within two pixels. Left out of ours (last column), they lower the cost by about as much at r = 512 and by nothing at 4096. With an exact normalizer the cost hardly depends on r. With centers of mass instead of the paper's midpoints PixelSNE's cost is BH-SNE's."""

SIZE = """\
The paper's figure has no numbers to compare with. Exponents are fitted to Coord or Total from 20,000 points on; below, \
what does not depend on n weighs in. Our defaults' descent is linear. PixelSNE-RP's whole descent is not yet, at these \
sizes and this r, for three reasons that its parts show below: the screen still has more pixels than there are points, \
so that the tree grows deeper with n, though less than BH-SNE's; the pull reads positions of neighbors, which stop to \
fit the caches; and with the paper's fixed learning rate, maps of more points take longer to form clusters, within \
which the tree is cheap."""

PARTS = """\
The parts by themselves, one thread, on finished maps of our defaults. Where pixels are few (r = 512) the tree to the \
pixel is as linear as the paper says, and the tree to the point is not. The pull has the same number of edges a point \
at any n: what grows is the time to fetch them from memory, more so when neighbors are far apart in it (our defaults put \
near points together)."""

RESOLUTION = """\
The paper finds PixelSNE slower with larger r, since there are more levels to walk, and still twice as fast as BH-SNE at r = 4096; It grows with r here, too; why the two are closer is explained under the ablation. BH-SNE does not know r; it has the affinities of PixelSNE-RP."""

QUALITY = """\
The paper's curves have no numbers; it shows precision for 20News and MNIST and accuracy for the others, and says that PixelSNE-RP is about as good as BH-SNE or better. Here the two agree within one percent in accuracy and within three in precision from k = 10 on; for the very nearest neighbors the midpoints of cells cost PixelSNE a few percent of precision. Where BH-SNE's own search would take hours, it has the affinities of PixelSNE-RP. Above 20,000 points, 10,000 are sampled and compared with all. On the million points of Yelp's stand-in PixelSNE-RP has hardly begun to unfold the map after 1,000 iterations: the paper's learning rate is the same for any number of points, and the force on each falls with their number (our defaults' rate grows with it)."""

MAPS = """\
Times are totals. In the map of headlines, regions are named by the words that are more frequent there than elsewhere, \
three for each of some forty regions of the plane."""

PROGRAM = """\
The program the authors published differs from the paper, as far as we could tell, in ways that show in the figures:

- Leaves that hold the point itself, or lie within two pixels of it, are left out of its force and of the normalizer: \
see precision and cost above.
- The criterion compares a cell's side, not its diagonal, with the distance, and does not square it; so do we.
- The rate of 200 leaves out the gradient's factor 4, so it is 50 here."""

CUT = """\
- BH-SNE and PixelSNE-VP with their own search beyond 100,000 points: the paper needs 9 to 12 hours for that on Yelp. BH-SNE has the affinities of PixelSNE-RP there, and in the figures against n (beyond 50,000) and r.
- t-SNE beyond 30,000 points, as in the paper, and all but one of its repetitions; one repetition of whatever has 200,000 points or more, and against n from 50,000 points on; two where the paper has five (time against n and r).
- Time against n ends at 200,000 points, drawn from Yelp's stand-in, since only a part of NewsAgg could be had.
- The paper's trees are measured for 100,000 points of Yelp's stand-in.
- What a table calls *not run* was left out for lack of time; `--no-limits` and the same commands measure all of it."""
