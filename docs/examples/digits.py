"""Handwritten digits.

1,797 images of 8 x 8 pixels from scikit-learn. The map is computed without the labels, which only color the points.
"""

import sys

from sklearn.datasets import load_digits

from pixelsne import PixelSNE, quality
from pixelsne.plot import PlotStyle, save_picture

values, labels = load_digits(return_X_y=True)
model = PixelSNE(resolution=(900, 600), random_state=0).fit(values)
print(f"10-NN accuracy on the map: {quality.knn_accuracy(model.embedding_, labels, k=10):.3f}")
save_picture(sys.argv[1], model.embedding_, (900, 600), labels, name="digit", style=PlotStyle(dpi=200))
