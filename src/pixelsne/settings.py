"""Check all parameters of PixelSNE.

The stages read a `Settings`: parameters that are checked and normalized. The defaults are in the signature of
`PixelSNE`.
"""

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from pixelsne.arrays import AnyArray
from pixelsne.choices import ASPECTS, CENTERS, DUPLICATES, INITS, METRICS, REPULSIONS, SCALES, SEARCHES
from pixelsne.screen import Aspect

MIN_SIDE, MAX_SIDE = 16, 65_536  # of the screen, pixels
MAX_THREADS = 256
SCALED_METRICS = ("euclidean", "l2")  # metrics for which columns can be scaled
MIN_ROWS = 2
MIN_INIT_SCALE, MAX_INIT_SCALE = 1e-12, 1e6  # embedding units; float32 represents their squares

# Maps span hundreds of units, or thousands at a million points. Beyond this coordinate, the descent has diverged.
MAX_POSITION = 1e9

# The systems of the paper (Sec. 5.1.2). The published programs have a rate of 200 for a gradient without its factor 4,
# so the rate is 50 here.
_PAPER: dict[str, Any] = {
    "perplexity": 50.0,
    "n_pca": 50,
    "duplicates": "keep",
    "aspect": "fill",
    "init": "random",
    "early_exaggeration": 12.0,
    "early_exaggeration_iter": 250,
    "exaggeration": 1.0,
    "learning_rate": 50.0,
    "momentum": (0.5, 0.8),
    "step_limit": None,
    "max_iter": 1000,
    "tol": 0.0,
    "theta": 0.5,
}
PRESETS: dict[str, dict[str, Any]] = {
    "t-sne": {**_PAPER, "neighbors": "exact", "n_neighbors": "all", "repulsion": "exact"},
    "bh-sne": {**_PAPER, "neighbors": "vp-tree", "repulsion": "barnes-hut", "center": "mass"},
    "pixelsne-vp": {**_PAPER, "neighbors": "vp-tree", "repulsion": "pixel-tree", "center": "cell"},
    "pixelsne-rp": {**_PAPER, "neighbors": "rp-forest", "repulsion": "pixel-tree", "center": "cell"},
}


@dataclass(frozen=True)
class Settings:
    """Checked parameters. Pairs hold one value for early exaggeration and one for the iterations after it."""

    resolution: tuple[int, int]
    perplexity: tuple[float, ...] | None
    n_neighbors: int | Literal["all"] | None
    neighbors: str
    repulsion: str
    theta: float
    center: str
    aspect: Aspect
    metric: str
    scale: str
    n_pca: int | Literal["auto"] | None
    duplicates: str
    init: str | AnyArray
    init_scale: float | None  # None = the positions of init as they are
    early_exaggeration: float
    early_exaggeration_iter: int | None  # None = automatic
    exaggeration: float
    learning_rate: tuple[float | None, float | None]  # None = automatic
    momentum: tuple[float, float] | None  # None = automatic
    step_limit: float
    max_iter: int
    tol: float
    seed: int
    threads: int


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    choices = tuple(choices)
    if isinstance(value, str) and value in choices:
        return value
    listed = ", ".join(repr(choice) for choice in choices)
    raise ValueError(f"{name}={value!r} is unknown; use one of {listed}")


