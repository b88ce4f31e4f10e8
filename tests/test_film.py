"""Films: which iterations are recorded, a steady camera, and files of three kinds."""

import json
import os
import stat
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from command_line import QUICK, run
from pixelsne import PixelSNE, film_formats
from pixelsne.files.errors import FileError
from pixelsne.film import (
    MAX_FRAMES,
    MIN_SHOWN,
    Camera,
    Film,
    Recorded,
    filmed_iterations,
    filmed_rows,
    magnification,
)
from pixelsne.pictures.names import MapName
from pixelsne.pictures.style import PlotStyle
from pixelsne.screen import Screen

ITERATIONS = 40
SMALL = {"n_neighbors": 10, "max_iter": ITERATIONS, "random_state": 0, "resolution": (400, 300), "n_jobs": 1}

# Writes what it reads to the file named last.
COPYING_FFMPEG = f"""#!{sys.executable}
import sys
open(sys.argv[-1], "wb").write(" ".join(sys.argv).encode() + b"\\n" + sys.stdin.buffer.read())
"""
FAILING_FFMPEG = f"""#!{sys.executable}
import sys
sys.exit("first line\\nno encoder")
"""


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(80, 4)).astype(np.float32)


@pytest.fixture
def classes():
    return np.arange(80) % 3


@pytest.fixture
def small_films(monkeypatch):
    """Make films small, so that they are written quickly."""
    monkeypatch.setattr("pixelsne.film.SIDE", 120)


def install_ffmpeg(folder, monkeypatch, program):
    (folder / "bin").mkdir()
    path = folder / "bin" / "ffmpeg"
    path.write_text(program)
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", str(folder / "bin"))


def film_of(recorded, final, colors=(0.2, 0.4, 0.8), **options):
    bounds = (*final.min(axis=0), *final.max(axis=0))
    camera = Camera(Screen.around(bounds, (400, 300), "equal"))
    frames = [Recorded.at(index + 1, positions.astype(np.float32)) for index, positions in enumerate(recorded)]
    return Film(frames, final, camera, np.tile(colors, (len(final), 1)), PlotStyle(), **options)


def test_every_iteration_of_a_usual_run_is_filmed():
    assert filmed_iterations(250) == set(range(1, 251))
    assert filmed_iterations(1) == {1}


@pytest.mark.parametrize("max_iter", [299, 300, 301, 1000, 100_000])
def test_long_runs_are_filmed_more_densely_at_first(max_iter):
    iterations = sorted(filmed_iterations(max_iter))
    gaps = np.diff(iterations)
    assert len(iterations) <= MAX_FRAMES - 1
    assert len(iterations) > 0.8 * MAX_FRAMES
    assert iterations[0] == 1
    assert iterations[-1] == max_iter
    assert gaps[:30].mean() <= gaps[-30:].mean()


def test_recorded_positions_are_exact_to_a_code():
    positions = np.random.default_rng(0).normal(size=(500, 2)).astype(np.float32) * [30, 1e-4]
    recorded = Recorded.at(3, positions.astype(np.float32))
    assert recorded.codes.nbytes == 4 * 500
    error = np.abs(recorded.positions() - positions.astype(np.float32)).max(axis=0)
    assert (error <= 0.51 * np.ptp(positions, axis=0) / 65535).all()


def test_equal_positions_are_recorded():
    assert np.array_equal(Recorded.at(1, np.full((3, 2), 7, np.float32)).positions(), np.full((3, 2), 7.0))


def test_a_map_grows_without_jumps_and_is_never_tiny():
    sizes = np.concatenate([np.geomspace(1e-7, 1e-2, 300), np.linspace(1e-2, 2, 4000)])
    shown = np.array([size * magnification(size) for size in sizes])
    assert shown.min() > 0.9 * MIN_SHOWN
    assert np.abs(np.diff(shown)).max() < 0.005
    assert np.array_equal(shown[sizes >= 1], sizes[sizes >= 1])
    assert magnification(0.0) == 1


def test_the_camera_is_steady_once_the_map_has_its_size():
    random = np.random.default_rng(0)
    final = random.normal(size=(300, 2)) * 20
    moved = final.copy()
    moved[:30] *= 1.5
    moved[:30] += 3
    film = film_of([moved], final)
    assert np.abs(film.positions(0) - moved).max() < 0.01
    assert np.array_equal(film.positions(1), final)


