"""Words, by the company they keep.

`python words.py map.png news20.texts.jsonl.gz`, lines of JSON with a text each. The 4,000 most frequent words; each is
described by which others stand within five words of it, as a sparse matrix that is never made dense.
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
numbers = {word: number for number, word in enumerate(words)}

pairs: Counter[tuple[int, int]] = Counter()
for text in texts:
    known = [numbers.get(word, -1) for word in text]
    for distance in range(1, 6):
        pairs.update(pair for pair in zip(known, known[distance:], strict=False) if min(pair) >= 0)
rows, columns = np.array(list(pairs)).T
near = sparse.csr_array((np.array(list(pairs.values()), dtype=float), (rows, columns)), shape=(len(words),) * 2)
near = near + near.T
totals = near.sum(axis=1)
company = sparse.diags_array(1 / totals) @ near @ sparse.diags_array(1 / totals) * totals.sum()
company.data = np.maximum(np.log(company.data), 0)  # how much more often than by chance

screen = PixelSNE(resolution=(1200, 900), metric="cosine", random_state=0).fit_transform(company)

figure = Figure((12, 9), 100, facecolor="white")
axes = figure.add_axes((0.02, 0.02, 0.96, 0.96), xlim=(0, 1200), ylim=(900, 0))
axes.set_axis_off()
axes.scatter(*screen.T, s=3, color="#9bb7d4")
taken = np.zeros((900, 1200), dtype=bool)
for word, (x, y) in zip(words, screen, strict=True):  # the most frequent ones first, as far as there is room
    room = np.s_[max(int(y) - 5, 0) : int(y) + 5, max(int(x) - 3 * len(word), 0) : int(x) + 3 * len(word)]
    if not taken[room].any():
        taken[room] = True
        axes.text(x, y, word, fontsize=6.5, ha="center", va="center", color="#222222")
figure.savefig(sys.argv[1])
