"""PixelSNE, the scikit-learn estimator."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from pixelsne.arrays import Positions, ScreenPositions
from pixelsne.choices import PRECOMPUTED_METRICS
from pixelsne.descent_loop import Snapshot, StoppedBy
from pixelsne.fitted_map import FittedMap
from pixelsne.fixed_rows import check_fixed
from pixelsne.initial_positions import DEFAULT_INIT_SCALE
from pixelsne.inputs import as_numbers, column_names, with_distinct_names
from pixelsne.memory import estimate
from pixelsne.neighborhood import Neighborhood
from pixelsne.pipeline import Run
from pixelsne.settings import PLACEHOLDER_INIT, PRESETS, SCALED_METRICS, check_choice, check_settings, check_threads
from pixelsne.spaces import METRICS_FOR_SPARSE
from pixelsne.transform import place_rows
from pixelsne.unknown_parameters import explain_unknown_parameters
from pixelsne.unlike_columns import warn_of_unlike_columns
from pixelsne.watched import run_to_completion, watched
from pixelsne.weights import check_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pixelsne.regions import Regions

Listener = Callable[[Snapshot], object]


class PixelSNE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """t-SNE of high-dimensional data, with the result in pixels of a screen.

    Parameters
    ----------
    resolution : int or (int, int), default=1024
        Side of the screen in pixels, or (width, height), 16 to 65,536.
    n_neighbors : int, "all" or None, default=None
        Number of nearest neighbors per point: fewer show finer detail, more a smoother map. "all": all other points.
        None: 30, or three times the perplexity if that is given. Lowered with a warning if there are too few points.
    perplexity : float, sequence of float or None, default=None
        Effective number of neighbors: the width of each point's Gaussian kernel. None: 0.6 times n_neighbors. Pass it
        alone for the affinities of scikit-learn and openTSNE, whose default is 30. For a sequence, the kernels of all
        its perplexities are averaged. Lowered with a warning if there are too few points.
    neighbors : {"auto", "exact", "vp-tree", "rp-forest", "clusters"}, default="auto"
        The nearest neighbor search. "exact" compares all pairs, "vp-tree" is exact too, "rp-forest" and the faster
        "clusters" find nearly all neighbors. "auto" is "exact" if that takes at most about two seconds, else
        "clusters".
    repulsion : {"auto", "exact", "barnes-hut", "pixel-tree", "pixel-field"}, default="auto"
        The method for the repulsive forces: all pairs (t-SNE), a quadtree over the data (BH-SNE), a quadtree whose
        leaves are pixels (PixelSNE), or an FFT convolution on a regular grid. "auto" is "exact" up to
        2,000 points and "pixel-field" above.
    theta : float, default=0.5
        Accuracy of the two trees: a cell replaces its points if width / distance < theta.
    center : {"mass", "cell"}, default="mass"
        The point that replaces a cell of the pixel tree: its center of mass, or its midpoint as in the paper.
    aspect : {"equal", "fill"}, default="equal"
        Whether both axes of the screen share one scale, or each is stretched to fill it, as in the paper.
    metric : str, default="euclidean"
        "euclidean", "cosine", "correlation", another of scikit-learn's pairwise distances, such as "jaccard" (more than
        30,000 points need the extra pixelsne[metrics]), "precomputed" (X is a square matrix of distances or a sparse
        graph of them, as kneighbors_graph with mode="distance" makes it) or "affinities" (X is a sparse square P).
    scale : {"none", "standard"}, default="none"
        "standard" divides each column by its standard deviation first, for tables whose columns have different units,
        such as ages and incomes. Only for metric="euclidean", and not on a cluster.
    n_pca : "auto", int or None, default="auto"
        Input with more columns is first reduced to this many principal components; None: no reduction. "auto" takes
        50, or as many more as keep 82 % of the neighbors of sampled rows, up to all columns. If X has more than 2,048
        columns, "auto" takes at most 512 components, and fewer above 31,250 columns. For "euclidean", "cosine" and
        "correlation".
    duplicates : {"merge", "keep"}, default="merge"
        "merge" computes the map with one weighted point for equal rows, and spreads them around it afterwards. Its
        weight is the sum of the rows' weights; if there are more rows than the perplexity, it is scaled down by
        perplexity / rows. Ignored for metric="precomputed" and "affinities", and on a cluster.
    init : {"pca", "random"}, array (n, 2) or fitted PixelSNE, default="pca"
        Initial positions. A fitted model places the points on its map first, so that maps of growing data stay
        comparable. If there are no coordinates, "pca" takes a spectral embedding: the leading non-trivial
        eigenvectors of the normalized affinities.
    init_scale : float or None, default=1e-4
        Standard deviation of the initial positions along their longer axis, in embedding units. None continues the map
        of `init`, an array of positions in embedding units like `positions_`, or a fitted model: positions are not
        rescaled. Unless `early_exaggeration_iter` is a number, there is no early exaggeration, the momentum is that at
        which a run ends, and the learning rate is less than half of the final one.
    early_exaggeration, early_exaggeration_iter : float, int or "auto", default=12.0, "auto"
        Factor on the affinities in the first iterations, and the number of these iterations. "auto" keeps the factor
        for 90 of 250 iterations and lowers it during 20 more; after a given number it drops at once. With
        init_scale=None, "auto" is 0.
    exaggeration : float, default=1.0
        Factor on the affinities afterwards.
    learning_rate : "auto", float or (float, float), default="auto"
        Learning rate for the gradient with its factor 4, as in scikit-learn; a pair is (early, late). "auto" is
        n / (8 exaggeration) early, rises to n / exaggeration, and ends at a tenth of that; n / (25 exaggeration)
        for a map that continues; at least 5.
    momentum : "auto", float or (float, float), default="auto"
        A pair is (early, late). "auto" is 0.8 early, rises to 0.965 within 40 iterations, and falls to 0.7 during the
        last 50. It is 0.7 for a map that continues.
    step_limit : float or None, default=5.0
        Largest move of a point in one iteration, in embedding units; None: no limit.
    max_iter : int, default=250
        Maximum number of iterations, including early exaggeration. 250 iterations give the map that 1,000 of the usual
        schedule give.
    tol : float, default=1.0
        If the median point moves fewer pixels than this in 50 iterations, the run skips to its cooldown, the
        last 50 iterations; 0: never.
    random_state : int, RandomState or None, default=None
        The same number gives the same map, bit for bit, whatever n_jobs is.
    n_jobs : int or None, default=-1
        Number of threads; -1: all processors.
    verbose : bool, default=False
        Show one progress bar on stderr.
    callback : callable or None, default=None
        Called with a Snapshot after every iteration, and for the progress of earlier stages. `positions` is None in
        earlier stages, and always on a cluster. During the descent, returning True stops the run and keeps the map.

    Attributes
    ----------
    embedding_ : array (n, 2) of float32
        Screen coordinates, 0 <= x < width, 0 <= y < height, origin top left, y downward.
    pixels_ : array (n, 2) of int32
        The pixel of each point.
    positions_ : array (n, 2) of float32
        Embedding units: the kernel 1 / (1 + d^2) has width 1 here.
    screen_ : Screen
        The mapping from positions in embedding units to pixels.
    kl_divergence_ : float
        KL divergence of the map from the affinities without exaggeration. The affinities are those of the reduced
        data, so neighbors that the reduction lost do not count. The normalizer is exact up to 50,000 points and within
        0.02 % above.
    n_iter_, stopped_by_ : int, str
        Number of iterations, and what ended them: "max_iter", "tol", "callback" or "interrupt".
    n_pca_ : int or None
        Number of dimensions in which rows were compared: principal components, or columns of X if it was not reduced.
        None for metrics other than "euclidean", "cosine" and "correlation".
    n_neighbors_, perplexity_ : int, float or tuple of float
        The number of neighbors and the perplexity used; None for metric="affinities".
    timings_ : dict
        Seconds for "reduce", "neighbors", "affinities" and "descent".
    history_ : dict of arrays
        "iteration", "kl" and "moved" (pixels), every 50 iterations.

    Examples
    --------
    >>> import numpy as np
    >>> from pixelsne import PixelSNE
    >>> points = np.random.default_rng(0).normal(size=(200, 5))
    >>> model = PixelSNE(resolution=(640, 480), n_neighbors=15, max_iter=250, random_state=0)
    >>> model.fit_transform(points).shape
    (200, 2)
    """

    @explain_unknown_parameters
    def __init__(
        self,
        *,
        resolution: int | tuple[int, int] = 1024,
        n_neighbors: int | Literal["all"] | None = None,
        perplexity: float | Sequence[float] | None = None,
        neighbors: str = "auto",
        repulsion: str = "auto",
        theta: float = 0.5,
        center: str = "mass",
        aspect: str = "equal",
        metric: str = "euclidean",
        scale: str = "none",
        n_pca: int | Literal["auto"] | None = "auto",
        duplicates: str = "merge",
        init: "str | ArrayLike | PixelSNE" = "pca",
        init_scale: float | None = DEFAULT_INIT_SCALE,
        early_exaggeration: float = 12.0,
        early_exaggeration_iter: int | str = "auto",
        exaggeration: float = 1.0,
        learning_rate: str | float | tuple[float, float] = "auto",
        momentum: str | float | tuple[float, float] = "auto",
        step_limit: float | None = 5.0,
        max_iter: int = 250,
        tol: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = -1,
        verbose: bool = False,
        callback: Callable[[Snapshot], object] | None = None,
    ) -> None:
        self.resolution = resolution
        self.n_neighbors = n_neighbors
        self.perplexity = perplexity
        self.neighbors = neighbors
        self.repulsion = repulsion
        self.theta = theta
        self.center = center
        self.aspect = aspect
        self.metric = metric
        self.scale = scale
        self.n_pca = n_pca
        self.duplicates = duplicates
        self.init = init
        self.init_scale = init_scale
        self.early_exaggeration = early_exaggeration
        self.early_exaggeration_iter = early_exaggeration_iter
        self.exaggeration = exaggeration
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.step_limit = step_limit
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Self:
        """Return a model with the settings of the paper's "t-sne", "bh-sne", "pixelsne-vp" or "pixelsne-rp"."""
        return cls(**{**PRESETS[check_choice("preset", name, PRESETS)], **overrides})

    def fit(self, X: Any, y: Any = None, *, weights: Any = None, fixed: Any = None) -> Self:  # noqa: ARG002 - scikit-learn passes y
        """Compute the map. `y` is ignored.

        X: an array, a sparse matrix or a data frame of numbers (n, d), without missing values. The metrics "euclidean",
        "cosine", "manhattan", "precomputed" and "affinities" take sparse matrices, and data frames of sparse columns.
        A dask array or data frame is embedded on the cluster of the current client. The fitted attributes with one row
        per point are then dask arrays on the cluster.

        weights: one number >= 0 for each row, or None. A row of weight w acts on all others like w equal rows, in
        attraction and repulsion; see "Weights" in docs/algorithm.md.
        fixed: a boolean mask (n) of rows that stay where `init` puts them, bit for bit in `positions_`, while the
        others move. It needs init_scale=None, and an array or a fitted model as `init`. Fixed rows attract and repel
        the others, and are not merged with equal rows. The map is not centered then. Weights and fixed rows are
        not supported on a cluster.
        """
        if hasattr(X, "__dask_graph__"):
            if weights is not None:
                raise ValueError("weights are for one machine, and X is on a cluster; pass X.compute(), or no weights")
            return self._fit_on_cluster(X, fixed=fixed)
        return self._run_to_end(self.make_run(X, weights=weights, fixed=fixed))

    def _run_to_end(self, run: Run, *more_listeners: Listener) -> Self:
        """Run until the end, the callback's or Ctrl-C, and set the results."""
        stopped_by: StoppedBy | None = None
        with ExitStack() as stack:
            listeners = [*more_listeners, *self._listeners(stack)]
            try:
                for snapshot in stack.enter_context(closing(run.snapshots())):
                    for listener in listeners:
                        listener(snapshot)
                    if self._asked_to_stop(snapshot):
                        stopped_by = "callback"
                        break
            except KeyboardInterrupt:
                if run.descent is None:
                    raise
                stopped_by = "interrupt"
        self.set_results(run, stopped_by)
        return self

    def _fit_on_cluster(self, X: Any, *, fixed: Any) -> Self:
        from pixelsne.distributed import embed  # noqa: PLC0415 - an extra

        if fixed is not None:
            raise ValueError("fixed is not distributed; fit on one machine, or without fixed")
        self.__dict__.pop("_fitted_map", None)  # if the run fails, the model is unfitted
        with ExitStack() as stack:
            listeners = self._listeners(stack)

            def on_snapshot(snapshot: Snapshot) -> bool:
                for listener in listeners:
                    listener(snapshot)
                return self._asked_to_stop(snapshot)

            map_ = embed(X, None, self, callback=on_snapshot)
        self._fitted_map: FittedMap | None = None  # no machine has all of it
        self.n_features_in_ = int(X.shape[1])
        self.positions_, self.embedding_, self.screen_ = map_.positions, map_.placed, map_.screen
        self.pixels_: Any = map_.placed.astype(np.int32)
        self.kl_divergence_, self.n_iter_, self.stopped_by_ = map_.kl_divergence, map_.iterations, map_.stopped_by
        self._set_fitted_neighborhood(map_.neighborhood)
        self.n_pca_: int | None = map_.n_components
        self.timings_, self.history_ = map_.timings, map_.history.columns()
        return self

    def _require_fitted_map(self) -> FittedMap:
        """Return the fitted map; raise ValueError if it is on a cluster."""
        check_is_fitted(self)
        if self._fitted_map is None:
            raise ValueError(
                "this map was computed on a cluster; fit on one machine to transform new rows, to draw or to save"
            )
        return self._fitted_map

    def fit_transform(self, X: Any, y: Any = None, *, weights: Any = None, fixed: Any = None) -> ScreenPositions:
        """Compute the map and return `embedding_`. Arguments are those of `fit`."""
        placed: ScreenPositions = self.fit(X, y, weights=weights, fixed=fixed).embedding_
        return placed

    def film(
        self, path: str | os.PathLike[str], X: Any, color: Any = None, *, names: Any = None, weights: Any = None,
        fixed: Any = None, dark: bool = False,
    ) -> Self:  # fmt: skip
        """Compute the map as `fit` does, and write a film of it while it forms: .webp, .gif or .mp4.

        The view is that of the final map; only a map that is still much smaller is shown larger. A film has at most
        300 frames of 640 pixels, with 100,000 points at most, and a webp file at most about 5 MB. mp4 needs the program
        ffmpeg. After Ctrl-C during the fit, the film ends with the map as it is then.

        color: one value per row, which colors the points: classes, numbers or dates; None: by region. names: names to
        write on the last picture, as in `plot`. weights, fixed: as in `fit`. dark: a dark background.
        """
        from pixelsne.film import film_fit  # noqa: PLC0415 - only for those who film

        film_fit(self, path, X, color, names=names, weights=weights, fixed=fixed, dark=dark)
        return self

    def iter_fit(self, X: Any, *, weights: Any = None, fixed: Any = None) -> Iterator[Snapshot]:
        """Compute the map step by step: yield a Snapshot after every iteration. Arguments are those of `fit`.

        Before the descent, Snapshots report the progress of earlier stages; their `screen` and `positions` are None.
        After `break` or Ctrl-C, the model has the map as it is then. `callback` and `verbose` are not used.
        """
        run = self.make_run(X, weights=weights, fixed=fixed)
        stopped_by: StoppedBy | None = None
        try:
            yield from run.snapshots()
        except (GeneratorExit, KeyboardInterrupt) as leaving:
            if run.descent is None:
                raise
            stopped_by = "interrupt" if isinstance(leaving, KeyboardInterrupt) else "callback"
        self.set_results(run, stopped_by)

    def transform(self, X: Any) -> ScreenPositions:
        """Place new rows on the finished map, which does not change; return (m, 2) pixels, clipped to the screen.

        Each row is placed independently: attracted by its neighbors on the map, and repelled by all points of the map.
        A row that equals a fitted row gets the position of that row. With metric="precomputed", X holds the distances
        from new rows to the points of the map.
        """
        self._require_fitted_map()
        return self.screen_.to_pixels(self._place(X))

    def _place(self, X: Any) -> Positions:
        """Return the positions of new rows in embedding units, (m, 2)."""
        values, threads = self._check_input(X, reset=False), check_threads(self.n_jobs)
        return run_to_completion(watched(lambda token: place_rows(values, self._require_fitted_map(), threads, token)))

    def estimate_memory(self, X: Any) -> int:
        """Return an estimate of the peak memory of fitting X in bytes, not counting X.

        `fit` raises MemoryError early if less is available. The estimate is within 15 % for "euclidean", "cosine" and
        "correlation" (benchmarks/memory.py).
        """
        unfitted = type(self)(**(self.get_params(deep=False) | PLACEHOLDER_INIT | {"random_state": 0}))
        return estimate(unfitted.make_run(X).workload)

    def _asked_to_stop(self, snapshot: Snapshot) -> bool:
        """Call the callback; return whether it returned True, which counts only once there is a map."""
        answer = self.callback(snapshot) if self.callback is not None else None
        return isinstance(answer, bool | np.bool_) and bool(answer) and snapshot.screen is not None

    def make_run(self, X: Any, *, weights: Any = None, fixed: Any = None) -> Run:
        """Return a run of `fit`, for callers that iterate over its snapshots and then call `set_results`.

        Arguments are those of `fit`.
        """
        seed = int(check_random_state(self.random_state).randint(2**31))
        parameters = self.get_params(deep=False)
        if isinstance(self.init, PixelSNE):
            check_is_fitted(self.init, msg="init must be fitted before others can start from its map")
            parameters["init"] = self.init._place(X)  # noqa: SLF001 - the same class
        settings = check_settings(parameters, seed)
        self.__dict__.pop("_fitted_map", None)  # if the run fails, the model is unfitted
        values = self._check_input(X, reset=True)
        n = values.shape[0]
        if not isinstance(settings.init, str) and len(settings.init) != n:
            raise ValueError(f"init must have one row for each of the {n} points, got {len(settings.init)}")
        return Run(values, settings, weights=check_weights(weights, n), fixed=check_fixed(fixed, n, settings))

    def _check_input(self, X: Any, *, reset: bool) -> Any:
        """Return X as a dense or CSR array of finite numbers; raise ValueError for anything else."""
        values = as_numbers(X)
        needed = {"accept_sparse": "csr", "dtype": "numeric", "ensure_min_samples": 2 if reset else 1}
        if values is X:
            return validate_data(self, X, reset=reset, **needed)
        values = check_array(values, input_name="X", estimator=self, **needed)
        if reset and self.scale == "none" and self.metric in SCALED_METRICS:
            warn_of_unlike_columns(values, column_names(X))
        # Sets feature_names_in_. (scikit-learn >= 1.9 rejects data frames with duplicate column names.)
        named = with_distinct_names(X) if len(column_names(X)) == values.shape[1] else values
        validate_data(self, named, reset=reset, skip_check_array=True)
        return values

    def _listeners(self, stack: ExitStack) -> list[Listener]:
        if not self.verbose:
            return []
        from pixelsne.progress import progress  # noqa: PLC0415 - rich is slow to import

        return [stack.enter_context(progress()).show]

    def set_results(self, run: Run, stopped_by: StoppedBy | None = None) -> None:
        """Set the fitted attributes from the current map of a run."""
        self._set_fitted_attributes(run.fitted_map(stopped_by))

    def _set_fitted_attributes(self, fitted_map: FittedMap) -> None:
        self._fitted_map = fitted_map  # for `transform` and `save`
        self.screen_ = fitted_map.screen
        self.positions_ = fitted_map.positions
        self.embedding_ = fitted_map.screen.to_pixels(fitted_map.positions)
        self.pixels_ = fitted_map.screen.to_integer_pixels(fitted_map.positions)
        self.kl_divergence_ = fitted_map.kl_divergence
        self.n_iter_ = fitted_map.iterations
        self.stopped_by_ = fitted_map.stopped_by
        self._set_fitted_neighborhood(fitted_map.neighborhood)
        self.n_pca_ = fitted_map.space.n_components()
        self.timings_ = fitted_map.timings
        self.history_ = fitted_map.history.columns()

    def _set_fitted_neighborhood(self, neighborhood: Neighborhood) -> None:
        is_given = self.metric == "affinities"  # P itself takes the place of neighbors
        self.n_neighbors_: int | None = None if is_given else neighborhood.n_neighbors
        perplexity = neighborhood.perplexity
        self.perplexity_: float | tuple[float, ...] | None = perplexity if len(perplexity) > 1 else perplexity[0]
        if is_given:
            self.perplexity_ = None

    def plot(
        self,
        ax: Any = None,
        *,
        color: Any = None,
        names: Any = None,
        legend: bool | None = None,
        palette: Any = None,
        point_size: float | None = None,
        dark: bool = False,
    ) -> Any:
        """Draw the map into Matplotlib axes and return them.

        ax: axes; None: those of a new figure.
        color: one value for each row: categories, numbers or dates. A pandas Series also gives the legend its title.
        None: the regions of the map, in hues that follow the place.
        names: names to write on the map: one text or value for each row, what `regions` returns, or a dict of names by
        index of a region or by (level, index in the level). None: the names of the categories in `color`. False: none.
        legend: whether to draw a legend. None: unless names on the map explain all colors.
        palette: colors of the categories, in a list or by name in a dict, or the name of a Matplotlib colormap.
        point_size: diameter of a dot in points (1/72 inch). None: smaller for more rows.
        dark: whether the background is dark.
        """
        from pixelsne.plot import PlotStyle, plot_map  # noqa: PLC0415 - only for those who draw

        self._require_fitted_map()
        style = PlotStyle(legend=legend, palette=palette, point_size=point_size, dark=dark)
        return plot_map(self.embedding_, self.screen_.resolution, ax, color=color, names=names, style=style)

    def regions(self, columns: Any = None, names: Any = "auto") -> "Regions":
        """Return the regions of the map, at several levels of detail, with their names, centers and colors.

        columns: a dictionary of arrays, a data frame or a pyarrow table with a row for each point, by which regions are
        named. names: "auto" (the text column if there is one and at most 200,000 rows, else categories, numbers and
        dates), the name of a column, "none", a dict with names by index or by (level, index in the level), or an
        array with an own label for each row.
        """
        check_is_fitted(self)
        from pixelsne.files.maps import Map  # noqa: PLC0415 - only for those who need regions
        from pixelsne.map_regions import regions_of  # noqa: PLC0415
        from pixelsne.viewer.columns import table_of  # noqa: PLC0415

        table = table_of(columns, len(self.embedding_))
        return regions_of(Map(self.embedding_, self.screen_.resolution, table), names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file: arrays and JSON in a zip, no pickle.

        The parameters `callback`, `random_state` unless it is a number, and `init` if it is a model (with its
        `init_scale` of None) are not saved.
        """
        from pixelsne.files.model import save_model  # noqa: PLC0415 - only for those who save

        save_model(path, self, self._require_fitted_map())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a model that `save` wrote. Raise ValueError if the file is damaged or not a model."""
        from pixelsne.files.model import load_model  # noqa: PLC0415 - only for those who load

        model, fitted_map = load_model(path, cls)
        model._set_fitted_attributes(fitted_map)  # noqa: SLF001 - the same class
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted_map")

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy. A model passed as `init` is an input, so it stays fitted."""
        copy: Self = super().__sklearn_clone__()
        if isinstance(self.init, PixelSNE):
            copy.init = self.init
        return copy

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        metric = self.metric if isinstance(self.metric, str) else ""  # fit reports other types
        tags.input_tags.sparse = metric in METRICS_FOR_SPARSE or metric in PRECOMPUTED_METRICS
        tags.input_tags.pairwise = tags.input_tags.positive_only = metric in PRECOMPUTED_METRICS
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
