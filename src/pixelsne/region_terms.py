"""Choose the terms that name a region: those that are frequent in it and rare in its siblings."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pixelsne.arrays import AnyArray
from pixelsne.region_texts import UNSPACED, Terms

SEPARATOR = " · "
MAX_TERMS = 3
CANDIDATES = 40
MIN_SCORE = 0.3  # of a further term, in relation to the first
MIN_LIFT = 1.5  # a term must be so much more frequent than elsewhere
MIN_SHARE = 0.01  # of a region's texts
COMMON = 0.01  # share of all texts
SHORT = 3  # characters; common words of so many neither begin nor end a phrase, shorter ones say nothing
LIFT_BY_SHARE = 8.0  # how much more lift over the map a common word needs, times its share of all texts
MAX_NEEDED = 0.7  # of the lift of a word that only this region has
MAX_LIFT = 12.0  # beyond this, words that fewer texts have would win
WHOLE_PHRASE = 0.6  # share of a word's texts with the phrase, from which on the phrase stands for the word
PRIOR = 30.0  # texts like those of the whole map, added to the siblings
IN_PARENT = 0.3  # weight of the terms that name the parent
SHORTEST_STEM = 4
UNSPACED_ONLY = re.compile(f"[{UNSPACED}]+")


@dataclass(frozen=True)
class Level:
    """The regions of a level, in order."""

    parents: AnyArray  # (regions), position of the parent in the level above; 0 at the first level
    counts: Any  # csr_array (regions, terms), texts
    texts: AnyArray  # (regions)


def roll_up(terms: Terms, parents: list[AnyArray]) -> list[Level]:
    """Return the counts at each level, coarsest first. parents: for each level, coarsest first."""
    counts, texts = terms.counts, terms.texts
    levels = [Level(parents[-1], counts, texts)]
    for index in range(len(parents) - 1, 0, -1):
        up = sparse.csr_array(
            (np.ones(len(parents[index])), (parents[index], np.arange(len(parents[index])))),
            shape=(len(parents[index - 1]), len(parents[index])),
        )
        counts, texts = sparse.csr_array(up @ counts), up @ texts
        levels.insert(0, Level(parents[index - 1], counts, texts))
    return levels


class TermScores:
    """Scores of terms by class TF-IDF: frequency in a region, lift over its siblings, rarity on the map."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.share = np.asarray(terms.counts.sum(axis=0)).ravel() / max(int(terms.texts.sum()), 1)
        self._rarity = np.sqrt(-np.log(np.maximum(self.share, 1e-12)))
        self.is_phrase = terms.parts[:, 0] != terms.parts[:, 1]
        words = np.array([says_something(word) for word in terms.spellings], dtype=bool)
        short = np.array([len(word) <= SHORT and word.islower() for word in terms.spellings], dtype=bool)
        ends_short = self.is_phrase & (short & (self.share > COMMON))[terms.parts].any(axis=1)
        particle = np.array([len(word) < SHORT and word.islower() for word in terms.spellings], dtype=bool)
        particle &= self.share > COMMON
        self._refused = ~words | ~words[terms.parts[:, 0]] | ends_short | particle

    def best(self, level: Level, region: int, group: tuple[AnyArray, int]) -> list[tuple[float, int, int]]:
        """Return (score, term, texts with it) of the best terms. group: counts and texts of the region's siblings."""
        row = slice(level.counts.indptr[region], level.counts.indptr[region + 1])
        used, counts = level.counts.indices[row], level.counts.data[row]
        texts = max(int(level.texts[region]), 1)
        share = counts / texts
        elsewhere = group[0][used] - counts + PRIOR * self.share[used]
        lift = share / np.maximum(elsewhere / (group[1] - texts + PRIOR), 0.2 / (group[1] + PRIOR))
        good = (lift >= MIN_LIFT) & (share >= MIN_SHARE) & ~self._refused[used] & (counts >= min(2, texts))
        good &= ~self._is_common(used, share, texts)
        used, counts = used[good], counts[good]
        scores = share[good] * np.log(np.minimum(lift[good], MAX_LIFT)) * self._rarity[used]
        order = np.lexsort((used, -scores))[:CANDIDATES]
        return [(float(scores[i]), int(used[i]), int(counts[i])) for i in order]

    def _is_common(self, used: AnyArray, share: AnyArray, texts: int) -> AnyArray:
        """Return which terms hold a word that is common on the map and hardly more frequent in the region."""
        in_region = np.zeros(len(self.share))
        in_region[used] = share
        most = max(int(self.terms.texts.sum()), 1) / texts
        needed = np.minimum(MIN_LIFT + LIFT_BY_SHARE * self.share, MAX_NEEDED * most)
        common = (self.share > COMMON) & (in_region < needed * self.share)
        return np.asarray(common[self.terms.parts[used]].any(axis=1))


def says_something(word: str) -> bool:
    """Return whether a term has more than one character, and letters."""
    return len(word) > 1 and any(map(str.isalpha, word))


