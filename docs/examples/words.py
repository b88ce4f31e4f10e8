"""Words, compared by the words that occur near them.

`python words.py map.png news20.texts.jsonl.gz`, lines of JSON with a text each. Each of the 4,000 most frequent words
is a row of a sparse matrix that counts how often the other words occur within five words of it. The matrix
is never made dense.
"""

import gzip
import json
import re
import sys
from collections import Counter

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse

from pixelsne import PixelSNE

with gzip.open(sys.argv[2], "rt", encoding="utf-8") as lines:
    texts = [re.findall(r"[a-z]{3,}", json.loads(line)["text"].lower()) for line in lines]
words = [word for word, _ in Counter(word for text in texts for word in text).most_common(4000)]
indices = {word: index for index, word in enumerate(words)}

pairs: Counter[tuple[int, int]] = Counter()
for text in texts:
    known = [indices.get(word, -1) for word in text]
    for distance in range(1, 6):
        pairs.update(pair for pair in zip(known, known[distance:], strict=False) if min(pair) >= 0)
rows, columns = np.array(list(pairs)).T
near = sparse.csr_array((np.array(list(pairs.values()), dtype=float), (rows, columns)), shape=(len(words),) * 2)
near = near + near.T
totals = near.sum(axis=1)
ratios = sparse.diags_array(1 / totals) @ near @ sparse.diags_array(1 / totals) * totals.sum()
ratios.data = np.maximum(np.log(ratios.data), 0)  # positive pointwise mutual information

screen = PixelSNE(resolution=(1200, 900), metric="cosine", random_state=0).fit_transform(ratios)

figure = Figure((12, 9), 100, facecolor="white")
axes = figure.add_axes((0.02, 0.02, 0.96, 0.96), xlim=(0, 1200), ylim=(900, 0))
axes.set_axis_off()
axes.scatter(*screen.T, s=3, color="#9bb7d4")
taken = np.zeros((900, 1200), dtype=bool)
for word, (x, y) in zip(words, screen, strict=True):  # the most frequent words first, where there is space
    box = np.s_[max(int(y) - 5, 0) : int(y) + 5, max(int(x) - 3 * len(word), 0) : int(x) + 3 * len(word)]
    if not taken[box].any():
        taken[box] = True
        axes.text(x, y, word, fontsize=6.5, ha="center", va="center", color="#222222")
figure.savefig(sys.argv[1])
