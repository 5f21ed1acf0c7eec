"""`polhode draw`"""

import math
from pathlib import Path
from typing import Any

import click

from polhode.cli.completion import models
from polhode.cli.options import listed, loaded, loading, output


class Values(click.ParamType):
    """Numbers separated by commas, in radians or with deg: 0.5,pi/4,30deg."""

    name = "VALUES"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The numbers as a tuple."""
        from polhode.formats.expression import Fault, evaluate

        if not isinstance(value, str):
            return value
        found = []
        for part in value.split(","):
            bare = part.strip().removesuffix("°").removesuffix("deg")
            try:
                found.append(evaluate(bare, {}) * (math.pi / 180 if bare != part.strip() else 1.0))
            except Fault:
                self.fail(f"{part.strip()!r} is not a number such as 0.5, pi/4 or 30deg", param, ctx)
        return tuple(found)


@click.command(short_help="Draw angles, or the joints of a model, as cans in series.")
@click.argument("what", shell_complete=models)
@click.option(
    "--at",
    type=Values(),
    default=None,
    help="Angles, or the model's q: rad and m, or 30deg.  [default: zero, or the model's start]",
)
@click.option("--rates", is_flag=True, help="Draw the rates as vectors.")
@click.option("--rate", type=Values(), default=None, help="The same, with a number for each; their sum at the body.")
@click.option("--names", default=None, help="Other names, split by commas: psi,theta,phi.")
@click.option("--sequence", default=None, help="Of a model: the angles by which balls and free bodies are drawn.")
@click.option(
    "--frames",
    type=click.Choice(["all", "ends", "base", "none"]),
    default=None,
    help="Which frames.  [default: what suits]",
)
@click.option("--values", is_flag=True, help="Write each value beside its name.")
@click.option("--lost/--no-lost", default=True, help="At gimbal lock draw the lost direction.  [default: yes]")
@click.option("--panels", is_flag=True, help="Of a sequence: one picture for each turn.")
@click.option("--classical", is_flag=True, help="Of a sequence: the classical three stages beside it.")
@click.option(
    "--view",
    type=Values(),
    default=None,
    help="Azimuth and elevation of the viewer: -50deg,25deg.  [default: from where most is seen]",
)
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True, help="Colours.")
@click.option(
    "--width",
    type=float,
    default=None,
    help="Of the page, mm.  [default: 80; 160 with panels or stages, or more than six turns]",
)
@loading
@output("The picture: .svg, .pdf or .png.  [default: WHAT-cans.svg]", "Overwrite an existing picture.")
def draw(what: str, base: str, mimic: str, packages: tuple[str, ...], out: Path | None, **asked: Any) -> None:
    """Draw WHAT as cans in series: a sequence of angles (313, extrinsic-321), a model file, or a bundled model."""
    from polhode.show.cans.chain import means_sequence, usual_sequence
    from polhode.show.cans.draw import draw_cans

    source: Any = what
    if not means_sequence(what):
        source = loaded(what, base=base, mimic=mimic, packages=packages)
        if asked["sequence"] is None and any(joint.kind.has_quaternion for joint in source.joints):
            click.echo(f"note: drawn by the angles {usual_sequence(source)}; choose others with --sequence", err=True)
    rate, view = asked.pop("rate"), asked.pop("view")
    asked["rates"] = rate if rate is not None else asked["rates"]
    asked["names"] = listed(asked["names"])
    path = out or Path(f"{Path(what).stem}-cans.svg")
    degrees = [math.degrees(x) for x in view] if view is not None else None
    picture = draw_cans(source, path, view=degrees, **asked)
    wide, high = picture.size
    click.echo(f"{path}: {wide:.0f} × {high:.0f} mm")
