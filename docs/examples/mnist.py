"""MNIST: 70,000 handwritten digits.

`python mnist.py map.png mnist.npz`, a file with the images as X (70,000 rows of 784 numbers) and the digits as y.
"""

import sys

import numpy as np

from pixelsne import PixelSNE
from pixelsne.plot import PlotStyle, save_picture

with np.load(sys.argv[2]) as arrays:
    values, labels = arrays["X"], arrays["y"]
model = PixelSNE(resolution=(900, 700), random_state=0).fit(values)
seconds = sum(model.timings_.values())
print(f"{len(values):,} digits in {seconds:.1f} s, KL divergence {model.kl_divergence_:.3f}")
save_picture(sys.argv[1], model.embedding_, (900, 700), labels, name="digit", style=PlotStyle(dpi=200))
