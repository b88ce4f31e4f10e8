"""News headlines, compared by sentence vectors, with names for the regions of their map.

`python headlines.py map.png newsagg_minilm.npz newsagg.texts.jsonl.gz [film.webp]`: a file with vectors as X, and lines
of JSON with a headline each, in the same order. The meaning of a sentence is in the direction of its vector, so the
metric is cosine. The headlines are not used for the map; their distinctive words name its regions.
"""

import gzip
import json
import sys

import numpy as np

from pixelsne import PixelSNE
from pixelsne.plot import PlotStyle, save_picture

with np.load(sys.argv[2]) as arrays:
    vectors = arrays["X"]
with gzip.open(sys.argv[3], "rt", encoding="utf-8") as lines:
    headlines = [json.loads(line)["text"] for line in lines]

model = PixelSNE(resolution=(1200, 900), metric="cosine", random_state=0)
if sys.argv[4:]:
    model.film(sys.argv[4], vectors, names=headlines)
else:
    model.fit(vectors)
save_picture(sys.argv[1], model.embedding_, (1200, 900), names=headlines, style=PlotStyle(dpi=200))