def same_stem(first: str, second: str) -> bool:
    """Return whether two words seem to be forms of one word, such as recall and recalled."""
    first, second = first.casefold(), second.casefold()
    shorter, longer = sorted((first, second), key=len)
    if (
        shorter == longer
        or longer.removesuffix("s").rstrip("'\u2019") == shorter
        or (UNSPACED_ONLY.match(shorter) and shorter in longer)
    ):
        return True
    stem = shorter[:-1] if len(shorter) > SHORTEST_STEM and shorter[-1] in "ey" else shorter
    return len(shorter) >= SHORTEST_STEM and longer.startswith(stem) and len(longer) - len(shorter) <= SHORTEST_STEM - 1


def says_the_same(first: str, second: str) -> bool:
    """Return whether two terms have a word in common, in any form."""
    if UNSPACED_ONLY.fullmatch(first) and UNSPACED_ONLY.fullmatch(second):
        return bool(set(first) & set(second))
    firsts, seconds = first.split(), second.split()
    return any(same_stem(a, b) for a in firsts for b in seconds)


def with_phrases(candidates: list[tuple[float, int, int]], scores: TermScores) -> list[tuple[float, str]]:
    """Replace words by the phrases that they mostly occur in, and pairs of characters by what they are parts of."""
    terms = scores.terms
    phrases = [(count, number) for _, number, count in candidates if scores.is_phrase[number]]
    listed = []
    for score, number, count in candidates:
        whole, weight = number, 1.0
        if not scores.is_phrase[number]:
            around = [(n, p) for n, p in phrases if number in terms.parts[p] and n >= WHOLE_PHRASE * count]
            whole = max(around)[1] if around else number
        elif not any(count >= WHOLE_PHRASE * n for _, word, n in candidates if word in terms.parts[number]):
            weight = WHOLE_PHRASE  # a phrase of words that mostly occur without each other
        listed.append((weight * score, terms.spellings[whole]))
    pairs = [(term[2], number, terms.spellings[number]) for term in candidates for number in [term[1]]]
    return [(score, join_characters(text, pairs)) for score, text in listed]


def join_characters(text: str, pairs: list[tuple[int, int, str]]) -> str:
    """Extend a pair of characters by overlapping pairs that are as frequent."""
    if len(text) != 2 or not UNSPACED_ONLY.fullmatch(text):  # noqa: PLR2004 - a pair
        return text
    counts = {spelling: count for count, _, spelling in pairs}
    least = WHOLE_PHRASE * counts.get(text, 0)
    for _ in range(SHORTEST_STEM):
        after = [pair for pair, count in counts.items() if pair[0] == text[-1] and len(pair) == 2 and count >= least]  # noqa: PLR2004
        before = [pair for pair, count in counts.items() if pair[-1] == text[0] and len(pair) == 2 and count >= least]  # noqa: PLR2004
        if after and after[0] not in text:
            text += after[0][1]
        elif before and before[0] not in text:
            text = before[0][0] + text
        else:
            break
    return text


@dataclass(frozen=True)
class RankedTerms:
    """Distinct terms of a region, the most important first."""

    terms: tuple[str, ...]
    enough: int  # so many of them make a name; the others tell it from an equal one


def rank_terms(candidates: list[tuple[float, str]], parent: tuple[str, ...]) -> RankedTerms:
    """Return distinct terms in order of their scores; those of the parent's name count less."""
    weighed = [
        (score * (IN_PARENT if any(says_the_same(term, other) for other in parent) else 1.0), term)
        for score, term in candidates
    ]
    weighed.sort(key=lambda item: -item[0])
    chosen: list[str] = []
    enough = 0
    for score, term in weighed:
        if not any(says_the_same(term, other) for other in chosen):
            chosen.append(term)
            enough += len(chosen) <= MAX_TERMS and score >= MIN_SCORE * weighed[0][0]
    return RankedTerms(tuple(chosen), enough)


def name_by_terms(terms: Terms, parents: list[AnyArray]) -> list[list[RankedTerms]]:
    """Return the terms of each region of each level. parents: for each level, the positions of the parents above."""
    scores = TermScores(terms)
    named: list[list[RankedTerms]] = []
    levels = roll_up(terms, parents)
    for depth, level in enumerate(levels):
        siblings = sums_of_siblings(level)
        names = []
        for region, parent in enumerate(level.parents.tolist()):
            candidates = with_phrases(scores.best(level, region, siblings[parent]), scores)
            above = named[depth - 1][parent] if depth else RankedTerms((), 0)
            names.append(rank_terms(candidates, above.terms[: above.enough]))
        named.append(names)
    return named


def sums_of_siblings(level: Level) -> dict[int, tuple[AnyArray, int]]:
    """Return for each parent the counts and texts of all its children together."""
    sums = {}
    for parent in np.unique(level.parents).tolist():
        children = np.flatnonzero(level.parents == parent)
        sums[parent] = (np.asarray(level.counts[children].sum(axis=0)).ravel(), int(level.texts[children].sum()))
    return sums
