"""Every data set by name: found in a folder, reduced to 50 dimensions once, kept in the cache."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data import faces, headlines, mnist, newsgroups, reviews
from experiments.data.loaded import Loaded, first_file
from experiments.places import CACHE
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
    """Rows in random order (files are often sorted), or the first n of that order."""

    points: Any  # (n, 50 or fewer) float32
    labels: Any  # (n)
    about: dict[str, Any]  # names, source, stands_for, fingerprint
    texts: list[str]  # (n), or none


def home(name: str) -> Path:
    return CACHE / name


def prepare(name: str, folder: Path) -> dict[str, Any]:
    """Reads and reduces a data set unless the cache has it; returns what is known about it."""
    about = home(name) / "about.json"
    if not about.exists():
        loaded = LOADERS[name](folder)
        if loaded is None:
            raise FileNotFoundError(f"{folder} has none of the files of {TITLES[name]}; see experiments/README.md")
        keep(name, loaded)
    return dict(json.loads(about.read_text(encoding="utf-8")))


def takes_long(name: str, folder: Path) -> bool:
    """Whether a network must be trained, or millions of reviews read, before the data set is there."""
    if (home(name) / "about.json").exists():
        return False
    return name == "facexp" or (name == "yelp" and first_file(folder, *reviews.NAMES) is not None)


def keep(name: str, loaded: Loaded) -> None:
    """Everything else first: where about.json is, all is."""
    place = home(name)
    place.mkdir(parents=True, exist_ok=True)
    points = reduce(loaded.values, DIMENSIONS, 0)
    np.save(place / "points.npy", points)
    np.save(place / "labels.npy", loaded.labels)
    (place / "texts.json").write_text(json.dumps(loaded.texts), encoding="utf-8")
    about = {
        "points": len(points),
        "names": loaded.names,
        "source": loaded.source,
        "stands_for": loaded.stands_for,
        "fingerprint": hashlib.sha256(points.tobytes() + np.asarray(loaded.labels).tobytes()).hexdigest()[:16],
    }
    (place / "about.json").write_text(json.dumps(about), encoding="utf-8")


def open_prepared(name: str, n: int | None = None, *, subset: int = 0) -> Prepared:
    """Of what `prepare` kept, all or n rows; `subset` chooses which."""
    place = home(name)
    points, labels = (np.load(place / f"{part}.npy", mmap_mode="r") for part in ("points", "labels"))
    order = np.random.default_rng(subset).permutation(len(points))[:n]
    texts = json.loads((place / "texts.json").read_text(encoding="utf-8"))
    about = json.loads((place / "about.json").read_text(encoding="utf-8"))
    chosen = [texts[row] for row in order] if texts else []
    return Prepared(points[order], labels[order], about, chosen)
