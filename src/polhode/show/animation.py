"""`ph.animate`: a run as a moving picture, .html, .mp4 or .gif, or one instant of it, .png."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import __version__
from polhode.errors import InputError, PolhodeError, message
from polhode.euler import check_sequence
from polhode.model import Model
from polhode.result.atomic_file import atomic_path, atomic_write
from polhode.scalar import real_number
from polhode.show.figure import check_new_file
from polhode.show.packing import PackedArrays
from polhode.show.page.document import document
from polhode.show.page.report import SCRIPTS, STYLES
from polhode.show.page.sections import animation as animation_section, header
from polhode.show.plots.run_source import Run, as_run, instants, model_of
from polhode.show.scene.film import HUB, PAPER, SERIES, TEXT, Film, Shown, rgb
from polhode.show.scene.meshes import looks
from polhode.show.scene.motion import Arrays
from polhode.show.scene.scene import scene

if TYPE_CHECKING:
    from PIL.Image import Image
    from xarray import Dataset


KINDS = (".html", ".mp4", ".gif", ".png")
SECONDS, REAL = 6.0, (3.0, 10.0)
"""Seconds that a film plays; a motion that takes between the two REAL values plays in real time."""
LOOP = 2.0
"""Seconds that one round of a film that loops plays."""
LOOPS, CAPTION = "loops", "caption"
"""Attributes of what is shown: that it goes on where it began; what stands below it in place of the time."""
LOOKED_AT = 8
"""Pictures that the colours of a .gif are taken of."""
PLAIN = [np.rint(255 * rgb(colour)).astype(int) for colour in (PAPER, HUB, TEXT, *SERIES)]
"""Colours that every .gif has exactly."""
ALIKE = 12
"""Difference of bytes up to which a colour counts as such a one."""
MOST = 2000
"""The most pictures in a film."""


@np.errstate(all="ignore")  # a run that failed may hold anything
def animate(
    run: Run,
    path: str | Path,
    *,
    model: Model | str | Path | None = None,
    trails: bool = True,
    frames: bool = False,
    vectors: bool = True,
    cans: bool = False,
    meshes: Any = None,
    packages: Sequence[str | Path] = (),
    sequence: str = "313",
    color: str | None = None,
    at: float | None = None,
    seconds: float | None = None,
    rate: float = 25.0,
    size: tuple[int, int] = (640, 480),
    view: Sequence[float] | None = None,
    overwrite: bool = False,
    progress: Any = None,
) -> Path:
    """Write a moving picture of a run: .html (in a browser, to be turned and zoomed), .mp4 or .gif; .png: an instant.

    A body is the box, cylinder or ball that has its mass and inertia, with links between its joints, or its mesh. Beams
    are bent, with their sections.

    run       a run, or a state that `ph.equilibrium` returns, with its model
    model     the run's model, where the run does not hold it
    trails    paths of the outermost bodies
    frames    the axes x, y, z of every body, orange, green, blue
    vectors   angular velocities ω and the angular momentum L
    cans      joints as cans in series; balls and free bodies by the angles of `sequence`
    meshes    a URDF whose shapes the bodies have, or by body: a mesh file, or triangles (n, 3, 3) in its axes
    packages  folders in which package://NAME of the URDF is looked for
    color     the section force by which beams are coloured: "N", "My", … or "bending_y", "torsion", …; "plain": none;
              √(My² + Mz²) unless given
    at        of a .png: the instant, s; the last unless given
    seconds   how long a film plays; None: as the motion was, or 6 s
    rate      pictures per second of a film
    size      of a film, pixels
    view      azimuth and elevation of a film's viewer, degrees; None: from where most is seen
    progress  called with the number of pictures done and of all
    """
    path = Path(path)
    _check(path, overwrite, rate, size, seconds)
    check_sequence(sequence)
    found = as_run("animate", run, model)
    known = model_of("animation", found, model)
    if path.suffix != ".png" and LOOPS not in found.attrs:
        instants("animation", found)
    shown = Shown(trails, frames, vectors, cans)
    shapes = looks(meshes, known, packages)
    if path.suffix == ".html":
        with atomic_write(path, overwrite) as sink:
            sink.write(_page(found, known, shown, sequence, shapes, color).encode())
        return path
    _needs_pillow()
    encoder = _ffmpeg() if path.suffix == ".mp4" else ""
    arrays = Arrays()
    moving = scene(found, known, arrays, sequence, shapes, color)  # type: ignore[arg-type]
    if moving is None:
        raise _nothing(found)
    film = Film(moving, arrays, shown, size, view, str(found.attrs.get(CAPTION, "")))
    if path.suffix == ".png":
        return _write_png(film, path, overwrite, at)
    pictures = _pictures(film, seconds, rate, progress, LOOPS in found.attrs)
    with atomic_path(path, overwrite, path.suffix) as part:
        if path.suffix == ".gif":
            _write_gif(pictures, part, rate, _palette(film))
        else:
            _write_mp4(pictures, part, rate, size, encoder)
    return path


def _check(path: Path, overwrite: bool, rate: float, size: tuple[int, int], seconds: float | None) -> None:
    """Refuse what cannot be written, before any work is done for it."""
    where = f"animate {path}"
    if path.suffix not in KINDS:
        raise InputError(message(where, "unknown kind of moving picture", repr(path.suffix), ", ".join(KINDS)))
    check_new_file(where, path, overwrite)
    if not 1 <= rate <= 120:
        raise InputError(message(f"{where}, rate", "no such rate", repr(rate), "1 … 120 pictures per second"))
    if seconds is not None and not 0 < seconds * rate <= MOST:
        expected = f"up to {MOST / rate:g} s at {rate:g} pictures per second"
        raise InputError(message(f"{where}, seconds", "no such length", repr(seconds), expected))
    if len(size) != 2 or not all(isinstance(x, (int, np.integer)) and 64 <= x <= 4096 and x % 2 == 0 for x in size):
        raise InputError(message(f"{where}, size", "no such size", repr(size), "two even numbers, 64 … 4096"))


def _nothing(run: "Dataset") -> InputError:
    found = ", ".join(map(str, run.data_vars))
    fix = "Was the run made with keep=[…]? Make it again with these variables."
    return InputError(
        message("animate", "no poses that can be drawn", found, "position and quaternion of all bodies", fix)
    )


def _page(run: "Dataset", model: Model, shown: Shown, sequence: str, shapes: dict[str, Any], color: str | None) -> str:
    """The page of an animation: the report's own stage, alone."""
    store = PackedArrays()
    moving = scene(run, model, store, sequence, shapes, color)
    if moving is None:
        raise _nothing(run)
    time = np.asarray(run["time"].values, dtype=float)
    data = {
        "start": float(time[0]),
        "end": float(time[-1]),
        "plots": [],
        "events": [],
        "scene": moving,
        "poinsot": None,
        "loops": LOOPS in run.attrs,
    }
    name = str(run.attrs.get("model_name") or model.name)
    chosen = {"trail": shown.trails, "axes": shown.frames, "vectors": shown.vectors, "cans": shown.cans}
    caption = str(run.attrs.get(CAPTION, ""))
    told = f'<p class="note">{escape(caption)}</p>' if caption else ""
    body = [
        header(run, model, name, time),
        f'<main class="film">{told}{animation_section(moving, chosen)}</main>',
    ]
    return document(name, body, STYLES, SCRIPTS, {**data, "arrays": store.texts})


