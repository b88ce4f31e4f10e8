"""News headlines, compared by the mean vector of their words.

`python headlines.py map.png newsagg.npz`, a file with vectors as X_glove100 and four kinds of news as y. The meaning
of a word is in the direction of its vector, so the metric is cosine.
"""

import sys

import numpy as np

from pixelsne import PixelSNE
from pixelsne.plot import PlotStyle, save_picture

KINDS = np.array(["business", "technology", "entertainment", "health"])

with np.load(sys.argv[2]) as arrays:
    values, labels = arrays["X_glove100"].astype(np.float32), arrays["y"]
known = np.abs(values).max(axis=1) > 0  # headlines with unknown words only are zero vectors
model = PixelSNE(resolution=(900, 700), metric="cosine", random_state=0).fit(values[known])
style = PlotStyle(title="17,251 headlines")
save_picture(sys.argv[1], model.embedding_, (900, 700), KINDS[labels[known]], name="news", style=style)
