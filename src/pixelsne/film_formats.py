"""Write the frames of a film as webp, gif or mp4. Frames are drawn when they are needed, one at a time."""

import io
import os
import shutil
import subprocess
import tempfile
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from pixelsne.files.errors import FileError
from pixelsne.files.write_map import check_output, create_file
from pixelsne.raster import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

FRAMES_PER_SECOND = 30
MILLISECONDS = 33  # of a frame
GIF_MILLISECONDS = 40  # gif counts in hundredths of a second, and many programs show shorter frames slowly
STILL_SECONDS = 2  # of the last frame

# A webp file has the highest quality with which it takes at most about MAX_BYTES, as measured on some of its frames.
MAX_BYTES = 5_000_000
FILLED_SHARE = 0.95  # of MAX_BYTES, because the other frames may take more
QUALITIES = (80, 70, 60, 50, 40, 33, 27, 22, 18, 14, 10, 7, 4, 2, 0)
FRAMES_TRIED = 16
CONTAINER_BYTES = 56  # of a frame, added to those of its picture
METHOD = 2  # effort of the webp encoder, 0 to 6

GIF_COLORS = 128
FRAMES_IN_PALETTE = 4

FFMPEG = "ffmpeg"

Draw = Callable[[int], Image]  # by index of the frame
Show = Callable[[int], "Picture"]
WriteFilm = Callable[[Path, int, Show, Show], None]  # the second to look at some frames first


def check_film(path: str | os.PathLike[str], inputs: tuple[Path, ...] = ()) -> None:
    """Raise FileError if a film cannot be written there, before the run starts."""
    path = check_output(path, inputs, FILMS)
    suffix = path.suffix.lower()
    if suffix == ".mp4" and shutil.which(FFMPEG) is None:
        raise FileError(path, f"needs the program {FFMPEG}, which is not installed; install it, or write .webp or .gif")
    if suffix == ".webp":
        from PIL import features  # noqa: PLC0415 - slow to import

        if not features.check("webp"):
            raise FileError(path, "needs Pillow with webp, and this one was built without it; write .gif")


def write_frames(path: Path, count: int, draw: Draw, on_progress: Callable[[float], object] | None = None) -> None:
    """Write a film of `count` frames, which repeats. The last frame stays for STILL_SECONDS.

    on_progress: called with the share of the frames that are drawn.
    """
    from PIL import Image as pictures  # noqa: N813, PLC0415 - a module; slow to import

    def preview(frame: int) -> "Picture":
        return pictures.fromarray(np.rint(255 * np.clip(draw(frame), 0, 1)).astype(np.uint8))

    def show(frame: int) -> "Picture":
        picture = preview(frame)
        if on_progress is not None:
            on_progress((frame + 1) / count)
        return picture

    WRITERS[path.suffix.lower()](path, count, show, preview)


class LaterFrames:
    """All frames but the first, as Pillow reads them from a file: it calls `seek`, and then uses the current frame.

    Pillow wants a list of pictures. If all were drawn first, they would take half a gigabyte.
    """

    def __init__(self, count: int, show: Show) -> None:
        self.n_frames = count - 1
        self._show = show
        self._frame = -1
        self._picture: Picture | None = None

    def seek(self, frame: int) -> None:
        if not 0 <= frame < self.n_frames:
            raise EOFError
        if frame != self._frame:
            self._frame, self._picture = frame, self._show(frame + 1)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self.seek(max(self._frame, 0))
        return getattr(self._picture, name)


def save_with_pillow(path: Path, count: int, show: Show, milliseconds: int, **options: Any) -> None:
    durations = [milliseconds] * (count - 1) + [1000 * STILL_SECONDS]
    later = [LaterFrames(count, show)] if count > 1 else []
    kind = path.suffix.lower().removeprefix(".")
    with create_file(path) as file:
        show(0).save(file, kind, save_all=True, append_images=later, duration=durations, loop=0, **options)


def spread_over(count: int, chosen: int) -> list[int]:
    """Return the indices of at most `chosen` frames, evenly spaced, with the last one."""
    return sorted(set(np.linspace(count - 1, 0, min(chosen, count)).astype(int).tolist()))


def choose_quality(count: int, show: Show) -> int:
    """Return the quality of a webp file."""
    tried = [show(frame) for frame in spread_over(count, FRAMES_TRIED)]

    def fits(quality: int) -> bool:
        mean = sum(webp_size(picture, quality) for picture in tried) / len(tried)
        return (mean + CONTAINER_BYTES) * count <= FILLED_SHARE * MAX_BYTES

    index = bisect_left(QUALITIES, x=True, key=fits)
    return QUALITIES[min(index, len(QUALITIES) - 1)]


def webp_size(picture: "Picture", quality: int) -> int:
    """Return the bytes of one frame."""
    file = io.BytesIO()
    picture.save(file, "webp", quality=quality, method=METHOD)
    return file.tell()


def write_webp(path: Path, count: int, show: Show, preview: Show) -> None:
    save_with_pillow(path, count, show, MILLISECONDS, quality=choose_quality(count, preview), method=METHOD)


def write_gif(path: Path, count: int, show: Show, preview: Show) -> None:
    """Write a gif, in which all frames have the colors of a few of them."""
    from PIL import Image as pictures  # noqa: N813, PLC0415 - a module; slow to import

    typical = np.concatenate([np.asarray(preview(frame)) for frame in spread_over(count, FRAMES_IN_PALETTE)])
    palette = pictures.fromarray(typical).quantize(GIF_COLORS)

    def show_in_palette(frame: int) -> "Picture":
        return show(frame).quantize(palette=palette, dither=pictures.Dither.NONE)

    save_with_pillow(path, count, show_in_palette, GIF_MILLISECONDS, optimize=False)


def write_mp4(path: Path, count: int, show: Show, preview: Show) -> None:
    """Write a video with ffmpeg, which must seek in its output, so it writes to a temporary folder first."""
    width, height = preview(0).size
    pixels = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(FRAMES_PER_SECOND))
    with tempfile.TemporaryDirectory() as folder:
        video, log = Path(folder) / "film.mp4", Path(folder) / "log"
        encoding = ("-an", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(video))
        command = (FFMPEG, "-loglevel", "error", "-y", *pixels, "-i", "-", *encoding)
        with log.open("wb") as messages:
            exit_code = pipe_frames(command, count, show, messages)
        if exit_code != 0 or not video.exists():
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            raise FileError(path, f"{FFMPEG} failed: {lines[-1] if lines else f'exit code {exit_code}'}")
        with create_file(path) as file, video.open("rb") as finished:
            shutil.copyfileobj(finished, file)


def pipe_frames(command: tuple[str, ...], count: int, show: Show, messages: IO[bytes]) -> int:
    """Run a command that reads the frames, and return its exit code."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=messages, stderr=messages)  # noqa: S603 - a fixed program
    with suppress(BrokenPipeError), process:  # a program that ends early has said why
        try:
            if process.stdin is not None:
                for frame in range(count):
                    still = FRAMES_PER_SECOND * STILL_SECONDS if frame == count - 1 else 1
                    process.stdin.write(show(frame).tobytes() * still)
            process.communicate()
        except BaseException:
            process.kill()
            raise
    return process.returncode


WRITERS: dict[str, WriteFilm] = {".webp": write_webp, ".gif": write_gif, ".mp4": write_mp4}
FILMS = tuple(WRITERS)
