"""The names that parameters accept. Importing this module is fast, so that the command line can list them."""

from pixelsne.row_transforms import ROW_TRANSFORMS

# The core computes these metrics, scikit-learn all others. Metrics that take parameters from the data (mahalanobis,
# seuclidean) are left out, because new points would change them; scaled columns give the same distances.
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
PRECOMPUTED_METRICS = ("precomputed", "affinities")
METRICS = (*CORE_METRICS, *OTHER_METRICS, *PRECOMPUTED_METRICS)

# neighbors.SEARCHES, repulsion.METHODS and settings.PRESETS have an entry for each name; a test compares them.
SEARCHES = ("auto", "exact", "vp-tree", "rp-forest", "clusters")
REPULSIONS = ("auto", "exact", "barnes-hut", "pixel-tree", "pixel-field")
PRESETS = ("t-sne", "bh-sne", "pixelsne-vp", "pixelsne-rp")

CENTERS = ("mass", "cell")
ASPECTS = ("equal", "fill")
INITS = ("pca", "random")
SCALES = ("none", "standard")
DUPLICATES = ("merge", "keep")
COLORED_AS = ("auto", "categories", "numbers")

# Defaults of picture files.
WIDTH = 7.0  # inches: two columns of most journals
DOTS_PER_INCH = 300.0
