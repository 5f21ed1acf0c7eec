"""`polhode animate`: a run as a moving picture."""

import math
import re
from pathlib import Path
from typing import Any

import click

from polhode.cli.completion import models, runs
from polhode.cli.draw import Values
from polhode.cli.options import Seconds, output
from polhode.cli.progress import progress_of


class Size(click.ParamType):
    """Width and height in pixels: 640x480."""

    name = "WIDTHxHEIGHT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The two numbers."""
        found = re.fullmatch(r"(\d{1,5})\s*[x×,]\s*(\d{1,5})", str(value)) if isinstance(value, str) else None
        if found is None and isinstance(value, str):
            self.fail(f"{value!r} is not a size such as 640x480", param, ctx)
        return value if found is None else (int(found[1]), int(found[2]))


@click.command(short_help="Show a run in motion: a page for a browser, or a film.")
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@output(
    "The moving picture: .html, .mp4 or .gif; .png: an instant.  [default: RUN.html beside the run]",
    "Overwrite an existing picture.",
)
@click.option("--trails/--no-trails", default=True, help="Paths of the outermost bodies.  [default: yes]")
@click.option("--frames", is_flag=True, help="The axes of every body.")
@click.option(
    "--vectors/--no-vectors", default=True, help="Angular velocities and the angular momentum.  [default: yes]"
)
@click.option("--cans", is_flag=True, help="Joints as cans in series.")
@click.option(
    "--sequence", default="313", show_default=True, help="The angles by which balls and free bodies have cans."
)
@click.option(
    "--color",
    default=None,
    metavar="FORCE",
    help="What beams are coloured by: N, Qy, Qz, Mx, My, Mz, M, or bending_y, torsion, …; plain.  [default: M, bending]",
)
@click.option("--at", type=Seconds(), default=None, help="Of a .png: the instant, s.  [default: the last]")
@click.option(
    "--seconds", type=Seconds(), default=None, help="How long a film plays.  [default: as the motion was, or 6 s]"
)
@click.option("--rate", type=float, default=25.0, show_default=True, help="Pictures per second of a film.")
@click.option("--size", type=Size(), default="640x480", show_default=True, help="Of a film, pixels.")
@click.option("--view", type=Values(), default=None, help="Azimuth and elevation of a film's viewer: 30deg,20deg.")
@click.option(
    "--model",
    default=None,
    shell_complete=models,
    help="The run's model, if the run does not hold it: a file or a bundled name.",
)
@click.option("--meshes", type=click.Path(path_type=Path), default=None, help="A URDF whose shapes the bodies have.")
@click.option(
    "--package", "packages", multiple=True, type=click.Path(), help="Its folder for package://; may be repeated."
)
def animate(run: Path, out: Path | None, view: tuple[float, ...] | None, **options: Any) -> None:
    """Show RUN (run.nc, or its folder) in motion: a page for a browser, or a film."""
    from polhode.show.animation import animate as write

    path = out or (run / "run" if run.is_dir() else run).with_suffix(".html")
    options["view"] = None if view is None else [math.degrees(x) for x in view]
    with progress_of("drawing", 100) as advance:
        done = 0

        def progress(count: int, of: int) -> None:
            nonlocal done
            while done < 100 * count // of:
                advance("")
                done += 1

        made = write(run, path, progress=progress, **options)
    click.echo(made)
