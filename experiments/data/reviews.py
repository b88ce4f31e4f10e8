"""Yelp: reviews as counts of their terms, and ten topics as labels.

The file is read twice and never held in memory: first to count in how many reviews a term occurs, then to count the
terms of the sampled reviews.
"""

import json
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import MiniBatchKMeans
from sklearn.decomposition import MiniBatchNMF
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from experiments.data.loaded import Loaded, first_file, opened, read_arrays
from experiments.data.word_vectors import words_of
from pixelsne.files.errors import FileError

NAMES = ("review.json", "yelp_academic_dataset_review.json")
REVIEWS = 1_000_000  # a random sample
MIN_REVIEWS = 20  # in which a term must occur
MAX_SHARE = 0.1  # of the reviews: terms in more of them are too general
# The paper names two and says "etc."
GENERAL = frozenset({"food", "restaurant", "place", "good", "great", "service", "like", "just", "time", "really"})
TOPICS = 10
ROWS_AT_ONCE = 10_000


def load(folder: Path) -> Loaded | None:
    return load_reviews(folder) or load_npz(folder)


def load_reviews(folder: Path, reviews: int = REVIEWS) -> Loaded | None:
    path = first_file(folder, *NAMES)
    if path is None:
        return None
    total, terms = count_terms(path)
    sampled = np.sort(np.random.default_rng(0).choice(total, min(reviews, total), replace=False))
    counts = count_matrix(path, set(sampled.tolist()), terms)
    labels, names = find_topics(counts, list(terms))
    return Loaded(counts, labels, names, f"{path.name}, {len(sampled):,} of {total:,} reviews, {len(terms):,} terms")


def read_reviews(path: Path) -> Iterator[list[str]]:
    """Yield the words of each review, in lower case."""
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                text = json.loads(line)["text"]
            except (ValueError, KeyError, TypeError):
                raise FileError(
                    path, f'line {number:,}: not a JSON object with a "text"; is the file cut off?'
                ) from None
            yield words_of(str(text).lower())


def count_terms(path: Path) -> tuple[int, dict[str, int]]:
    """Return the number of reviews, and the terms that are neither rare nor general, each with its column."""
    occurrences: Counter[str] = Counter()
    total = 0
    for words in read_reviews(path):
        occurrences.update(set(words))
        total += 1
    max_reviews = MAX_SHARE * total
    selected_terms = sorted(
        term
        for term, count in occurrences.items()
        if MIN_REVIEWS <= count <= max_reviews and term not in GENERAL and term not in ENGLISH_STOP_WORDS
    )
    if not selected_terms:
        raise FileError(path, f"has no term in at least {MIN_REVIEWS} and at most a tenth of its {total:,} reviews")
    return total, {term: column for column, term in enumerate(selected_terms)}


def count_matrix(path: Path, sampled: set[int], terms: dict[str, int]) -> sparse.csr_matrix:
    """Return (sampled reviews, terms) counts."""
    columns, values, ends = array("i"), array("f"), array("q", [0])
    for number, words in enumerate(read_reviews(path)):
        if number in sampled:
            found = Counter(terms[word] for word in words if word in terms)
            columns.extend(found.keys())
            values.extend(found.values())
            ends.append(len(columns))
    parts = np.frombuffer(values, np.float32), np.frombuffer(columns, np.int32), np.frombuffer(ends, np.int64)
    return sparse.csr_matrix(parts, shape=(len(ends) - 1, len(terms)))


def find_topics(counts: sparse.csr_matrix, terms: list[str]) -> tuple[Any, tuple[str, ...]]:
    """Return (n) the strongest of ten topics by NMF, and the names of the topics: their three heaviest terms."""
    model = MiniBatchNMF(n_components=TOPICS, batch_size=ROWS_AT_ONCE, random_state=0)
    model.fit(counts)
    blocks = [model.transform(counts[row : row + ROWS_AT_ONCE]) for row in range(0, counts.shape[0], ROWS_AT_ONCE)]
    max_weight = np.argsort(-model.components_, axis=1)[:, :3]
    names = tuple(", ".join(terms[term] for term in topic) for topic in max_weight)
    return np.concatenate(blocks).argmax(axis=1), names


def load_npz(folder: Path) -> Loaded | None:
    """Read a million sentences of other reviews as vectors, with ten k-means groups in place of topics."""
    path = first_file(folder, "reviews1m.npz")
    if path is None:
        return None
    (values,) = read_arrays(path, "X")
    values = values.astype(np.float32)
    groups = MiniBatchKMeans(TOPICS, batch_size=ROWS_AT_ONCE, n_init=3, random_state=0).fit_predict(values)
    differences = (
        "sentences of other reviews as GloVe vectors, 50 dimensions; ten k-means groups in place of ten NMF topics"
    )
    return Loaded(values, groups, tuple(f"group {group + 1}" for group in range(TOPICS)), path.name, [], differences)
