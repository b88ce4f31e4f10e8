"""Save a fitted model to a file, and load it."""

import math
import os
from collections.abc import Callable
from dataclasses import asdict
from numbers import Integral
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np
from scipy import sparse

from pixelsne import __version__
from pixelsne.arrays import AnyArray
from pixelsne.choices import CORE_METRICS, OTHER_METRICS
from pixelsne.descent_loop import History, StoppedBy
from pixelsne.extremes import ValueRange
from pixelsne.files.archive import DamagedFileError, damage, read_kind, write_archive
from pixelsne.fitted_map import FittedMap
from pixelsne.initial_positions import DEFAULT_INIT_SCALE
from pixelsne.neighborhood import Neighborhood
from pixelsne.reduction import MAX_COORDINATE, Reduction, RowPreprocessing
from pixelsne.screen import Screen
from pixelsne.settings import (
    MAX_POSITION,
    check_choice,
    check_count,
    check_number,
    check_perplexity,
    check_resolution,
    settings_of,
)
from pixelsne.spaces import Coordinates, PairwiseMetric, PrecomputedAffinities, PrecomputedDistances, Space
from pixelsne.sparse_structure import to_csr
from pixelsne.weights import are_relative

if TYPE_CHECKING:
    from pixelsne.estimator import PixelSNE

KIND = "pixelsne model"
VERSION = 1
MAX_PERPLEXITIES = 100

# Exceptions that reading a damaged document can raise.
READING_ERRORS = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)

Arrays = dict[str, AnyArray]
Document = dict[str, Any]

# Parameters that are tuples; JSON returns them as lists.
PAIRS = ("resolution", "learning_rate", "momentum")
HISTORY = {"iteration": np.int64, "kl": np.float64, "moved": np.float64}
# Attributes of a FittedMap that the document stores under the same name.
JSON_ATTRIBUTES = ("kl_divergence", "iterations", "stopped_by", "timings")


def serializable_parameters(model: "PixelSNE", arrays: Arrays) -> Document:
    """Return the model's parameters as JSON values, without callbacks, generators and models passed as `init`.

    An array passed as `init` is added to `arrays`.
    """
    parameters = model.get_params(deep=False) | {"callback": None}
    if not isinstance(parameters["random_state"], Integral):
        parameters["random_state"] = None
    if not isinstance(parameters["init"], str):
        init, parameters["init"] = parameters["init"], "pca"
        if not hasattr(init, "get_params"):
            arrays["init"] = np.asarray(init)
        elif parameters["init_scale"] is None:
            parameters["init_scale"] = DEFAULT_INIT_SCALE  # None needs the positions, which are not saved
    return {name: as_plain(value) for name, value in parameters.items()}


def run_metadata(model: "PixelSNE") -> Document:
    """Return the settings and results of a fit, as stored in the metadata of a map."""
    return {
        "settings": serializable_parameters(model, {}),
        "n_pca": model.n_pca_,
        "n_neighbors": model.n_neighbors_,
        "perplexity": as_plain(model.perplexity_),
        "kl_divergence": model.kl_divergence_,
        "iterations": model.n_iter_,
        "stopped_by": model.stopped_by_,
    }


def as_plain(value: Any) -> Any:
    """Return NumPy scalars and sequences as Python numbers and lists."""
    if isinstance(value, np.generic):
        return value.item()
    return [as_plain(item) for item in value] if isinstance(value, list | tuple | np.ndarray) else value


def describe_coordinates(space: Coordinates, arrays: Arrays) -> Document:
    reduction = space.reduction
    arrays |= {"points": space.points, "mean": reduction.mean}
    ordinary, deviations = reduction.preprocessing.ordinary, reduction.preprocessing.deviations
    if ordinary is not None:
        arrays |= {"low": ordinary.low, "high": ordinary.high}
    if deviations is not None:
        arrays["deviations"] = deviations
    if reduction.directions is not None:
        arrays["directions"] = reduction.directions
    return {
        "unit": reduction.preprocessing.unit,
        "row_transform": reduction.preprocessing.metric,
        "scale": reduction.scale,
        "reduced": reduction.directions is not None,
        "limited": ordinary is not None,
        "scaled": deviations is not None,
    }