# films


def _pictures(film: Film, seconds: float | None, rate: float, progress: Any, loops: bool) -> "Iterator[Image]":
    """Pictures evenly spread over the motion, first and last instant among them; of a loop, each once."""
    start, end = film.motion.time[0], film.motion.time[-1]
    real = end - start if REAL[0] <= end - start <= REAL[1] else SECONDS
    length = seconds or (LOOP if loops else real)
    count = max(2, min(MOST, round(length * rate)))
    for k, t in enumerate(np.linspace(start, end, count, endpoint=not loops)):
        yield film.draw(float(t))
        if progress is not None:
            progress(k + 1, count)


def _write_png(film: Film, path: Path, overwrite: bool, at: float | None) -> Path:
    """The picture of an instant."""
    time = film.motion.time
    t = float(time[-1]) if at is None else real_number("animate, at", at, "seconds")
    if not time[0] <= t <= time[-1]:
        raise InputError(message("animate, at", "not an instant of the run", f"{t:g}", f"{time[0]:g} … {time[-1]:g} s"))
    with atomic_path(path, overwrite, path.suffix) as part:
        film.draw(t).save(part)
    return path


def _needs_pillow() -> None:
    try:
        import matplotlib  # noqa: F401  its fonts
        import PIL  # noqa: F401
    except ImportError:
        raise PolhodeError(
            "films need Pillow and matplotlib.\n  Install them with: pip install 'polhode[plot]'"
        ) from None


def _ffmpeg() -> str:
    """The program that writes .mp4, or an error that says how to get it."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise PolhodeError(
            ".mp4 needs ffmpeg, which is not installed.\n"
            "  Install it with your system's packages, or with: pip install 'polhode[film]'\n"
            "  Or write .gif or .html, which need nothing more."
        ) from None


def _palette(film: Film) -> "Image":
    """A picture with the 256 colours of a film: those of pictures from all of it, and the plain ones it is drawn in.

    One picture would not do: what appears later would get the nearest of other colours.
    """
    from PIL import Image

    times, (width, height) = film.motion.time, film.size
    sheet = Image.new("RGB", (width, height * LOOKED_AT))
    for k, t in enumerate(np.linspace(times[0], times[-1], LOOKED_AT)):
        sheet.paste(film.draw(float(t)), (0, height * k))
    found = sheet.quantize(256 - len(PLAIN), method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colours = np.zeros((256, 3), int)
    numbers = np.array(found.getpalette()).reshape(-1, 3)[: 256 - len(PLAIN)]
    colours[: len(numbers)] = numbers
    colours[256 - len(PLAIN) :] = PLAIN
    for plain in PLAIN:  # no other that could be taken for one
        colours[abs(colours - plain).max(axis=1) <= ALIKE] = plain
    made = Image.new("P", (1, 1))
    made.putpalette(colours.ravel().tolist())
    return made


def _write_gif(pictures: "Iterator[Image]", path: Path, rate: float, palette: "Image") -> None:
    from PIL import Image

    first, *rest = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)
    hundredths = max(2, round(100 / rate))  # what the format can say
    first.save(path, save_all=True, append_images=rest, duration=10 * hundredths, loop=0, optimize=False, disposal=1)


def _write_mp4(pictures: "Iterator[Image]", path: Path, rate: float, size: tuple[int, int], encoder: str) -> None:
    command = [encoder, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}"]
    command += ["-r", f"{rate:g}", "-i", "-", "-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18"]
    command += ["-movflags", "+faststart", "-metadata", f"comment=polhode {__version__}", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            for picture in pictures:
                process.stdin.write(picture.tobytes())
            process.stdin.close()
        except BrokenPipeError:
            pass
        except BaseException:
            process.kill()
            raise
        fault = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        raise PolhodeError(f"ffmpeg could not write {path.name}.\n  It said: {fault[:300] or 'nothing'}")