def test_a_tiny_map_is_shown_around_the_place_where_it_ends():
    final = np.random.default_rng(0).normal(size=(300, 2)) * 20 + [5, -3]
    film = film_of([1e-4 + 1e-6 * final, 0.05 * final], final)
    for frame in (0, 1):
        shown = film.positions(frame)
        assert shown.mean(axis=0) == pytest.approx(final.mean(axis=0), abs=0.5)
        assert shown.std() / final.std() == pytest.approx(MIN_SHOWN, rel=0.06)


def test_the_whole_final_map_is_in_the_picture():
    final = np.random.default_rng(0).normal(size=(300, 2))
    film = film_of([], final)
    width, height = film.camera.sides
    assert (width, height) == (640, 486)
    pixels = film.camera.to_pixels(final)
    assert (pixels >= 11.9).all()
    assert (pixels <= [width - 11.9, height - 11.9]).all()
    assert film.image(0).shape == (height, width, 3)


@pytest.mark.parametrize("resolution", [(1000, 16), (16, 1000), (641, 333)])
def test_sides_are_even_and_larger_than_the_margins(resolution):
    sides = Camera(Screen((0, 0), (1, 1), resolution)).sides
    assert all(side % 2 == 0 and side >= 48 for side in sides)
    assert max(sides) == 640


def test_equal_points_can_be_filmed():
    film = film_of([np.zeros((4, 2)), np.arange(8.0).reshape(4, 2)], np.zeros((4, 2)))
    for frame in range(3):
        assert np.isfinite(film.image(frame)).all()


@pytest.mark.usefixtures("small_films")
def test_a_film_has_a_frame_per_iteration_and_ends_with_the_map(points, classes, tmp_path):
    model = PixelSNE(**SMALL)
    assert model.film(tmp_path / "map.webp", points, classes, names=False) is model  # names may cover dots
    assert np.array_equal(model.embedding_, PixelSNE(**SMALL).fit(points).embedding_)
    with Image.open(tmp_path / "map.webp") as film:
        assert (film.n_frames, film.size, film.info["loop"]) == (ITERATIONS, (120, 96), 0)
        film.seek(0)
        film.load()
        assert film.info["duration"] == 33
        film.seek(ITERATIONS - 1)
        last = np.asarray(film.convert("RGB")) / 255.0
        assert film.info["duration"] == 2000
    pixels = Camera(model.screen_).to_pixels(model.positions_)
    dots = last[pixels[:, 1].astype(int), pixels[:, 0].astype(int)]
    assert np.abs(dots - 1).max(axis=1).min() > 0.2  # all points are drawn
    assert last.mean() > 0.5


@pytest.mark.usefixtures("small_films")
def test_dark_films_have_a_dark_background(points, tmp_path):
    PixelSNE(**SMALL).film(tmp_path / "map.webp", points, dark=True)
    with Image.open(tmp_path / "map.webp") as film:
        assert np.asarray(film.convert("RGB"))[:3, :3].max() < 40


def test_names_are_written_on_the_last_picture_only():
    corners = np.array([[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0]])
    camera = film_of([corners], corners).camera
    name = camera.place_name(MapName("center", (camera.screen.resolution[0] / 2, 150.0), 1, 4, 400.0, "#000000"))
    film = film_of([corners], corners, names=(name,))
    plain = film_of([corners], corners)
    np.testing.assert_array_equal(film.image(0), plain.image(0))
    changed = np.abs(film.image(1) - plain.image(1)).max(axis=2) > 0.1
    rows, columns = np.nonzero(changed)
    height, width = changed.shape
    assert changed.any()
    assert abs(rows.mean() - height / 2) < 0.1 * height
    assert abs(columns.mean() - width / 2) < 0.1 * width


@pytest.mark.usefixtures("small_films")
def test_categories_are_named_where_they_are(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        "pixelsne.pictures.name_image.with_names", lambda image, names, _style: written.extend(names) or image
    )
    groups = np.repeat([0, 100], 60)
    points = np.random.default_rng(0).normal(size=(120, 4)) + groups[:, None]
    model = PixelSNE(**SMALL).film(tmp_path / "map.webp", points, np.where(groups > 0, "high", "low"))
    assert {name.text for name in written} == {"high", "low"}
    camera = Camera(model.screen_)
    for name in written:
        own = camera.from_screen(model.embedding_)[(groups > 0) == (name.text == "high")]
        assert (own.min(axis=0) <= name.anchor).all()
        assert (own.max(axis=0) >= name.anchor).all()


@pytest.mark.parametrize("resolution", [(400, 300), (1000, 100), (64, 4000)])
def test_films_do_not_distort_the_map(resolution):
    camera = Camera(Screen.around((0.0, 0.0, 8.0, 6.0), resolution, "equal"))
    shown = camera.from_screen(np.array([[0.0, 0.0], [resolution[0], 0.0], [0.0, resolution[1]]]))
    sides = [shown[1, 0] - shown[0, 0], shown[2, 1] - shown[0, 1]]
    assert sides[0] / sides[1] == pytest.approx(resolution[0] / resolution[1])
    assert (shown >= 0).all()
    assert (shown <= camera.sides).all()


