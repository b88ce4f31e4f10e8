"""News Aggregator: headlines in four categories, each as the mean of its words' vectors."""

import csv
import io
from collections.abc import Iterator
from itertools import chain, compress
from pathlib import Path

import numpy as np

from experiments.data.loaded import Loaded, check_labels, first_file, opened, read_arrays, read_texts
from experiments.data.word_vectors import describe, find_vectors
from pixelsne.files.errors import FileError

CATEGORIES = {"b": "Business", "t": "Science and technology", "e": "Entertainment", "m": "Health"}
CODES = tuple(CATEGORIES)
NAMES = tuple(CATEGORIES.values())
COLUMNS = ("ID", "TITLE", "URL", "PUBLISHER", "CATEGORY", "STORY", "HOSTNAME", "TIMESTAMP")
TITLE, CATEGORY = COLUMNS.index("TITLE"), COLUMNS.index("CATEGORY")


def load(folder: Path) -> Loaded | None:
    return load_table(folder) or load_npz(folder)


def load_table(folder: Path) -> Loaded | None:
    """Read the headlines. Those without a known word carry no information and are left out."""
    path = first_file(folder, "newsCorpora.csv", "uci-news-aggregator.csv")
    if path is None:
        return None
    rows = list(read_rows(path))
    if not rows:
        raise FileError(path, "has no rows")
    vectors = find_vectors(folder)
    if vectors is None:
        raise FileError(folder, "has the headlines of News Aggregator, but no word vectors; see experiments/README.md")
    titles, labels = [title for title, _ in rows], np.array([label for _, label in rows])
    values, known = describe(titles, vectors)
    return Loaded(values[known], labels[known], NAMES, f"{path.name}, {vectors.name}", list(compress(titles, known)))


def read_rows(path: Path) -> Iterator[tuple[str, int]]:
    """Yield title and category. UCI's file has tabs and no header; Kaggle's has commas, quotes and a header."""
    with opened(path) as file:
        lines = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="\n")
        first = lines.readline()
        is_plain = "\t" in first
        if not is_plain and first and next(csv.reader([first.rstrip("\r\n")])) != list(COLUMNS):
            raise FileError(path, f"must have tabs, or begin with the columns {', '.join(COLUMNS)}")
        rows = (line.rstrip("\r\n").split("\t") for line in chain([first], lines)) if is_plain else csv.reader(lines)
        for number, row in enumerate(rows, start=1):
            if len(row) != len(COLUMNS):
                raise FileError(path, f"row {number:,}: {len(row)} columns where {len(COLUMNS)} are expected")
            if row[CATEGORY] not in CATEGORIES:
                raise FileError(
                    path, f"column CATEGORY, row {number:,}: {row[CATEGORY]!r} is none of {', '.join(CODES)}"
                )
            yield row[TITLE], CODES.index(row[CATEGORY])


def load_npz(folder: Path) -> Loaded | None:
    """Read a part of the headlines as mean vectors."""
    path = first_file(folder, "newsagg.npz")
    if path is None:
        return None
    values, labels = read_arrays(path, "X_glove100", "y")
    labels = check_labels(path, labels, len(values), len(NAMES))
    texts = read_texts(first_file(folder, "newsagg.texts.jsonl"), len(values))
    differences = f"{len(values):,} of 421,161 headlines; GloVe vectors of 100 dimensions in place of word2vec's of 300"
    return Loaded(values.astype(np.float32), labels, NAMES, path.name, texts, differences)
