"""Names that parameters choose from. Imports nothing slow, so that the command line can offer them at once."""

from pixelsne.row_transforms import ROW_TRANSFORMS

# The core computes these; all others are scikit-learn's. Metrics that take their parameters from the data
# (mahalanobis, seuclidean) are left out: new points would change them. Scaled columns give the same.
CORE_METRICS = tuple(ROW_TRANSFORMS)
OTHER_METRICS = (
    "braycurtis",
    "canberra",
    "chebyshev",
    "cityblock",
    "dice",
    "hamming",
    "haversine",
    "jaccard",
    "l1",
    "manhattan",
    "minkowski",
    "rogerstanimoto",
    "russellrao",
    "sokalsneath",
    "sqeuclidean",
    "yule",
)
GIVEN_METRICS = ("precomputed", "affinities")
METRICS = (*CORE_METRICS, *OTHER_METRICS, *GIVEN_METRICS)

# What they do stands in neighbors.SEARCHES, repulsion.METHODS and settings.PRESETS; a test compares.
SEARCHES = ("auto", "exact", "vp-tree", "rp-forest", "clusters")
REPULSIONS = ("auto", "exact", "barnes-hut", "pixel-tree", "pixel-field")
PRESETS = ("t-sne", "bh-sne", "pixelsne-vp", "pixelsne-rp")

CENTERS = ("mass", "cell")
ASPECTS = ("equal", "fill")
STARTS = ("pca", "random")
SCALES = ("none", "standard")
DUPLICATES = ("merge", "keep")
COLORED_AS = ("auto", "categories", "numbers")