@pytest.mark.usefixtures("small_films")
def test_a_gif_has_the_same_frames(points, classes, tmp_path):
    PixelSNE(**SMALL).film(tmp_path / "map.gif", points, classes)
    with Image.open(tmp_path / "map.gif") as film:
        assert (film.n_frames, film.size, film.info["loop"]) == (ITERATIONS, (120, 96), 0)
        film.seek(ITERATIONS - 1)
        assert film.info["duration"] == 2000


@pytest.mark.usefixtures("small_films")
@pytest.mark.skipif(os.name == "nt", reason="the program is a script")
def test_ffmpeg_gets_all_frames(points, tmp_path, monkeypatch):
    install_ffmpeg(tmp_path, monkeypatch, COPYING_FFMPEG)
    PixelSNE(**SMALL).film(tmp_path / "map.mp4", points)
    arguments, frames = (tmp_path / "map.mp4").read_bytes().split(b"\n", 1)
    assert b"-s 120x96 -r 30 -i -" in arguments
    assert len(frames) == (ITERATIONS - 1 + 2 * 30) * 120 * 96 * 3
    assert frames[-120 * 96 * 3 :] == frames[-2 * 120 * 96 * 3 : -120 * 96 * 3]


@pytest.mark.usefixtures("small_films")
@pytest.mark.skipif(os.name == "nt", reason="the program is a script")
def test_an_error_of_ffmpeg_is_reported(points, tmp_path, monkeypatch):
    install_ffmpeg(tmp_path, monkeypatch, FAILING_FFMPEG)
    model = PixelSNE(**SMALL)
    with pytest.raises(FileError, match=r"map\.mp4: ffmpeg failed: no encoder"):
        model.film(tmp_path / "map.mp4", points)
    assert model.embedding_.shape == (80, 2)
    assert not (tmp_path / "map.mp4").exists()


def test_films_that_cannot_be_written_are_refused_before_the_fit(points, tmp_path, monkeypatch):
    monkeypatch.setattr(PixelSNE, "make_run", lambda *_, **__: pytest.fail("was fitted"))
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "folder.webp").mkdir()
    for name, message in (
        ("map.avi", r"known are \.webp, \.gif, \.mp4"),
        ("map.mp4", "needs the program ffmpeg, which is not installed"),
        ("folder.webp", "is a folder"),
    ):
        with pytest.raises(FileError, match=message):
            PixelSNE(**SMALL).film(tmp_path / name, points)


def test_wrong_colors_are_refused_before_the_fit(points, tmp_path, monkeypatch):
    monkeypatch.setattr(PixelSNE, "_run_to_end", lambda *_: pytest.fail("was fitted"))
    with pytest.raises(ValueError, match="color must have one value for each of the 80 points, got 79"):
        PixelSNE(**SMALL).film(tmp_path / "map.webp", points, np.zeros(79))


def test_maps_on_a_cluster_are_not_filmed(points, tmp_path):
    arrays = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="X is on a cluster, where maps cannot be filmed"):
        PixelSNE(**SMALL).film(tmp_path / "map.webp", arrays.from_array(points))


@pytest.mark.usefixtures("small_films")
@pytest.mark.parametrize(("n", "iterations"), [(2, 1), (3, 2), (2, 12)])
def test_short_runs_and_few_points(n, iterations, tmp_path):
    X = np.random.default_rng(0).normal(size=(n, 3))
    model = PixelSNE(n_neighbors=1, max_iter=iterations, random_state=0)
    for suffix in ("webp", "gif"):
        path = tmp_path / f"map.{suffix}"
        model.film(path, X)
        with Image.open(path) as film:
            assert 1 <= getattr(film, "n_frames", 1) <= iterations


@pytest.mark.usefixtures("small_films")
def test_a_webp_film_has_the_quality_that_fits(points, tmp_path, monkeypatch):
    PixelSNE(**SMALL).film(tmp_path / "best.webp", points)
    best = (tmp_path / "best.webp").stat().st_size
    monkeypatch.setattr(film_formats, "MAX_BYTES", 0.7 * best)
    monkeypatch.setattr(film_formats, "FRAMES_TRIED", ITERATIONS)  # of so few and small frames, a sample says little
    PixelSNE(**SMALL).film(tmp_path / "less.webp", points)
    assert 0.3 * best < (tmp_path / "less.webp").stat().st_size <= 0.7 * best


