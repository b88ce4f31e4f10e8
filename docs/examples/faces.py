"""Faces, compared by their pixels.

`python faces.py map.png facexp.npz`, a file with images of 48 x 48 pixels as X and seven expressions as y. Distances
between pixels depend more on brightness than on the expression.
"""

import sys

import numpy as np

from pixelsne import PixelSNE, quality
from pixelsne.plot import PlotStyle, save_picture

with np.load(sys.argv[2]) as arrays:
    faces, expressions = arrays["X"], arrays["y"]
model = PixelSNE(resolution=(900, 700), random_state=0).fit(faces)
brightness = faces.mean(axis=1)
accuracy = quality.knn_accuracy(model.embedding_, expressions, k=10)
print(f"{len(faces):,} faces; 10-NN accuracy of the expressions on the map: {accuracy:.0%}")
style = PlotStyle(dpi=200)
save_picture(sys.argv[1], model.embedding_, (900, 700), brightness, name="mean of the pixels", style=style)
