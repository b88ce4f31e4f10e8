"""News headlines, by the mean of their words' vectors.

`python headlines.py map.png newsagg.npz`, a file with vectors as X_glove100 and four kinds of news as y. Word vectors
are compared by direction, so the metric is the cosine.
"""

import sys

import numpy as np

from pixelsne import PixelSNE
from pixelsne.plot import PlotStyle, save_picture

KINDS = np.array(["business", "technology", "entertainment", "health"])

with np.load(sys.argv[2]) as arrays:
    values, labels = arrays["X_glove100"].astype(np.float32), arrays["y"]
seen = np.abs(values).max(axis=1) > 0  # headlines of unknown words alone have no direction
model = PixelSNE(resolution=(900, 700), metric="cosine", random_state=0).fit(values[seen])
style = PlotStyle(title="17,251 headlines", point_size=3)
save_picture(sys.argv[1], model.pixels_, (900, 700), KINDS[labels[seen]], name="news", style=style)
