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
HIGHER = tuple(dict.fromkeys(group.partition(".")[0] for group in GROUPS))  # the paper's seven
PARTS = ("20news-bydate-train", "20news-bydate-test")
ARCHIVES = ("20news-bydate.tar", "20news-bydate.tgz")


def higher(groups: list[str]) -> np.ndarray:
    """(n): which of the seven."""
    return np.array([HIGHER.index(group.partition(".")[0]) for group in groups])


def load(folder: Path) -> Loaded | None:
    return load_posts(folder) or load_npz(folder)


def load_posts(folder: Path) -> Loaded | None:
    found = find_posts(folder)
    if found is None:
        return None
    place, posts = found
    groups, texts = [], []
    for group, text in posts:
        groups.append(group)
        texts.append(text)
    check_groups(place, groups)
    vectors = find_vectors(folder)
    if vectors is None:
        raise FileError(folder, "has the posts of 20 Newsgroups, but no word vectors; see experiments/README.md")
    values, _ = describe(texts, vectors)
    return Loaded(values, higher(groups), HIGHER, f"{place.name}, {vectors.name}", texts)


def check_groups(place: Path, groups: list[str]) -> None:
    there = set(groups)
    unknown, missing = there - set(GROUPS), set(GROUPS) - there
    if unknown or missing:
        told = f"lacks {', '.join(sorted(missing))}" if missing else f"has unknown groups {', '.join(sorted(unknown))}"
        raise FileError(place, f"is not all of 20 Newsgroups: it {told}")


def find_posts(folder: Path) -> tuple[Path, Iterator[tuple[str, str]]] | None:
    """Group and text of every post."""
    places = [folder, folder / "20news-bydate"]
    for place in places:
        there = [part for part in PARTS if (place / part).is_dir()]
        if len(there) == 1:
            raise FileError(place, f"has {there[0]} only; both parts are needed: {', '.join(PARTS)}")
        if there:
            return place, posts_in_folders(place)
    archive = first_file(folder, *ARCHIVES)
    return None if archive is None else (archive, posts_in_archive(archive))


def posts_in_folders(place: Path) -> Iterator[tuple[str, str]]:
    for part in PARTS:
        for path in sorted((place / part).glob("*/*")):
            yield path.parent.name, path.read_text(encoding="latin-1")


def posts_in_archive(path: Path) -> Iterator[tuple[str, str]]:
    """Read in place: nothing is unpacked to disk."""
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
    """Posts that somebody has averaged already."""
    path = first_file(folder, "news20.npz")
    if path is None:
        return None
    values, labels = read_arrays(path, "X_glove100", "y")
    groups = [GROUPS[label] for label in check_labels(path, labels, len(values), len(GROUPS))]
    texts = read_texts(first_file(folder, "news20.texts.jsonl"), len(values))
    return Loaded(
        values.astype(np.float32),
        higher(groups),
        HIGHER,
        path.name,
        texts,
        "GloVe vectors of 100 dimensions in place of word2vec's of 300",
    )