def read_coordinates(described: Document, arrays: Arrays) -> Coordinates:
    directions = array_of(arrays, "directions", np.float64, (None, None)) if described["reduced"] else None
    mean = array_of(arrays, "mean", np.float64, (None,))
    points = array_of(arrays, "points", np.float32, (None, None))
    if (np.abs(points) > MAX_COORDINATE).any() or (directions is not None and (np.abs(directions) > 2).any()):  # noqa: PLR2004
        raise DamagedFileError("its points or PCA directions are too large")
    shapes_fit = (
        points.shape[1] == len(mean) if directions is None else directions.shape == (len(mean), points.shape[1])
    )
    if not shapes_fit:
        raise DamagedFileError("the shapes of its points and of their PCA do not match")
    preprocessing = RowPreprocessing(
        positive(described["unit"]),
        read_row_transform(described),
        read_range(described, arrays, mean),
        read_deviations(described, arrays, mean),
    )
    return Coordinates(Reduction(preprocessing, mean, positive(described["scale"]), directions), points)


def read_row_transform(described: Document) -> str:
    """Return the metric whose row transform the model has. Version 0.1.0 knew two."""
    if "row_transform" not in described:
        return "cosine" if described["to_length_one"] else "euclidean"
    return check_choice("metric", described["row_transform"], CORE_METRICS)


def read_range(described: Document, arrays: Arrays, mean: AnyArray) -> ValueRange | None:
    if not described.get("limited"):  # version 0.1.0 did not limit values
        return None
    low, high = (array_of(arrays, name, np.float64, mean.shape) for name in ("low", "high"))
    if (low > high).any():
        raise DamagedFileError("a lower limit of its values exceeds the upper limit")
    return ValueRange(low, high)


def read_deviations(described: Document, arrays: Arrays, mean: AnyArray) -> AnyArray | None:
    if not described.get("scaled"):  # version 0.1.0 did not scale columns
        return None
    deviations = array_of(arrays, "deviations", np.float64, mean.shape)
    if not (deviations > 0).all():
        raise DamagedFileError("the standard deviations of its columns are not positive")
    return deviations


def describe_pairwise(space: PairwiseMetric, arrays: Arrays) -> Document:
    described: Document = {"metric": space.metric, "sparse": sparse.issparse(space.values)}
    if not described["sparse"]:
        arrays["values"] = space.values
        return described
    matrix: Any = space.values
    arrays |= {"numbers": matrix.data, "columns": matrix.indices, "offsets": matrix.indptr}
    return described | {"shape": list(matrix.shape)}


def read_pairwise(described: Document, arrays: Arrays) -> PairwiseMetric:
    metric = check_choice("metric", described["metric"], OTHER_METRICS)
    if not described["sparse"]:
        return PairwiseMetric(array_of(arrays, "values", None, (None, None)), metric)
    parts = (array_of(arrays, name, None, (None,)) for name in ("numbers", "columns", "offsets"))
    rows, columns = described["shape"]
    numbers, indices, offsets = parts
    if {indices.dtype.kind, offsets.dtype.kind} != {"i"}:
        raise DamagedFileError("the column indices and offsets of its sparse matrix are not integers")
    return PairwiseMetric(to_csr(sparse.csr_array((numbers, indices, offsets), shape=(rows, columns))), metric)


Describe = Callable[[Any, Arrays], Document]
Read = Callable[[Document, Arrays], Space]
SPACES: dict[str, tuple[type[Space], Describe, Read]] = {
    "coordinates": (Coordinates, describe_coordinates, read_coordinates),
    "other distances": (PairwiseMetric, describe_pairwise, read_pairwise),
    "given distances": (
        PrecomputedDistances,
        lambda space, _: {"n": space.n},
        lambda described, _: PrecomputedDistances(int(described["n"]), None),
    ),
    "given affinities": (
        PrecomputedAffinities,
        lambda space, _: {"n": space.n},
        lambda described, _: PrecomputedAffinities(int(described["n"]), None),
    ),
}


def array_of(arrays: Arrays, name: str, dtype: Any, shape: tuple[int | None, ...]) -> AnyArray:
    """Return an array after checking its type and shape, and that it is finite.

    dtype None allows any type; None in `shape` allows any size.
    """
    array = arrays.get(name)
    if array is None:
        raise DamagedFileError(f"it has no array {name}")
    has_shape = len(array.shape) == len(shape) and all(
        expected in (None, size) for expected, size in zip(shape, array.shape, strict=True)
    )
    if not has_shape or (dtype is not None and array.dtype != dtype):
        raise DamagedFileError(f"its array {name} has the wrong type or shape: {array.dtype} {array.shape}")
    if not np.isfinite(array).all():
        raise DamagedFileError(f"its array {name} has NaN or infinite values")
    return array


def finite(value: Any) -> float:
    return check_number("a number", value, -math.inf)


def positive(value: Any) -> float:
    return check_number("a number", value, 0.0, strict=True)


def describe_space(space: Space, arrays: Arrays) -> Document:
    kind, describe = next((kind, entry[1]) for kind, entry in SPACES.items() if isinstance(space, entry[0]))
    return {"kind": kind, **describe(space, arrays)}


