"""20 Newsgroups: the by-date folders or archive, each post as the mean of its words' vectors."""

import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.data.loaded import Loaded, check_labels, first_file, read_arrays, read_texts
from experiments.data.word_vectors import describe, find_vectors
from pixelsne.files.errors import FileError

GROUPS = (
    "alt.atheism",
    "comp.graphics",
    "comp.os.ms-windows.misc",
    "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware",
    "comp.windows.x",
    "misc.forsale",
    "rec.autos",
    "rec.motorcycles",
    "rec.sport.baseball",
    "rec.sport.hockey",
    "sci.crypt",
    "sci.electronics",
    "sci.med",
    "sci.space",
    "soc.religion.christian",
    "talk.politics.guns",
    "talk.politics.mideast",
    "talk.politics.misc",
    "talk.religion.misc",
)
TOP_LEVEL = tuple(dict.fromkeys(group.partition(".")[0] for group in GROUPS))  # the paper's seven
PARTS = ("20news-bydate-train", "20news-bydate-test")
ARCHIVES = ("20news-bydate.tar", "20news-bydate.tgz")


def top_level_groups(groups: list[str]) -> np.ndarray:
    """Return (n) indices of the seven top-level groups."""
    return np.array([TOP_LEVEL.index(group.partition(".")[0]) for group in groups])


def load(folder: Path) -> Loaded | None:
    return load_posts(folder) or load_npz(folder)


def load_posts(folder: Path) -> Loaded | None:
    found = find_posts(folder)
    if found is None:
        return None
    location, posts = found
    groups, texts = [], []
    for group, text in posts:
        groups.append(group)
        texts.append(text)
    check_groups(location, groups)
    vectors = find_vectors(folder)
    if vectors is None:
        raise FileError(folder, "has the posts of 20 Newsgroups, but no word vectors; see experiments/README.md")
    values, _ = describe(texts, vectors)
    return Loaded(values, top_level_groups(groups), TOP_LEVEL, f"{location.name}, {vectors.name}", texts)


def check_groups(location: Path, groups: list[str]) -> None:
    present = set(groups)
    unknown, missing = present - set(GROUPS), set(GROUPS) - present
    if unknown or missing:
        problem = (
            f"lacks {', '.join(sorted(missing))}" if missing else f"has unknown groups {', '.join(sorted(unknown))}"
        )
        raise FileError(location, f"is not all of 20 Newsgroups: it {problem}")


def find_posts(folder: Path) -> tuple[Path, Iterator[tuple[str, str]]] | None:
    """Return the group and text of every post."""
    locations = [folder, folder / "20news-bydate"]
    for location in locations:
        present = [part for part in PARTS if (location / part).is_dir()]
        if len(present) == 1:
            raise FileError(location, f"has {present[0]} only; both parts are needed: {', '.join(PARTS)}")
        if present:
            return location, posts_in_folders(location)
    archive = first_file(folder, *ARCHIVES)
    return None if archive is None else (archive, posts_in_archive(archive))


def posts_in_folders(location: Path) -> Iterator[tuple[str, str]]:
    for part in PARTS:
        for path in sorted((location / part).glob("*/*")):
            yield path.parent.name, path.read_text(encoding="latin-1")


def posts_in_archive(path: Path) -> Iterator[tuple[str, str]]:
    """Read the archive without unpacking it to disk."""
    missing = set(PARTS)
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                parts = Path(member.name).parts
                if member.isfile() and len(parts) >= 3 and parts[-3] in PARTS:
                    file = archive.extractfile(member)
                    if file is not None:
                        missing.discard(parts[-3])
                        yield parts[-2], file.read().decode("latin-1")
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise FileError(path, f"is damaged or cut off: {error}") from None
    if missing:
        raise FileError(path, f"has no posts of {', '.join(sorted(missing))}")


def load_npz(folder: Path) -> Loaded | None:
    """Read posts that are mean vectors already."""
    path = first_file(folder, "news20.npz")
    if path is None:
        return None
    values, labels = read_arrays(path, "X_glove100", "y")
    groups = [GROUPS[label] for label in check_labels(path, labels, len(values), len(GROUPS))]
    texts = read_texts(first_file(folder, "news20.texts.jsonl"), len(values))
    return Loaded(
        values.astype(np.float32),
        top_level_groups(groups),
        TOP_LEVEL,
        path.name,
        texts,
        "GloVe vectors of 100 dimensions in place of word2vec's of 300",
    )