@pytest.mark.usefixtures("small_films")
def test_of_large_maps_a_sample_is_filmed(points, classes, tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.film.MAX_POINTS", 30)
    rows = filmed_rows(80)
    assert len(set(rows.tolist())) == 30
    assert np.array_equal(rows, filmed_rows(80))
    PixelSNE(**SMALL).film(tmp_path / "map.webp", points, classes)
    assert (tmp_path / "map.webp").stat().st_size > 0


@pytest.mark.usefixtures("small_films")
def test_an_interrupted_fit_is_filmed_until_then(points, tmp_path):
    def interrupt(snapshot):
        if snapshot.iteration == 7:
            raise KeyboardInterrupt

    model = PixelSNE(**SMALL, callback=interrupt).film(tmp_path / "map.webp", points)
    assert model.stopped_by_ == "interrupt"
    with Image.open(tmp_path / "map.webp") as film:
        assert film.n_frames == 7


@pytest.mark.usefixtures("small_films")
def test_an_interrupt_while_drawing_keeps_the_map_and_the_old_film(points, tmp_path, monkeypatch):
    (tmp_path / "map.webp").write_bytes(b"old")

    def interrupt(_film, frame):
        assert frame >= 0
        raise KeyboardInterrupt

    monkeypatch.setattr(Film, "image", interrupt)
    model = PixelSNE(**SMALL)
    with pytest.raises(KeyboardInterrupt):
        model.film(tmp_path / "map.webp", points)
    assert model.embedding_.shape == (80, 2)
    assert (tmp_path / "map.webp").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["map.webp"]


@pytest.mark.parametrize("suffix", [".webp", ".gif"])
def test_progress_rises_to_the_end(suffix, tmp_path):
    fractions = []
    gray = [np.full((20, 20, 3), shade) for shade in np.linspace(0, 1, 5)]
    film_formats.write_frames(tmp_path / f"film{suffix}", 5, lambda frame: gray[frame], fractions.append)
    assert fractions == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])


@pytest.mark.usefixtures("small_films")
def test_progress_is_shown_while_the_film_is_drawn(points, tmp_path, capsys):
    PixelSNE(**SMALL, verbose=True).film(tmp_path / "map.webp", points)
    assert "filming" in capsys.readouterr().err


@pytest.fixture
def table(points, classes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {f"c{index}": points[:, index] for index in range(4)}
    pq.write_table(pa.table(columns | {"class": classes.astype(str)}), "points.parquet")
    return tmp_path


@pytest.mark.usefixtures("small_films")
def test_the_command_writes_a_film(table):
    arguments = ("embed", "points.parquet", "-o", "map.parquet", "--label", "class", "--film", "new/map.webp", "--json")
    result = run(*arguments, *QUICK)
    assert json.loads(result.stdout)["paths"]["film"] == "new/map.webp"
    with Image.open(table / "new" / "map.webp") as film:
        assert film.n_frames == 60


@pytest.mark.usefixtures("small_films", "table")
def test_a_resumed_run_is_filmed_from_there(monkeypatch):
    arguments = ("embed", "points.parquet", "-o", "map.parquet", "--film", "map.webp", "--every", "0", *QUICK)

    def stop(_recorder, snapshot):
        if snapshot.iteration == 50:
            raise FloatingPointError("stopped")

    with monkeypatch.context() as patch:
        patch.setattr("pixelsne.film.Recorder.__call__", stop)
        assert "stopped" in run(*arguments, "--checkpoint", "run.ckpt", expect=1).stderr
    run(*arguments, "--resume", "run.ckpt")
    with Image.open("map.webp") as film:
        assert film.n_frames == 60 - 49


@pytest.mark.parametrize(
    ("film", "message"),
    [("map.avi", "known are .webp, .gif, .mp4"), ("points.parquet", "is an input (INPUT) that --film would overwrite")],
)
@pytest.mark.usefixtures("table")
def test_the_command_refuses_films_before_it_reads(film, message, monkeypatch):
    monkeypatch.setattr("pixelsne.commands.embed.read_input", lambda *_: pytest.fail("was read"))
    stderr = run("embed", "points.parquet", "-o", "map.parquet", "--film", film, *QUICK, expect=1).stderr
    assert message in stderr


@pytest.mark.usefixtures("table")
def test_a_film_and_a_picture_need_different_names():
    options = ("--film", "same.webp", "--model", "same.webp")
    stderr = run("embed", "points.parquet", "-o", "map.parquet", *options, *QUICK, expect=1).stderr
    assert "would be written by both" in stderr
