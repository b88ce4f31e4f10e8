"""Count the words and two-word phrases of texts by region."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pixelsne.arrays import AnyArray

# Names need no more than a sample of a million texts, and no more than the beginning of a book.
MAX_ROWS = 200_000
MAX_CHARACTERS = 25_000_000
LONGEST_TEXT = 1_000
LONGEST_WORD = 40
MIN_TEXTS = 3  # with a term
ROWS_PER_BLOCK = 10_000

# Scripts without spaces between words: Thai to Khmer, kana, Han. Their terms are pairs of characters.
UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# Vowel signs and accents continue a word, though \w does not match them.
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff"
LETTERS = rf"(?:[^\W_{UNSPACED}]|[{MARKS}])"
ABBREVIATED = r"[A-Z][a-z]?\.(?= )"  # Mt. Gox is one phrase
TOKEN = re.compile(rf"[{UNSPACED}]+|{ABBREVIATED}|{LETTERS}+(?:[-.&'\u2019+]{LETTERS}+)*|[^\w\s'\u2019\-]|\n")
UNSPACED_RUN = re.compile(f"[{UNSPACED}]")
MARKUP = re.compile(r"<[^<>]{0,300}>|&#?\w{1,8};|https?://\S+|www\.\S+")
ADDRESS = re.compile(r"[^\s@]+@[^\s@]+")
HEADING = re.compile(r"\b([A-Z]{4,})-(?=[A-Z])")  # FOREX-Dollar falls
HOST = re.compile(r"\w{3,}\.\w+|\w+\.\w{3,}")
POSSESSIVE = re.compile(r"['\u2019][sS]$")
BREAK = -1

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Terms:
    """In how many texts of each region each term occurs."""

    spellings: tuple[str, ...]  # words, then phrases; each as it is most often spelled
    parts: NDArray[np.int64]  # (terms, 2), the words of a phrase; for words twice the word itself
    counts: Any  # csr_array (regions, terms), texts
    texts: NDArray[np.int64]  # (regions), texts that have words


class Vocabulary(dict[str, int]):
    """A number for each token."""

    def __missing__(self, token: str) -> int:
        self[token] = number = len(self)
        return number


def tokens_of(text: str) -> list[str]:
    """Return the words of a text, and marks of punctuation, which end phrases."""
    if "<" in text or "&" in text or "://" in text or "www." in text:
        text = MARKUP.sub(" ; ", text)
    if "@" in text:
        text = ADDRESS.sub(" ; ", text)
    if "-" in text:
        text = HEADING.sub(r"\1 ; ", text)
    tokens = TOKEN.findall(text)
    if not UNSPACED_RUN.search(text):
        return tokens
    pairs = []
    for token in tokens:
        if UNSPACED_RUN.match(token):
            for index in range(len(token) - 1):
                pairs += [token[index : index + 2], ";"]
        else:
            pairs.append(token)
    return pairs


def read_texts(column: Any, rows: AnyArray, progress: Progress | None) -> Iterator[str]:
    """Yield the beginnings of texts of an Arrow column; "" for missing ones."""
    longest = max(min(LONGEST_TEXT, MAX_CHARACTERS // max(len(rows), 1)), 1)
    texts = beginnings(column, longest)
    for start in range(0, len(rows), ROWS_PER_BLOCK):
        if progress is not None:
            progress(start / len(rows))
        for text in texts.take(rows[start : start + ROWS_PER_BLOCK]).to_pylist():
            yield "" if text is None else str(text)


def beginnings(column: Any, longest: int) -> Any:
    """Return the first characters of each text of an Arrow column, so that long texts are never copied whole."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.compute as pc  # noqa: PLC0415

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return pc.utf8_slice_codeunits(column, 0, longest)


def fold(vocabulary: Vocabulary, occurrences: AnyArray) -> tuple[AnyArray, list[str]]:
    """Return the word of each token, or BREAK, and the most frequent spelling of each word."""
    words: dict[str, int] = {}
    spellings: list[str] = []
    most: list[int] = []
    numbers = np.full(len(vocabulary), BREAK, dtype=np.int64)
    for token, count in zip(vocabulary, occurrences.tolist(), strict=True):
        spelling = token.rstrip(".")
        if not token[0].isalnum() or len(token) > LONGEST_WORD or HOST.search(spelling):
            continue
        number = words.setdefault(POSSESSIVE.sub("", spelling).casefold(), len(words))
        numbers[vocabulary[token]] = number
        if number == len(spellings):
            spellings.append(spelling)
            most.append(count)
        elif count > most[number]:
            spellings[number], most[number] = spelling, count
    return numbers, spellings


def count_terms(column: Any, regions: AnyArray, number: int, progress: Progress | None = None) -> Terms:
    """Count the texts with each term by region. regions: (n) from 0 to number - 1, or -1."""
    rows = np.flatnonzero(regions >= 0)
    rows = rows[:: -(-len(rows) // MAX_ROWS) or 1]
    vocabulary = Vocabulary()
    parts, lengths = [np.empty(0, dtype=np.int32)], []
    for text in read_texts(column, rows, progress):
        numbers = [vocabulary[token] for token in tokens_of(text)]
        lengths.append(len(numbers))
        parts.append(np.array(numbers, dtype=np.int32))
    tokens = np.concatenate(parts)
    folded, spellings = fold(vocabulary, np.bincount(tokens, minlength=len(vocabulary)))
    words = folded[tokens] if len(tokens) else np.empty(0, dtype=np.int64)
    texts = np.repeat(np.arange(len(rows)), lengths)
    of_text = regions[rows]
    is_word = words != BREAK
    used, single = count_texts(words[is_word], texts[is_word], of_text, number)
    together = is_word[:-1] & is_word[1:] & (texts[:-1] == texts[1:])
    kept = np.zeros(len(spellings) + 1, dtype=bool)
    kept[used] = True
    together &= kept[words[:-1]] & kept[words[1:]]
    keys = words[:-1][together] * len(spellings) + words[1:][together]
    phrases, double = count_texts(keys, texts[:-1][together], of_text, number)
    rank = np.zeros(len(spellings) + 1, dtype=np.int64)
    rank[used] = np.arange(len(used))
    pairs = np.stack(np.divmod(phrases, max(len(spellings), 1)), axis=1)
    return Terms(
        (*(spellings[word] for word in used), *(f"{spellings[a]} {spellings[b]}" for a, b in pairs.tolist())),
        np.concatenate([np.stack([rank[used]] * 2, axis=1), rank[pairs]]),
        sparse.csr_array(sparse.hstack([single, double])),
        np.bincount(of_text[np.unique(texts[is_word])], minlength=number),
    )


def count_texts(terms: AnyArray, texts: AnyArray, regions: AnyArray, number: int) -> tuple[AnyArray, Any]:
    """Return the terms in several texts, sorted, and a csr_array (regions, terms) of the texts that have them."""
    used, codes = np.unique(terms, return_inverse=True)
    width = max(len(used), 1)
    pairs = np.sort(texts * width + codes)
    texts, codes = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], width)
    often = np.bincount(codes, minlength=width)[: len(used)] >= min(MIN_TEXTS, max(len(regions) // 10, 1))
    counts = sparse.coo_array((np.ones(len(codes)), (regions[texts], codes)), shape=(number, width)).tocsr()
    return used[often], counts[:, np.flatnonzero(often)]
