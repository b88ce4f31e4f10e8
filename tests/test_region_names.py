"""Names of regions: planted words are found, in any script; bad texts do no harm."""

import numpy as np
import pyarrow as pa
import pytest

from pixelsne.region_names import name_regions
from pixelsne.region_texts import Vocabulary, tokens_of
from pixelsne.regions import Region, Regions

COMMON = ["the", "of", "and", "to", "in", "for", "with", "on"]


def regions_of_codes(*levels):
    """Return regions from the region of each row at each level, 0 upward; -1 for none."""
    regions, indices, first, above = [], [], 0, 0
    for level, codes in enumerate(map(np.array, levels), 1):
        for code in range(codes.max() + 1):
            rows = np.flatnonzero(codes == code)
            parent = -1 if level == 1 else above + int(levels[level - 2][rows[0]])
            regions.append(Region(level, "", (0.0, 0.0), len(rows), parent, (int(rows[0]),), "#3764de"))
        indices.append(np.where(codes >= 0, codes + first, -1).astype(np.int32))
        above, first = first, first + codes.max() + 1
    return Regions(tuple(regions), tuple(indices))


def names_of(texts, *levels, names="text"):
    named = name_regions(regions_of_codes(*levels), pa.table({"text": pa.array(texts)}), names)
    return [region.name for region in named.regions]


def made_up(words, count, seed):
    """Return texts of common words, each with two of some words."""
    random = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        parts = [*random.choice(COMMON, 6), *random.choice(words, 2, replace=len(words) < 2)]
        texts.append(" ".join(random.permutation(parts)))
    return texts


def topics(*words, count=60):
    texts = [text for seed, chosen in enumerate(words) for text in made_up(chosen, count, seed)]
    return texts, np.repeat(np.arange(len(words)), count)


@pytest.mark.parametrize(
    "words",
    [
        (["recall", "ignition", "Chevrolet"], ["Snowden", "NSA", "leak"], ["Ebola", "virus", "vaccine"]),
        (["музыка", "концерт", "гитара"], ["футбол", "вратарь", "матч"], ["погода", "дождь", "снег"]),
        (["موسيقى", "حفلة"], ["طقس", "مطر"], ["كرة", "ملعب"]),
        (["संगीत", "गाना"], ["मौसम", "बारिश"], ["खेल", "मैदान"]),
    ],
    ids=["Latin", "Cyrillic", "Arabic", "Devanagari"],
)
def test_planted_words_are_found(words):
    texts, codes = topics(*words)
    for chosen, name in zip(words, names_of(texts, codes), strict=True):
        terms = name.split(" · ")
        assert 1 <= len(terms) <= 3
        assert {word for term in terms for word in term.split()} <= set(chosen)


def test_chinese_texts_without_spaces():
    topic = ["今天的机器学习很好", "我们的足球比赛很好", "他们的天气预报很好"]
    others = ["在这里", "很快", "大家都", "现在", "非常"]
    random = np.random.default_rng(0)
    texts = [text + "".join(random.permutation(others)) for text in topic for _ in range(40)]
    names = names_of(texts, np.repeat([0, 1, 2], 40))
    for planted, name in zip(["机器学习", "足球比赛", "天气预报"], names, strict=True):
        assert set(name) & set(planted)
        assert "很好" not in name


def test_phrases_stand_for_their_words():
    texts = [f"the Hong Kong market and {word}" for word in "abcdefgh" * 5] + made_up(["rain", "snow"], 40, 0)
    names = names_of(texts, np.repeat([0, 1], 40))
    assert names[0].split(" · ")[0] == "Hong Kong"


def test_frequent_spelling_is_kept():
    texts = ["GM recalls", "GM recalls", "gm recalls"] * 10 + ["rain falls"] * 30
    assert "GM" in " ".join(names_of(texts, np.repeat([0, 1], 30))).split()


