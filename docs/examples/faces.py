"""Faces: what plain pixels know about an expression, and what they do not.

`python faces.py map.png facexp.npz`, a file with images of 48 x 48 pixels as X and seven expressions as y. Distances
between pixels see light, pose and framing before they see a smile: the map falls into such groups, and expressions are
scattered over all of them. A map shows what the numbers hold, not what we would like to see.
"""

import sys

import numpy as np

from pixelsne import PixelSNE, quality
from pixelsne.plot import Look, save_picture

EXPRESSIONS = np.array(["anger", "disgust", "fear", "happiness", "sadness", "surprise", "neutral"])

with np.load(sys.argv[2]) as arrays:
    values, labels = arrays["X"], arrays["y"]
model = PixelSNE(resolution=(900, 700), random_state=0).fit(values)
print(f"10-NN accuracy on the map: {quality.knn_accuracy(model.embedding_, labels, k=10):.3f} of {len(values):,} faces")
save_picture(sys.argv[1], model.pixels_, (900, 700), EXPRESSIONS[labels], name="expression", look=Look(title="Faces"))
