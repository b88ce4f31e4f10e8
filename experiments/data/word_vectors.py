"""Published word vectors of the words that occur, from word2vec's binary files or GloVe's text files."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np

from experiments.data.loaded import first_file, opened
from pixelsne.files.errors import FileError

BINARY = ("GoogleNews-vectors-negative300.bin",)
TEXT = ("glove.840B.300d.txt", "glove.6B.300d.txt", "glove.6B.100d.txt", "glove.txt")
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
MAX_WORD_BYTES = 1000  # a longer word means that the file is damaged
MAX_DIMENSIONS = 10_000

Vectors = dict[str, Any]  # word -> (d) float32


def words_of(text: str) -> list[str]:
    return WORD.findall(text)


def find_vectors(folder: Path) -> Path | None:
    return first_file(folder, *BINARY, *TEXT)


def describe(texts: Iterable[str], path: Path) -> tuple[Any, Any]:
    """Return (n, d) float32, the mean vector of each text's known words; and (n) whether a text has a known word."""
    split = [words_of(text) for text in texts]
    vocabulary = {form for words in split for word in words for form in (word, word.lower())}
    vectors = read_vectors(path, vocabulary)
    if not vectors:
        raise FileError(path, "has none of the words of these texts")
    means = np.zeros((len(split), len(next(iter(vectors.values())))), dtype=np.float32)
    known = np.zeros(len(split), dtype=bool)
    for row, words in enumerate(split):
        found = [vector for vector in (look_up(vectors, word) for word in words) if vector is not None]
        known[row] = bool(found)
        if found:
            means[row] = np.mean(found, axis=0)
    return means, known


def look_up(vectors: Vectors, word: str) -> Any:
    """Return the vector of a word as written, else in lower case: word2vec has both, GloVe the latter."""
    return vectors.get(word, vectors.get(word.lower()))


def read_vectors(path: Path, vocabulary: set[str]) -> Vectors:
    """Return the vectors of these words only, because the published files hold millions."""
    is_binary = path.name.removesuffix(".gz").endswith(".bin")
    with opened(path) as file:
        return read_binary(path, file, vocabulary) if is_binary else read_lines(path, file, vocabulary)


def read_binary(path: Path, file: IO[bytes], vocabulary: set[str]) -> Vectors:
    """Read a line with two counts, followed by word, space and float32 values for each word."""
    head = file.readline(100).split()
    if len(head) != 2 or not all(part.isdigit() for part in head):
        raise FileError(path, "does not begin with the number of words and of dimensions")
    count, dimensions = int(head[0]), int(head[1])
    if not 0 < dimensions <= MAX_DIMENSIONS:
        raise FileError(path, f"claims vectors of {dimensions} dimensions")
    vectors: Vectors = {}
    for number in range(1, count + 1):
        word = read_word(path, file, number)
        values = file.read(4 * dimensions)
        if len(values) < 4 * dimensions:
            raise FileError(path, f"is cut off in word {number:,} of {count:,}")
        if word in vocabulary:
            vectors[word] = np.frombuffer(values, dtype="<f4")
    return vectors


def read_word(path: Path, file: IO[bytes], number: int) -> str:
    letters = bytearray()
    while (letter := file.read(1)) != b" ":
        if not letter or len(letters) > MAX_WORD_BYTES:
            raise FileError(path, f"is cut off or damaged in word {number:,}")
        letters += letter
    return letters.decode("utf-8", errors="replace").lstrip("\n")


def read_lines(path: Path, file: IO[bytes], vocabulary: set[str]) -> Vectors:
    """Read a word and its values from every line. Skip a first line of two numbers, as in word2vec's text files."""
    vectors: Vectors = {}
    dimensions = 0
    for number, line in enumerate(file, start=1):
        parts = line.decode("utf-8", errors="replace").rstrip("\n").split(" ")
        if number == 1 and len(parts) == 2:
            continue
        dimensions = dimensions or len(parts) - 1
        if len(parts) <= dimensions or dimensions < 1:
            raise FileError(path, f"line {number:,}: {len(parts) - 1} values where {dimensions} are expected")
        word = " ".join(parts[:-dimensions])  # some words of GloVe contain spaces
        if word in vocabulary:
            vectors[word] = read_values(path, number, parts[-dimensions:])
    return vectors


def read_values(path: Path, number: int, parts: list[str]) -> Any:
    try:
        return np.array(parts, dtype=np.float32)
    except ValueError:
        raise FileError(path, f"line {number:,}: not all values are numbers") from None
