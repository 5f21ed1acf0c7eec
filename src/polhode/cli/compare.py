"""`polhode compare`"""

import json
from pathlib import Path

import click

from polhode import __version__
from polhode.cli.completion import forms
from polhode.cli.options import OVERWRITE, NumberList, Seconds, output
from polhode.cli.progress import progress_of


@click.command(short_help="Compare all published forms on one motion.")
@click.option(
    "--inertia",
    type=NumberList(3, 9, unit="kg m2"),
    default="1,2,3",
    show_default=True,
    help="Principal moments, or 9 entries, kg m².",
)
@click.option(
    "--omega",
    type=NumberList(3, unit="rad/s"),
    default="0.3,2,0.4",
    show_default=True,
    help="Start: angular velocity in body axes, rad/s.",
)
@click.option(
    "--attitude", type=NumberList(4), default=None, help="Start: unit quaternion w,x,y,z.  [default: 60° about x]"
)
@click.option("--torque", type=NumberList(3, unit="N m"), default=None, help="Constant couple in body axes, N m.")
@click.option(
    "--space-torque", type=NumberList(3, unit="N m"), default=None, help="Constant couple in space axes, N m."
)
@click.option(
    "--force", type=NumberList(3, unit="N"), default=None, help="Constant force in space axes, N; needs --point."
)
@click.option("--point", type=NumberList(3, unit="m"), default=None, help="Where the force acts, body axes, m.")
@click.option("--duration", type=Seconds(), default=20.0, show_default=True, help="Time to follow, s.")
@click.option("--step", type=Seconds(), default=0.05, show_default=True, help="Step of RK4, s.")
@click.option(
    "--form", "names", multiple=True, shell_complete=forms, help="Only this form; may be repeated.  [default: all]"
)
@click.option("--sequence", default="313", show_default=True, help="Angle sequence of the Euler-angle forms.")
@output(
    "The figure: .png, .svg or .pdf.  [default: polhode-compare.png]", "Overwrite an existing figure.", OVERWRITE[:1]
)  # --force is a load here
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table; a figure only with --out.")
def compare(
    inertia: tuple,
    omega: tuple,
    attitude: tuple | None,
    torque: tuple | None,
    space_torque: tuple | None,
    force: tuple | None,
    point: tuple | None,
    duration: float,
    step: float,
    names: tuple[str, ...],
    sequence: str,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """All published formulations on one motion: accelerations, multipliers, errors, costs."""
    from polhode.dynamics.single import forms
    from polhode.dynamics.single.variables import SingleBody
    from polhode.papers.compare import START, compare as run

    moments = [inertia[0:3], inertia[3:6], inertia[6:9]] if len(inertia) == 9 else inertia
    loads = {"torque": torque, "space_torque": space_torque, "force": force, "point": point}
    body = SingleBody.make(moments, omega, attitude or START, **loads)
    picture = out or (None if as_json else Path("polhode-compare.png"))
    if picture:
        from polhode.show.figure import check_figure_path

        check_figure_path(picture, overwrite)
    chosen = [forms[name].name for name in names] or list(forms)
    with progress_of("comparing", len(chosen)) as advance:
        found = run(body, duration, step, chosen, sequence, advance)
    if as_json:
        click.echo(json.dumps({"polhode": __version__, **found.as_dict()}, indent=1))
    else:
        from polhode.show.forms_comparison import print_comparison

        print_comparison(found)
    if picture:
        from polhode.show.figure import save_figure
        from polhode.show.forms_comparison import compare_figure

        made_by = f"polhode compare: J {moments}, omega {omega}, {duration:g} s, RK4 step {step:g} s"
        save_figure(compare_figure(found), picture, made_by, overwrite)
        click.echo(f"figure: {picture}", err=as_json)