def read_space(described: Document, arrays: Arrays) -> Space:
    return SPACES[described["kind"]][2](described, arrays)


def save_model(path: str | os.PathLike[str], model: "PixelSNE", fitted_map: FittedMap) -> None:
    arrays: Arrays = {"positions": fitted_map.positions}
    if fitted_map.weights is not None:
        arrays["weights"] = fitted_map.weights
    arrays |= {f"history_{name}": column for name, column in fitted_map.history.columns().items()}
    names = getattr(model, "feature_names_in_", None)
    document: Document = {
        "kind": KIND,
        "version": VERSION,
        "pixelsne_version": __version__,
        "parameters": serializable_parameters(model, arrays),
        "columns": model.n_features_in_,
        "column_names": None if names is None else [str(name) for name in names],
        "space": describe_space(fitted_map.space, arrays),
        "screen": asdict(fitted_map.screen),
        "neighbor_count": fitted_map.neighborhood.n_neighbors,
        "perplexity": as_plain(fitted_map.neighborhood.perplexity),
        **{name: as_plain(getattr(fitted_map, name)) for name in JSON_ATTRIBUTES},
    }
    write_archive(path, document, arrays)


def load_model(path: str | os.PathLike[str], make: Callable[..., "PixelSNE"]) -> tuple["PixelSNE", FittedMap]:
    """Return an unfitted model, created by its class `make`, and the FittedMap that belongs to it."""
    document, arrays = read_kind(path, KIND, VERSION)
    try:
        model = make(**read_parameters(document["parameters"], arrays))
        settings_of(model)
        fitted_map = read_fitted_map(document, arrays)
        read_columns(document, model, fitted_map.space.n_features())
    except READING_ERRORS as error:
        raise DamagedFileError(f"{path} is damaged: {damage(error)}") from None
    return model, fitted_map


def read_parameters(parameters: Document, arrays: Arrays) -> Document:
    if parameters["callback"] is not None or not isinstance(parameters["verbose"], bool):
        raise DamagedFileError("its parameters callback or verbose have values that no saved model has")
    if parameters["random_state"] is not None:
        check_count("random_state", parameters["random_state"], 0, 2**32 - 1)
    pairs = {name: tuple(parameters[name]) for name in PAIRS if isinstance(parameters[name], list)}
    init = {"init": array_of(arrays, "init", None, (None, 2))} if "init" in arrays else {}
    return parameters | pairs | init


def read_columns(document: Document, model: "PixelSNE", width: int) -> None:
    names = document["column_names"]
    if document["columns"] != width or not (names is None or (isinstance(names, list) and len(names) == width)):
        raise DamagedFileError("its number of columns does not match its points")
    model.n_features_in_ = width
    if names is not None:
        model.feature_names_in_ = np.array([str(name) for name in names], dtype=object)


def read_screen(described: Document) -> Screen:
    (left, top), (unit_x, unit_y) = described["origin"], described["unit_per_pixel"]
    sides = check_resolution(described["resolution"])
    return Screen((finite(left), finite(top)), (positive(unit_x), positive(unit_y)), sides)


def read_fitted_map(document: Document, arrays: Arrays) -> FittedMap:
    positions = array_of(arrays, "positions", np.float32, (None, 2))
    space = read_space(document["space"], arrays)
    count = int(document["neighbor_count"])
    perplexity = check_perplexity(document["perplexity"]) or ()
    neighbors_match = 0 < len(perplexity) <= MAX_PERPLEXITIES and max(perplexity) <= count < len(positions)
    sizes_match = neighbors_match and space.size() == len(positions)
    if not sizes_match or not (np.abs(positions) < MAX_POSITION).all():
        raise DamagedFileError("the numbers of its points, positions and neighbors do not match")
    columns = (array_of(arrays, f"history_{name}", kind, (None,)).tolist() for name, kind in HISTORY.items())
    return FittedMap(
        positions=positions,
        screen=read_screen(document["screen"]),
        space=space,
        neighborhood=Neighborhood(count, perplexity),
        kl_divergence=finite(document["kl_divergence"]),
        iterations=int(document["iterations"]),
        stopped_by=cast("StoppedBy", check_choice("stopped_by", document["stopped_by"], get_args(StoppedBy))),
        timings={str(stage): finite(seconds) for stage, seconds in document["timings"].items()},
        history=History(list(zip(*columns, strict=True))),
        weights=read_weights(arrays, len(positions)),
    )


def read_weights(arrays: Arrays, n: int) -> AnyArray | None:
    if "weights" not in arrays:
        return None
    weights = array_of(arrays, "weights", np.float32, (n,))
    if not are_relative(weights):
        raise DamagedFileError("its weights are not relative to their mean")
    return weights
