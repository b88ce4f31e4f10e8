"""Loaders of the paper's texts: files as published, complete, partial and damaged."""

import csv
import gzip
import io
import json
import tarfile

import numpy as np
import pytest

from experiments.data import headlines, newsgroups, reviews, word_vectors
from pixelsne.files.errors import FileError

VECTORS = {"Stocks": [1.0, 0.0, 0.0], "fall": [0.0, 1.0, 0.0], "virus": [0.0, 0.0, 1.0], "unused": [9.0, 9.0, 9.0]}


def write_vectors(path, vectors, end=b""):
    """Write word2vec's binary format. Its own program ends a vector with a line break, published files often do not."""
    dimensions = len(next(iter(vectors.values())))
    body = b"".join(word.encode() + b" " + np.array(v, "<f4").tobytes() + end for word, v in vectors.items())
    path.write_bytes(f"{len(vectors)} {dimensions}\n".encode() + body)


class TestWordVectors:
    def test_means_of_known_words_as_written_or_in_lower_case(self, tmp_path):
        write_vectors(tmp_path / "GoogleNews-vectors-negative300.bin", VECTORS)
        path = word_vectors.find_vectors(tmp_path)
        values, known = word_vectors.describe(["Stocks FALL!", "Nothing known", "virus, virus; fall"], path)
        assert np.allclose(values, [[0.5, 0.5, 0], [0, 0, 0], [0, 1 / 3, 2 / 3]])
        assert known.tolist() == [True, False, True]

    @pytest.mark.parametrize("end", [b"", b"\n"])
    def test_glove_and_word2vec_files_give_equal_vectors(self, tmp_path, end):
        write_vectors(tmp_path / "w.bin", VECTORS, end)
        lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in VECTORS.items()]
        (tmp_path / "glove.txt").write_text("".join(lines), encoding="utf-8")
        words = {"Stocks", "virus"}
        binary = word_vectors.read_vectors(tmp_path / "w.bin", words)
        text = word_vectors.read_vectors(tmp_path / "glove.txt", words)
        assert binary.keys() == text.keys() == words  # no other words
        assert all(np.array_equal(binary[word], text[word]) for word in words)

    def test_words_may_contain_spaces(self, tmp_path):
        (tmp_path / "glove.txt").write_text("a 1 2\n. . . 3 4\n", encoding="utf-8")
        assert word_vectors.read_vectors(tmp_path / "glove.txt", {". . ."})[". . ."].tolist() == [3, 4]

    @pytest.mark.parametrize("cut", [1, 10, 20, 45])
    def test_a_truncated_binary_file_is_refused(self, tmp_path, cut):
        path = tmp_path / "w.bin"
        write_vectors(path, VECTORS)
        path.write_bytes(path.read_bytes()[: -cut - 1])
        with pytest.raises(FileError, match="cut off"):
            word_vectors.read_vectors(path, {"fall"})

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("w.bin", b"hello", "does not begin"),
            ("w.bin", b"1 99999999\nword ", "claims vectors"),
            ("w.bin", b"1 3\n" + b"x" * 5000, "damaged in word 1"),
            ("w.txt", b"a 1 2\nb 1\n", "line 2"),
            ("w.txt", b"a 1 x\n", "line 1: not all values"),
        ],
    )
    def test_damaged_files_are_refused(self, tmp_path, name, content, message):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileError, match=message):
            word_vectors.read_vectors(tmp_path / name, {"a"})

    def test_texts_without_known_words_are_refused(self, tmp_path):
        write_vectors(tmp_path / "w.bin", VECTORS)
        with pytest.raises(FileError, match="none of the words"):
            word_vectors.describe(["ganz anders"], tmp_path / "w.bin")