def check_number(name: str, value: object, low: float, high: float = math.inf, *, strict: bool = False) -> float:
    """Return a finite number in [low, high], or in (low, high] if strict."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if not math.isfinite(number) or number > high or number < low or (strict and number == low):
        bound = f"{'above' if strict else 'at least'} {low:g}" + ("" if high == math.inf else f" and at most {high:g}")
        raise ValueError(f"{name} must be a finite number {bound}, got {value!r}")
    return number


def check_count(name: str, value: object, low: int, high: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    count = int(value)
    if count < low or (high is not None and count > high):
        bound = f"{low} or more" if high is None else f"between {low} and {high}"
        raise ValueError(f"{name} must be {bound}, got {value!r}")
    return count


def too_few(rows: int) -> str:
    """Return the error text for fewer than MIN_ROWS rows."""
    return f"has {rows} row{'' if rows == 1 else 's'}; a map needs at least {MIN_ROWS}"


def is_sequence(value: object) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


def check_resolution(value: Any) -> tuple[int, int]:
    sides = tuple(value) if is_sequence(value) else (value, value)
    if len(sides) != 2:  # noqa: PLR2004
        raise ValueError(f"resolution must be a side or (width, height), got {value!r}")
    try:
        width, height = (check_count("resolution", side, MIN_SIDE, MAX_SIDE) for side in sides)
    except (TypeError, ValueError) as error:
        allowed = f"a side of {MIN_SIDE} to {MAX_SIDE} pixels, or two (width, height)"
        raise type(error)(f"resolution is the size of the screen: {allowed}; got {value!r}") from None
    return width, height


def check_metric(value: object, scale: str) -> str:
    if callable(value):
        raise TypeError(
            "metric must be a name; for a function of your own, give the distances it finds: metric='precomputed' with "
            "X = sklearn.metrics.pairwise_distances(X, metric=function)"
        )
    metric = check_choice("metric", value, METRICS)
    if scale != "none" and metric not in SCALED_METRICS:
        raise ValueError(
            f"scale={scale!r} is for metric='euclidean', got {metric!r}; scale X yourself, for example with "
            "sklearn.preprocessing.StandardScaler"
        )
    return metric


def check_perplexity(value: Any) -> tuple[float, ...] | None:
    if value is None:
        return None
    several = tuple(value) if is_sequence(value) else (value,)
    if not several:
        raise ValueError("perplexity must be a number or a list of numbers, got an empty list")
    return tuple(check_number("perplexity", perplexity, 1.0) for perplexity in several)


def check_pair(name: str, value: Any, check: Callable[[object], Any]) -> tuple[Any, Any]:
    """Return (early, late) from one value for both phases or a pair."""
    pair = tuple(value) if is_sequence(value) else (value, value)
    if len(pair) != 2:  # noqa: PLR2004
        raise ValueError(f"{name} must be one value or (early, late), got {value!r}")
    return check(pair[0]), check(pair[1])


def check_learning_rate(value: object) -> float | None:
    if isinstance(value, str):
        check_choice("learning_rate", value, ("auto",))
        return None
    return check_number("learning_rate", value, 0.0, strict=True)


def check_early_iterations(value: object) -> int | None:
    if isinstance(value, str):
        check_choice("early_exaggeration_iter", value, ("auto",))
        return None
    return check_count("early_exaggeration_iter", value, 0)


def check_momentum(value: Any) -> tuple[float, float] | None:
    if isinstance(value, str):
        check_choice("momentum", value, ("auto",))
        return None
    return check_pair("momentum", value, lambda number: check_number("momentum", number, 0.0, 0.999))


def check_neighbor_count(value: Any) -> int | Literal["all"] | None:
    if isinstance(value, str):
        check_choice("n_neighbors", value, ("all",))
        return "all"
    return None if value is None else check_count("n_neighbors", value, 1)


def check_components(value: Any) -> int | Literal["auto"] | None:
    if isinstance(value, str):
        check_choice("n_pca", value, ("auto",))
        return "auto"
    return None if value is None else check_count("n_pca", value, 1)


def check_init(value: Any) -> str | AnyArray:
    if isinstance(value, str):
        return check_choice("init", value, INITS)
    init = np.asarray(value)
    if init.ndim != 2 or init.shape[1] != 2 or init.dtype.kind not in "iuf":  # noqa: PLR2004
        listed = ", ".join(repr(choice) for choice in INITS)
        raise ValueError(f"init must be one of {listed} or an array of numbers (n, 2), got {value!r:.60}")
    finite = np.isfinite(init).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"init must be finite, got NaN or infinity in row {int(finite.argmin())}; fill these rows in, for example "
            "with the mean of the others, or pass a fitted model, which places every row"
        )
    return init


def check_init_scale(value: object, init: str | AnyArray) -> float | None:
    if value is not None:
        return check_number("init_scale", value, MIN_INIT_SCALE, MAX_INIT_SCALE)
    if isinstance(init, str):
        raise ValueError(  # noqa: TRY004 - the type of init is valid
            f"init_scale=None continues from positions, got init={init!r}; pass an array (n, 2) in embedding units, "
            "such as positions_ of another model, or a fitted model as init"
        )
    if init.size and np.abs(init).max() >= MAX_POSITION:
        raise ValueError(
            f"init has coordinates up to {np.abs(init).max():g}, which init_scale=None would take as embedding units "
            f"(below {MAX_POSITION:g}; maps span hundreds); divide them, or use a number as init_scale"
        )
    return None


def check_threads(n_jobs: Any) -> int:
    """Return the number of threads. None is one; negative numbers count from all processors: -1 is all of them."""
    if n_jobs is None:
        return 1
    jobs = check_count("n_jobs", n_jobs, -(2**31), 2**31 - 1)
    if jobs == 0:
        raise ValueError("n_jobs must not be 0; use -1 for all processors or a positive number")
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MAX_THREADS, jobs if jobs > 0 else max(1, available + 1 + jobs))


def check_settings(parameters: dict[str, Any], seed: int) -> Settings:
    """Return Settings from the constructor's parameters."""
    value_of = parameters.__getitem__
    limit = value_of("step_limit")
    scale = check_choice("scale", value_of("scale"), SCALES)
    init = check_init(value_of("init"))
    return Settings(
        resolution=check_resolution(value_of("resolution")),
        perplexity=check_perplexity(value_of("perplexity")),
        n_neighbors=check_neighbor_count(value_of("n_neighbors")),
        neighbors=check_choice("neighbors", value_of("neighbors"), SEARCHES),
        repulsion=check_choice("repulsion", value_of("repulsion"), REPULSIONS),
        theta=check_number("theta", value_of("theta"), 0.0),
        center=check_choice("center", value_of("center"), CENTERS),
        aspect="fill" if check_choice("aspect", value_of("aspect"), ASPECTS) == "fill" else "equal",
        metric=check_metric(value_of("metric"), scale),
        scale=scale,
        n_pca=check_components(value_of("n_pca")),
        duplicates=check_choice("duplicates", value_of("duplicates"), DUPLICATES),
        init=init,
        init_scale=check_init_scale(value_of("init_scale"), init),
        early_exaggeration=check_number("early_exaggeration", value_of("early_exaggeration"), 1.0),
        early_exaggeration_iter=check_early_iterations(value_of("early_exaggeration_iter")),
        exaggeration=check_number("exaggeration", value_of("exaggeration"), 0.0, strict=True),
        learning_rate=check_pair("learning_rate", value_of("learning_rate"), check_learning_rate),
        momentum=check_momentum(value_of("momentum")),
        step_limit=math.inf if limit is None else check_number("step_limit", limit, 0.0, strict=True),
        max_iter=check_count("max_iter", value_of("max_iter"), 1),
        tol=check_number("tol", value_of("tol"), 0.0),
        seed=seed,
        threads=check_threads(value_of("n_jobs")),
    )


# Parameters for callers that need no initial positions; those of the model may be a fitted model.
PLACEHOLDER_INIT: dict[str, Any] = {"init": "random", "init_scale": 1.0}


def settings_of(model: Any, seed: int = 0, **changes: Any) -> Settings:
    """Return the Settings of an estimator, with some parameters changed."""
    return check_settings(model.get_params(deep=False) | changes, seed)