def test_children_say_more_than_their_parents():
    words = [["GM", "ignition"], ["GM", "airbag"], ["Ebola", "vaccine"], ["Ebola", "Liberia"]]
    texts, codes = topics(*words)
    names = names_of(texts, codes // 2, codes)
    assert "GM" in names[0]
    assert "Ebola" in names[1]
    assert [name.split(" · ")[0] for name in names[2:]] == ["ignition", "airbag", "vaccine", "Liberia"]


def test_equal_names_are_told_apart_by_further_words():
    texts = ["rain falls north"] * 40 + ["rain falls south"] * 40 + ["sun shines"] * 80
    names = names_of(texts, np.repeat([0, 1, 2, 3], 40))
    assert names[0] != names[1]


@pytest.mark.parametrize(
    "texts",
    [
        [""] * 40,
        [None] * 40,
        ["same"] * 40,
        ["1234 5678"] * 40,
        ["word " * 20_000] * 40,
        ["x" * 100_000] * 40,
        ["<script>alert(1)</script> & <b>bold</b>"] * 40,
        ["\u202e\u05e9\u05dc\u05dd \u05e2\u05dc\u05dd\u202c"] * 40,
        ["😀 🎉 · … —"] * 40,
        ["\x00\n\t\r"] * 40,
        ["a"] * 39 + [None],
    ],
    ids=["empty", "None", "same", "numbers", "100 kB", "one word", "markup", "Hebrew", "emoji", "control", "letter"],
)
def test_bad_texts(texts):
    names = names_of(pa.array(texts, pa.string()), np.repeat([0, 1], 20))
    assert len(names) == 2
    assert not any("<" in name or "\n" in name or len(name) > 80 for name in names)


def test_markup_and_addresses_are_no_words():
    tokens = tokens_of("<p>Hello</p> https://example.org/x me@example.org &nbsp; world")
    assert [token for token in tokens if token[0].isalpha()] == ["Hello", "world"]


def test_vocabulary_numbers_tokens_in_order():
    vocabulary = Vocabulary()
    assert [vocabulary[token] for token in ("a", "b", "a", "c")] == [0, 1, 0, 2]


def name_by(columns, codes, names="auto"):
    named = name_regions(regions_of_codes(codes), pa.table(columns), names)
    return [region.name for region in named.regions]


def test_dominant_categories_name_regions():
    codes = np.repeat([0, 1, 2], 40)
    kind = np.array(["cat", "dog", "bird"])[codes]
    kind[::10] = "other"
    assert name_by({"kind": kind.tolist()}, codes) == ["cat", "dog", "bird"]
    both = ["cat", "dog"] * 20 + ["bird"] * 80
    assert name_by({"kind": both}, codes) == ["cat · dog", "bird", "bird"]


def test_notable_numbers_and_dates_name_regions():
    codes = np.repeat([0, 1, 2], 40)
    random = np.random.default_rng(0)
    price = random.normal([[3000.0], [20.0], [1.0]], 0.1, (3, 40)).ravel()
    day = np.datetime64("2020-01-15") + np.repeat([0, 2000, 4000], 40)
    names = name_by({"price": price, "day": day}, codes, "price")
    assert names[0] == "price 3,000"
    assert "2030-12" in name_by({"day": day}, codes)[2]


def test_auto_prefers_texts_but_not_of_too_many_rows(monkeypatch):
    texts, codes = topics(["recall", "ignition"], ["Snowden", "NSA"])
    columns = {"kind": np.array(["x", "y"])[codes].tolist(), "text": texts}
    assert "Snowden" in name_by(columns, codes)[1]
    monkeypatch.setattr("pixelsne.region_names.MAX_TEXTS", 100)
    assert name_by(columns, codes) == ["x", "y"]
    assert "Snowden" in name_by(columns, codes, "text")[1]


def test_own_names():
    codes = np.repeat([0, 1], 20)
    assert name_by({"a": codes}, codes, "none") == ["", ""]
    assert name_by({"a": codes}, codes, {0: "one", (1, 1): "two"}) == ["one", "two"]
    assert name_by({"a": codes}, codes, {0: "same", 1: "same"}) == ["same", "same"]
    labels = np.array(["left", "right"], dtype=object)[codes]
    labels[:5] = None
    assert name_by({"a": codes}, codes, labels) == ["left", "right"]
    for wrong in ({2: "x"}, {(1, 2): "x"}, {(2, 0): "x"}, {"a": "x"}, {-1: "x"}):
        with pytest.raises(ValueError, match="no such region"):
            name_by({"a": codes}, codes, wrong)
    with pytest.raises(ValueError, match="one label for each of the 40 rows"):
        name_by({"a": codes}, codes, ["x"] * 3)
    with pytest.raises(ValueError, match="columns are a"):
        name_by({"a": codes}, codes, "missing")


def test_progress_is_reported():
    texts, codes = topics(["recall", "ignition"], ["Snowden", "NSA"])
    fractions = []
    name_regions(regions_of_codes(codes), pa.table({"text": texts}), "text", fractions.append)
    assert fractions
    assert all(0 <= fraction <= 1 for fraction in fractions)


def test_map_without_regions_or_columns_has_no_names():
    assert name_regions(Regions((), ()), None).regions == ()
    assert [region.name for region in name_regions(regions_of_codes([0, 0, 1]), None).regions] == ["", ""]
