"""The numbers of the paper's Tables 1 to 5. Times are in seconds."""

MINUTE, HOUR = 60.0, 3600.0

SETS = ("20news", "facexp", "mnist", "newsagg", "yelp")
NEIGHBORS = (1, 3, 5, 10, 20, 30)
RESOLUTIONS = (512, 1024, 2048, 4096)

# Table 1: (P, Coord, Total).
TIMES = {
    ("t-sne", "20news"): (2.43 * MINUTE, 36.87 * MINUTE, 39.31 * MINUTE),
    ("t-sne", "facexp"): (6.48 * MINUTE, 84.94 * MINUTE, 91.41 * MINUTE),
    ("bh-sne", "20news"): (22.25, 156.70, 178.95),
    ("bh-sne", "facexp"): (0.19 * MINUTE, 5.48 * MINUTE, 5.56 * MINUTE),
    ("bh-sne", "mnist"): (5.10 * MINUTE, 13.93 * MINUTE, 19.03 * MINUTE),
    ("bh-sne", "newsagg"): (3.96 * HOUR, 1.81 * HOUR, 5.77 * HOUR),
    ("bh-sne", "yelp"): (12.44 * HOUR, 5.83 * HOUR, 18.27 * HOUR),
    ("pixelsne-vp", "20news"): (14.68, 70.71, 85.39),
    ("pixelsne-vp", "facexp"): (0.14 * MINUTE, 2.04 * MINUTE, 2.19 * MINUTE),
    ("pixelsne-vp", "mnist"): (3.76 * MINUTE, 6.17 * MINUTE, 9.92 * MINUTE),
    ("pixelsne-vp", "newsagg"): (2.84 * HOUR, 0.63 * HOUR, 3.46 * HOUR),
    ("pixelsne-vp", "yelp"): (8.89 * HOUR, 3.11 * HOUR, 12.00 * HOUR),
    ("pixelsne-rp", "20news"): (15.53, 72.17, 87.70),
    ("pixelsne-rp", "facexp"): (0.32 * MINUTE, 2.04 * MINUTE, 2.36 * MINUTE),
    ("pixelsne-rp", "mnist"): (1.40 * MINUTE, 6.05 * MINUTE, 7.45 * MINUTE),
    ("pixelsne-rp", "newsagg"): (0.30 * HOUR, 0.63 * HOUR, 0.94 * HOUR),
    ("pixelsne-rp", "yelp"): (0.76 * HOUR, 3.14 * HOUR, 3.90 * HOUR),
}

# Table 2: PixelSNE-RP's total with and without Sec. 4.4.
IMPROVED = {"20news": 83.26, "facexp": 134.43, "mnist": 429.08, "newsagg": 3194.86, "yelp": 13485.27}
UNIMPROVED = {"20news": 87.7, "facexp": 141.54, "mnist": 446.88, "newsagg": 3370.36, "yelp": 14025.12}

# Tables 3 and 4: by resolution, for NEIGHBORS. In Table 4 the values of k = 10 and 20 at r = 2048 seem to be swapped.
PRECISION = {
    512: (0.2401, 0.3207, 0.3475, 0.3719, 0.3916, 0.4237),
    1024: (0.2405, 0.3165, 0.3434, 0.3702, 0.3932, 0.4290),
    2048: (0.2463, 0.3216, 0.3481, 0.3750, 0.3977, 0.4328),
    4096: (0.2517, 0.3272, 0.3532, 0.3782, 0.4006, 0.4344),
}
ACCURACY = {
    512: (0.9390, 0.9482, 0.9463, 0.9428, 0.9367, 0.9297),
    1024: (0.9387, 0.9489, 0.9475, 0.9450, 0.9400, 0.9335),
    2048: (0.9386, 0.9489, 0.9472, 0.9395, 0.9450, 0.9323),
    4096: (0.9380, 0.9484, 0.9471, 0.9437, 0.9382, 0.9324),
}

# Table 5.
COST_AT_RANDOM = 91.580
COST_OF_BH_SNE = 1.815
COST = {512: 1.820, 1024: 1.865, 2048: 1.871, 4096: 1.868}

# Sec. 5.1: the numbers of points, and the resolution of PixelSNE.
POINTS = {"20news": 18_846, "facexp": 28_709, "mnist": 70_000, "newsagg": 421_161, "yelp": 1_000_000}
RESOLUTION = {"20news": 512, "facexp": 512, "mnist": 1024, "newsagg": 2048, "yelp": 8192}
DIGITS_JUDGED = 10_000
COORD_RATIO = 2.3  # BH-SNE's Coord over PixelSNE-RP's on MNIST
HEADLINE = 7.45 * MINUTE  # PixelSNE-RP on MNIST
