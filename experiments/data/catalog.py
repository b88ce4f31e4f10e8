"""Every data set by name: found in a folder, reduced to 50 dimensions once, stored in the cache."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data import faces, headlines, mnist, newsgroups, reviews
from experiments.data.loaded import Loaded, first_file
from experiments.paths import CACHE
from pixelsne.reduce import reduce

DIMENSIONS = 50

LOADERS: dict[str, Callable[[Path], Loaded | None]] = {
    "20news": newsgroups.load,
    "facexp": faces.load,
    "mnist": mnist.load,
    "newsagg": headlines.load,
    "yelp": reviews.load,
}
TITLES = {"20news": "20News", "facexp": "FacExp", "mnist": "MNIST", "newsagg": "NewsAgg", "yelp": "Yelp"}


@dataclass(frozen=True)
class Prepared:
    """Rows in random order (files are often sorted), or the first n of them."""

    points: Any  # (n, 50 or fewer) float32
    labels: Any  # (n)
    about: dict[str, Any]  # names, source, stands_for, fingerprint
    texts: list[str]  # (n), or empty


def cache_folder(name: str) -> Path:
    return CACHE / name


def prepare(name: str, folder: Path) -> dict[str, Any]:
    """Read and reduce a data set unless it is in the cache; return its description."""
    about = cache_folder(name) / "about.json"
    if not about.exists():
        loaded = LOADERS[name](folder)
        if loaded is None:
            raise FileNotFoundError(f"{folder} has none of the files of {TITLES[name]}; see experiments/README.md")
        store(name, loaded)
    return dict(json.loads(about.read_text(encoding="utf-8")))


def takes_long(name: str, folder: Path) -> bool:
    """Return whether a network must be trained, or millions of reviews read, to prepare the data set."""
    if (cache_folder(name) / "about.json").exists():
        return False
    return name == "facexp" or (name == "yelp" and first_file(folder, *reviews.NAMES) is not None)


def store(name: str, loaded: Loaded) -> None:
    """Store a data set. about.json is written last, so that it marks a complete set."""
    folder_of_set = cache_folder(name)
    folder_of_set.mkdir(parents=True, exist_ok=True)
    points = reduce(loaded.values, DIMENSIONS, 0)
    np.save(folder_of_set / "points.npy", points)
    np.save(folder_of_set / "labels.npy", loaded.labels)
    (folder_of_set / "texts.json").write_text(json.dumps(loaded.texts), encoding="utf-8")
    about = {
        "points": len(points),
        "names": loaded.names,
        "source": loaded.source,
        "stands_for": loaded.stands_for,
        "fingerprint": hashlib.sha256(points.tobytes() + np.asarray(loaded.labels).tobytes()).hexdigest()[:16],
    }
    (folder_of_set / "about.json").write_text(json.dumps(about), encoding="utf-8")


def open_prepared(name: str, n: int | None = None, *, subset: int = 0) -> Prepared:
    """Return all or n random rows of a prepared data set; another `subset` gives another sample."""
    folder_of_set = cache_folder(name)
    points, labels = (np.load(folder_of_set / f"{part}.npy", mmap_mode="r") for part in ("points", "labels"))
    order = np.random.default_rng(subset).permutation(len(points))[:n]
    texts = json.loads((folder_of_set / "texts.json").read_text(encoding="utf-8"))
    about = json.loads((folder_of_set / "about.json").read_text(encoding="utf-8"))
    selected_texts = [texts[row] for row in order] if texts else []
    return Prepared(points[order], labels[order], about, selected_texts)