class TestNewsgroups:
    def posts(self, folder):
        for part, words in (("20news-bydate-train", "Stocks fall"), ("20news-bydate-test", "virus")):
            for group in newsgroups.GROUPS:
                directory = folder / part / group
                directory.mkdir(parents=True)
                (directory / "101").write_bytes(f"From: caf\xe9\n{words}".encode("latin-1"))
        return folder

    def archive(self, source, target):
        with tarfile.open(target, "w:gz") as archive:
            for part in newsgroups.PARTS:
                archive.add(source / part, arcname=part)

    def test_newsgroups_have_seven_top_level_groups(self):
        assert newsgroups.TOP_LEVEL == ("alt", "comp", "misc", "rec", "sci", "soc", "talk")

    def test_folders_and_archive_give_equal_posts(self, tmp_path):
        folder = self.posts(tmp_path / "folder")
        packed = tmp_path / "packed"
        packed.mkdir()
        self.archive(folder, packed / "20news-bydate.tar.gz")
        for directory in (folder, packed):
            write_vectors(directory / "GoogleNews-vectors-negative300.bin", VECTORS)
        first, second = newsgroups.load(folder), newsgroups.load(packed)
        assert first.values.shape == (40, 3)
        assert np.array_equal(first.values, second.values)
        assert np.array_equal(first.labels, second.labels)
        assert first.texts == second.texts
        assert np.bincount(first.labels).tolist() == [2, 10, 2, 8, 8, 2, 8]

    def test_a_missing_part_or_group_is_named(self, tmp_path):
        folder = self.posts(tmp_path)
        (folder / "20news-bydate-test").rename(folder / "elsewhere")
        with pytest.raises(FileError, match="both parts"):
            newsgroups.load(folder)
        (folder / "elsewhere").rename(folder / "20news-bydate-test")
        for part in newsgroups.PARTS:
            (folder / part / "sci.med" / "101").unlink()
        with pytest.raises(FileError, match=r"lacks sci\.med"):
            newsgroups.load(folder)

    def test_missing_word_vectors_are_named(self, tmp_path):
        with pytest.raises(FileError, match="no word vectors"):
            newsgroups.load(self.posts(tmp_path))

    def test_an_archive_with_one_part_is_refused(self, tmp_path):
        folder = self.posts(tmp_path / "folder")
        with tarfile.open(tmp_path / "20news-bydate.tar.gz", "w:gz") as archive:
            archive.add(folder / "20news-bydate-train", arcname="20news-bydate-train")
        with pytest.raises(FileError, match="no posts of 20news-bydate-test"):
            newsgroups.load(tmp_path)

    def test_a_damaged_archive_is_refused(self, tmp_path):
        self.archive(self.posts(tmp_path / "folder"), tmp_path / "20news-bydate.tar.gz")
        path = tmp_path / "20news-bydate.tar.gz"
        content = bytearray(path.read_bytes())
        content[100:200] = bytes(100)
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"20news-bydate\.tar\.gz"):
            newsgroups.load(tmp_path)

    def test_a_truncated_archive_is_refused(self, tmp_path):
        self.archive(self.posts(tmp_path / "folder"), tmp_path / "20news-bydate.tar.gz")
        path = tmp_path / "20news-bydate.tar.gz"
        path.write_bytes(path.read_bytes()[:400])
        with pytest.raises(FileError, match="damaged or cut off"):
            newsgroups.load(tmp_path)

    def test_npz_files_with_texts_are_read(self, tmp_path):
        np.savez(tmp_path / "news20.npz", X_glove100=np.ones((3, 5), np.float16), y=np.array([0, 1, 19]))
        with gzip.open(tmp_path / "news20.texts.jsonl.gz", "wt") as file:
            file.writelines(json.dumps({"text": f"post {k}"}) + "\n" for k in range(3))
        loaded = newsgroups.load(tmp_path)
        assert [newsgroups.TOP_LEVEL[label] for label in loaded.labels] == ["alt", "comp", "talk"]
        assert loaded.texts == ["post 0", "post 1", "post 2"]
        with gzip.open(tmp_path / "news20.texts.jsonl.gz", "wt") as file:
            file.write('{"text": "one"}\n')
        with pytest.raises(FileError, match="1 texts where 3"):
            newsgroups.load(tmp_path)


