"""A million sentences of reviews, compared by averaged word vectors.

`python reviews.py map.png reviews1m.npz`, a file with vectors of 50 numbers as X. Without labels, points are colored by
region.
"""

import sys

import numpy as np

from pixelsne import PixelSNE
from pixelsne.plot import PlotStyle, save_picture

with np.load(sys.argv[2]) as arrays:
    vectors = arrays["X"]
model = PixelSNE(random_state=0).fit(vectors)
print(f"{len(vectors):,} sentences in {sum(model.timings_.values()):.0f} s")
save_picture(sys.argv[1], model.embedding_, 1024, style=PlotStyle(dpi=200, dark=True))
