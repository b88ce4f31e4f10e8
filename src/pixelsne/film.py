"""A film of a map as it forms: record positions during the run, draw them when it has ended."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import AnyArray, Positions
from pixelsne.coloring import Coloring, Colors, rgb
from pixelsne.descent_loop import Snapshot
from pixelsne.film_formats import check_film, write_frames
from pixelsne.memory import check_memory
from pixelsne.pictures.style import PlotStyle
from pixelsne.pictures.view import View
from pixelsne.plot import check_coloring, check_names, make_picture
from pixelsne.raster import Image, Raster, automatic_size
from pixelsne.screen import Screen

if TYPE_CHECKING:
    from pixelsne.estimator import PixelSNE
    from pixelsne.pictures.draw import Picture
    from pixelsne.pictures.names import MapName

MAX_FRAMES = 300
MAX_POINTS = 100_000  # of larger maps, a random sample of the points is filmed
MAX_CODE = 2**16 - 1
BYTES_PER_POSITION = 4

# In longer runs, the first iterations are filmed more densely: frame k of f shows iteration max_iter (k / f)^this.
EARLY_SPACING_POWER = 1.5

SIDE = 640  # the longer one of a film, in pixels
MARGIN = 12  # pixels around the map, so that dots at its border are whole
MIN_SHORT_SIDE = 4 * MARGIN

# The map starts a million times smaller than it ends. It is shown no smaller than this share of its final size.
MIN_SHOWN = 0.45

SAMPLE_SEED = 0

Rows = NDArray[np.intp]


def filmed_iterations(max_iter: int) -> frozenset[int]:
    """Return the iterations to record, at most MAX_FRAMES - 1: every one of a short run. The result is added later."""
    frames = MAX_FRAMES - 1
    if max_iter <= frames:
        return frozenset(range(1, max_iter + 1))
    spaced = np.linspace(0, 1, frames) ** EARLY_SPACING_POWER
    return frozenset(np.maximum(np.rint(max_iter * spaced), 1).astype(int).tolist())


def filmed_rows(n: int) -> Rows:
    """Return the rows of the points to film, in increasing order."""
    if n <= MAX_POINTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(SAMPLE_SEED).choice(n, MAX_POINTS, replace=False))


def film_bytes(n: int, max_iter: int) -> int:
    """Return the bytes of the recorded positions of a run."""
    return min(n, MAX_POINTS) * BYTES_PER_POSITION * min(max_iter, MAX_FRAMES)


@dataclass(frozen=True)
class Recorded:
    """The positions of the filmed points at one iteration, in 16 bits each."""

    iteration: int
    codes: NDArray[np.uint16]  # (m, 2)
    low: AnyArray  # (2), embedding units of code 0
    unit: AnyArray  # (2), embedding units per code

    @classmethod
    def at(cls, iteration: int, positions: Positions) -> "Recorded":
        low, high = positions.min(axis=0).astype(np.float64), positions.max(axis=0).astype(np.float64)
        unit = np.where(high > low, (high - low) / MAX_CODE, 1.0)
        return cls(iteration, np.rint((positions - low) / unit).astype(np.uint16), low, unit)

    def positions(self) -> AnyArray:
        return self.low + self.codes * self.unit


class Recorder:
    """Records the map: call it with each snapshot of a run."""

    def __init__(self, max_iter: int) -> None:
        self._iterations = filmed_iterations(max_iter)
        self._rows: Rows | None = None
        self.recorded: list[Recorded] = []

    def __call__(self, snapshot: Snapshot) -> None:
        if snapshot.screen is None or snapshot.iteration not in self._iterations:
            return
        positions = snapshot.positions
        if positions is None:
            raise ValueError("a map on a cluster cannot be filmed; fit on one machine, or without a film")
        if self._rows is None:
            self._rows = filmed_rows(len(positions))
        self.recorded.append(Recorded.at(snapshot.iteration, positions[self._rows]))


def magnification(size: float) -> float:
    """Return the factor by which a map is shown larger. size: that of the map, as a share of its final size.

    The map is shown with a size of at least about MIN_SHOWN, and with its own from its final size on. There are
    no jumps in between.
    """
    return float(np.hypot(size, MIN_SHOWN * max(0.0, 1.0 - size)) / size) if size > 0 else 1.0


def radius_about(center: AnyArray, positions: AnyArray) -> float:
    """Return the root mean squared distance from the center."""
    return float(np.sqrt(np.square(positions - center).sum(axis=1).mean()))


@dataclass(frozen=True)
class Camera:
    """The view of a film, which shows the final map in all frames: from embedding units to pixels of the film."""

    screen: Screen

    @property
    def sides(self) -> tuple[int, int]:
        """Return the width and height of the film. Both are even, as videos need them."""
        width, height = (
            2 * round(max(self.scale * side + 2 * MARGIN, MIN_SHORT_SIDE) / 2) for side in self.screen.resolution
        )
        return width, height

    @property
    def scale(self) -> float:
        """Return the pixels of the film per pixel of the screen, the same along both axes."""
        return (SIDE - 2 * MARGIN) / max(self.screen.resolution)

    def to_pixels(self, positions: AnyArray) -> AnyArray:
        """Return (n, 2) pixels of the film, with fractions. positions: embedding units."""
        pixels = (positions - np.array(self.screen.origin)) / self.screen.unit_per_pixel
        return self.from_screen(pixels)

    def from_screen(self, pixels: AnyArray) -> AnyArray:
        """Return (n, 2) pixels of the film. pixels: those of the screen."""
        corner = (np.array(self.sides) - np.array(self.screen.resolution) * self.scale) / 2
        shown: AnyArray = corner + pixels * self.scale
        return shown

    def place_name(self, name: "MapName") -> "MapName":
        """Return the name with its anchor and extent in pixels of the film."""
        x, y = self.from_screen(np.array(name.anchor)).tolist()
        return replace(name, anchor=(x, y), extent=name.extent * self.scale)


@dataclass(frozen=True)
class Film:
    """A film of a run: the recorded frames, and the final map with its names as the last one."""

    recorded: Sequence[Recorded]
    final: AnyArray  # (m, 2), embedding units
    camera: Camera
    colors: Colors  # (m, 3)
    style: PlotStyle
    names: "tuple[MapName, ...]" = ()  # anchors in pixels of the film

    def __len__(self) -> int:
        return len(self.recorded) + 1

    def positions(self, frame: int) -> AnyArray:
        """Return the shown positions of a frame, (m, 2), in embedding units of the final map."""
        if frame == len(self.recorded):
            return self.final
        positions = self.recorded[frame].positions()
        center, last = positions.mean(axis=0), self.final.mean(axis=0)
        final_radius = radius_about(last, self.final)
        factor = magnification(radius_about(center, positions) / final_radius) if final_radius > 0 else 1.0
        # At a factor of 1, positions are shown as they are; in a tiny map, its center is shown where it ends.
        shown: AnyArray = last + (positions - center) * factor + (center - last) / factor
        return shown

    def image(self, frame: int) -> Image:
        """Return the image of a frame, (height, width, 3), 0 to 1."""
        width, height = self.camera.sides
        diameter, opacity = automatic_size(len(self.final), width * height)
        points = self.camera.to_pixels(self.positions(frame))
        drawn = Raster(width, height, rgb(self.style.background)).draw_points(points, self.colors, diameter, opacity)
        if frame < len(self.recorded) or not self.names:
            return drawn
        from pixelsne.pictures.name_image import with_names  # noqa: PLC0415 - Matplotlib is slow to import

        return with_names(drawn, self.names, self.style)

    def write(self, path: str | os.PathLike[str], *, verbose: bool = False) -> None:
        """Write the film, with progress on stderr if verbose."""
        with ExitStack() as stack:
            on_progress = None
            if verbose:
                from pixelsne.progress import progress  # noqa: PLC0415 - rich is slow to import

                listener = stack.enter_context(progress())
                on_progress = lambda fraction: listener.show(Snapshot(0, "film", fraction))  # noqa: E731 - short
            write_frames(Path(path), len(self), self.image, on_progress)


def make_film(recorder: Recorder, positions: Positions, screen: Screen, picture: "Picture", style: PlotStyle) -> Film:
    """Return the film of a finished run. positions: of all its points. picture: of the finished map."""
    from pixelsne.pictures.draw import choose_names  # noqa: PLC0415 - Matplotlib is slow to import

    rows, recorded = filmed_rows(len(positions)), recorder.recorded
    final = positions[rows].astype(np.float64)
    if recorded and np.allclose(recorded[-1].positions(), final, atol=max(screen.unit_per_pixel)):
        recorded = recorded[:-1]  # the last iteration, of which `final` is the exact result
    camera = Camera(screen)
    coloring = picture.coloring or Coloring(picture.regions.point_colors() if picture.regions else np.empty((0, 3)))
    names = choose_names(picture, coloring, View(0.0, 0.0, *map(float, screen.resolution)))
    return Film(recorded, final, camera, coloring.colors[rows], style, tuple(map(camera.place_name, names)))


def film_fit(
    model: "PixelSNE",
    path: str | os.PathLike[str],
    X: Any,
    color: Any,
    *,
    names: Any,
    weights: Any,
    fixed: Any,
    dark: bool,
) -> None:
    """Fit a model, and write the film; see `PixelSNE.film`."""
    check_film(path)
    if hasattr(X, "__dask_graph__"):
        raise ValueError("X is on a cluster, where maps cannot be filmed; pass X.compute(), or call fit")
    run = model.make_run(X, weights=weights, fixed=fixed)
    n, style = run.workload.n, PlotStyle(dark=dark)
    if color is not None:
        check_coloring(color, n, "", style)
    check_names(names, n)
    recorder = Recorder(run.settings.max_iter)
    check_memory(run.workload, extra_bytes=film_bytes(n, run.settings.max_iter))
    model._run_to_end(run, recorder)  # noqa: SLF001 - the method `film` of this class is here
    picture = make_picture(model.embedding_, model.screen_.resolution, color, "", names, style, None)
    make_film(recorder, model.positions_, model.screen_, picture, style).write(path, verbose=model.verbose)