class TestHeadlines:
    ROWS = (("1", 'Stocks "fall"', "b"), ("2", "Nothing here", "e"), ("3", "virus", "m"))

    def rows(self):
        return [[number, title, "u", "p", category, "s", "h", "1"] for number, title, category in self.ROWS]

    def uci(self, folder):
        text = "".join("\t".join(row) + "\n" for row in self.rows())
        (folder / "newsCorpora.csv").write_text(text, encoding="utf-8")

    def kaggle(self, folder):
        file = io.StringIO()
        csv.writer(file).writerows([headlines.COLUMNS, *self.rows()])
        (folder / "uci-news-aggregator.csv").write_text(file.getvalue(), encoding="utf-8")

    @pytest.mark.parametrize("kind", ["uci", "kaggle"])
    def test_headlines_with_known_words(self, tmp_path, kind):
        getattr(self, kind)(tmp_path)
        write_vectors(tmp_path / "GoogleNews-vectors-negative300.bin", VECTORS)
        loaded = headlines.load(tmp_path)
        assert loaded.texts == ['Stocks "fall"', "virus"]
        assert [headlines.NAMES[label] for label in loaded.labels] == ["Business", "Health"]
        assert loaded.values.shape == (2, 3)

    @pytest.mark.parametrize(
        ("text", "message"),
        [("1\tonly\n", "row 1: 2 columns"), ("1\tt\tu\tp\tx\ts\th\t1\n", "CATEGORY, row 1"), ("", "no rows")],
    )
    def test_invalid_rows_are_named(self, tmp_path, text, message):
        (tmp_path / "newsCorpora.csv").write_text(text, encoding="utf-8")
        with pytest.raises(FileError, match=message):
            headlines.load(tmp_path)

    def test_missing_word_vectors_are_named(self, tmp_path):
        self.uci(tmp_path)
        with pytest.raises(FileError, match="no word vectors"):
            headlines.load(tmp_path)

    def test_windows_line_ends_and_a_wrong_header(self, tmp_path):
        write_vectors(tmp_path / "GoogleNews-vectors-negative300.bin", VECTORS)
        text = "".join("\t".join(row) + "\r\n" for row in self.rows()).replace("virus", "vi\rrus virus")
        (tmp_path / "newsCorpora.csv").write_bytes(text.encode())
        assert headlines.load(tmp_path).texts == ['Stocks "fall"', "vi\rrus virus"]
        (tmp_path / "newsCorpora.csv").unlink()
        (tmp_path / "uci-news-aggregator.csv").write_text("a,b,c\n1,2,3\n", encoding="utf-8")
        with pytest.raises(FileError, match="begin with the columns"):
            headlines.load(tmp_path)

    def test_npz_files_are_read(self, tmp_path):
        np.savez(tmp_path / "newsagg.npz", X_glove100=np.ones((2, 4), np.float16), y=np.array([0, 3]))
        loaded = headlines.load(tmp_path)
        assert loaded.labels.tolist() == [0, 3]
        assert "2 of 421,161" in loaded.stands_for


class TestReviews:
    @pytest.fixture
    def folder(self, tmp_path):
        """600 reviews of ten kinds. Each kind has three words that no other kind has."""
        rng = np.random.default_rng(0)
        with (tmp_path / "review.json").open("w", encoding="utf-8") as file:
            for row in range(600):
                kind = "abcdefghij"[row % 10]
                words = [f"{kind}{rng.choice(list('xyz'))}w" for _ in range(8)] + ["food", "the"]
                words += ["once"] if row == 5 else []
                file.write(json.dumps({"stars": 3, "text": " ".join(words)}) + "\n")
        return tmp_path

    def test_rare_and_general_terms_are_dropped(self, folder):
        total, terms = reviews.count_terms(folder / "review.json")
        assert total == 600
        assert sorted(terms) == sorted(f"{kind}{letter}w" for kind in "abcdefghij" for letter in "xyz")

    def test_counts_of_the_sampled_reviews(self, folder):
        _, terms = reviews.count_terms(folder / "review.json")
        counts = reviews.count_matrix(folder / "review.json", {0, 10, 11}, terms)
        assert counts.shape == (3, 30)
        assert counts.sum(axis=1).ravel().tolist() == [[8.0, 8.0, 8.0]]
        columns = [terms[f"a{letter}w"] for letter in "xyz"]
        assert counts[:, columns].sum(axis=1).ravel().tolist() == [[8.0, 8.0, 0.0]]

    def test_topics_match_the_kinds_of_reviews(self, folder):
        loaded = reviews.load_reviews(folder, 500)
        assert loaded.values.shape == (500, 30)
        assert len(loaded.names) == 10
        strongest = (
            loaded.values.toarray().reshape(500, 10, 3).sum(axis=2).argmax(axis=1)
        )  # terms are sorted: three of each kind
        pairs = np.unique(np.stack([strongest, loaded.labels]), axis=1)
        assert pairs.shape[1] <= 13  # one topic per kind, with few exceptions
        assert "500 of 600 reviews, 30 terms" in loaded.source

    @pytest.mark.parametrize("line", ["{", '{"stars": 1}', "[1]", "7"])
    def test_an_invalid_line_is_named(self, folder, line):
        with (folder / "review.json").open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        with pytest.raises(FileError, match="line 601"):
            reviews.load(folder)

    def test_too_few_reviews_are_refused(self, tmp_path):
        (tmp_path / "review.json").write_text('{"text": "one two"}\n', encoding="utf-8")
        with pytest.raises(FileError, match="no term"):
            reviews.load(tmp_path)

    def test_npz_files_are_read(self, tmp_path, random):
        centers = random.normal(0, 10, (10, 50))
        np.savez(tmp_path / "reviews1m.npz", X=centers[np.arange(200) % 10].astype(np.float16))
        loaded = reviews.load(tmp_path)
        assert loaded.values.dtype == np.float32
        assert len(np.unique(loaded.labels)) == 10
