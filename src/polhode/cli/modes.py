"""`polhode modes`: eigenvalues and modes of small motions about rest or a steady motion."""

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polhode import __version__
from polhode.cli.completion import models
from polhode.cli.options import loaded, loading, output
from polhode.errors import InputError, UnknownNameError, message

if TYPE_CHECKING:
    from polhode.analysis.linear import Linear
    from polhode.analysis.steady import Steady
    from polhode.model import Model


MOST_SPEEDS = 10_000
"""Speeds of one call: each is a motion to be found."""


MANY = "Other steady motions have the same speed; --hold NAME=VALUE chooses one."
"""What is said where what is held leaves a family of motions."""


class Speeds(click.ParamType):
    """Speeds: 5, or several as 1,2,5, or first:last:step as 0:10:1."""

    name = "SPEEDS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The speeds as a tuple."""
        if not isinstance(value, str):
            return value
        try:
            if ":" in value:
                first, last, step = (float(part) for part in value.split(":"))
                count = int((last - first) / step + 1e-9)
                if count >= MOST_SPEEDS:
                    self.fail(
                        f"{value!r} is {count + 1:.4g} speeds; {MOST_SPEEDS} are the most in one call", param, ctx
                    )
                found = tuple(first + k * step for k in range(count + 1))
            else:
                found = tuple(float(part) for part in value.split(","))
            if not found or not all(map(math.isfinite, found)):
                raise ValueError
            return found
        except (ValueError, ZeroDivisionError, OverflowError):
            self.fail(f"{value!r} is not a speed such as 5, several such as 1,2,5, or 0:10:1", param, ctx)


@click.command(short_help="Find the modes of a model about a rest or a steady motion.")
@click.argument("source", metavar="MODEL", shell_complete=models)
@click.option(
    "--speed",
    "speeds",
    type=Speeds(),
    default=None,
    help="Forward speed, m/s, or speed of a shaft, rad/s: 5, or 1,2,5, or 0:10:1.",
)
@click.option(
    "--shaft", default=None, metavar="NAME", help="The velocity that --speed gives, of a machine that rotates."
)
@click.option("--free", is_flag=True, help="The shaft is not driven: its speed vibrates too.")
@click.option(
    "--hold",
    "holds",
    multiple=True,
    metavar="NAME=VALUE",
    help="A velocity or coordinate of the steady motion: steer=0, q.steer=0.1; may be repeated.",
)
@click.option("--rest", is_flag=True, help="Look for a state of rest, whatever the start.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="PATH=VALUE",
    help="Another start or number: hinge.q=pi/2, bodies.arm.mass=2.",
)
@loading
@output(
    "Of several speeds: the stability diagram, or of a shaft the Campbell diagram, .svg, .pdf or .png, in place of the "
    "tables.",
    "Overwrite an existing diagram.",
)
@click.option(
    "--animate",
    "film",
    type=click.Path(path_type=Path),
    default=None,
    metavar="FILE",
    help="A mode in motion: .html, .gif or .mp4, or .png; at one speed at most.",
)
@click.option(
    "--mode",
    "number",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="K",
    help="Of --animate: which mode, the slowest that oscillates first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def modes(
    source: str,
    speeds: tuple[float, ...] | None,
    shaft: str | None,
    free: bool,
    holds: tuple[str, ...],
    rest: bool,
    sets: tuple[str, ...],
    out: Path | None,
    overwrite: bool,
    film: Path | None,
    number: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Modes of MODEL: small motions about the rest or the steady motion near its start.

    A start that moves is taken for a steady motion: a wheel that rolls, a top that precesses. Where nothing moves ahead
    at the start, --speed is that of a shaft, and frequencies are seen in axes that turn with it.
    """
    model = loaded(source, sets, quiet=as_json, **options)
    constant = _held(holds)
    if out is not None:
        _check_diagram(speeds, out, overwrite)
    if film is not None and speeds and (len(speeds) > 1 or shaft or (not rest and _rotates(model))):
        given = f"{len(speeds)} speeds" if len(speeds) > 1 else "a shaft that turns"
        raise InputError(message("modes, --animate", "not one state", given, "rest, or one forward speed"))
    if speeds and (shaft or (not rest and _rotates(model))):
        _campbell(model, speeds, shaft, not free, constant, out, overwrite, as_json)
        return
    motions = _Motions(model, constant, rest)
    found = motions.at(speeds) if speeds else [_found(model, None, constant, rest)]
    if as_json:
        told = [_facts(state, small) for state, small in found]
        click.echo(json.dumps({"polhode": __version__, "model": model.name, "modes": told}, indent=1))
    elif not out:
        texts = [_text(model, state, small) for state, small in found]
        click.echo("\n\n".join([*texts, *[MANY] * (speeds is not None and motions.are_many(found))]))
    if film is not None:
        from polhode.show.animation import animate
        from polhode.show.mode_motion import mode_motion

        shown = mode_motion(model, number, found[0][0])
        made = animate(shown, film, model=model, vectors=False, overwrite=overwrite)
        if not as_json:
            click.echo(f"\n{shown.attrs['caption']}\n{made}")
    if out is not None and speeds:
        words = _draw(model, speeds, [small for _, small in found], lambda x: motions(x)[1], out, overwrite)
        many = f"{MANY} The motion nearest to that at the next speed is drawn." if motions.are_many(found) else ""
        if not as_json:
            click.echo("\n".join(filter(None, [words, many, str(out)])))


def _rotates(model: "Model") -> bool:
    """Whether nothing moves ahead at the start, and a shaft is there to turn."""
    from polhode.analysis.campbell import shaft_of

    try:
        _ahead(model)
    except InputError:
        try:
            return bool(shaft_of(model))
        except InputError:
            return False
    return False


def _campbell(
    model: "Model",
    speeds: tuple[float, ...],
    shaft: str | None,
    drive: bool,
    constant: dict[str, float],
    out: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Frequencies against the speed of a shaft, told or drawn."""
    from polhode.analysis.campbell import campbell
    from polhode.show.figure import save_figure
    from polhode.show.plots.campbell import campbell as diagram

    found = campbell(model, sorted(speeds), shaft=shaft, drive=drive, constant=constant)
    if as_json:
        each = [[None if math.isnan(x.real) else [x.real, x.imag] for x in row] for row in found.eigenvalues.tolist()]
        facts = {"shaft": found.shaft, "speeds": found.speeds.tolist(), "eigenvalues": each}
        click.echo(json.dumps({"polhode": __version__, "model": model.name, **facts}, indent=1))
    if out is not None:
        save_figure(diagram(found), out, f"polhode modes {model.name}", force=overwrite)
    if not as_json:
        critical = [f"{x:.4g} ({order:g}×, mode {k + 1})" for x, order, k in found.crossings()]
        click.echo(found.table() if out is None else str(out))
        click.echo(f"Multiples of the speed are met at, rad/s: {', '.join(critical) or 'none of these speeds'}")


def _check_diagram(speeds: tuple[float, ...] | None, out: Path, overwrite: bool) -> None:
    from polhode.show.figure import check_figure_path

    check_figure_path(out, overwrite)
    if speeds is None or len(speeds) < 3 or any(a >= b for a, b in itertools.pairwise(speeds)):
        found = "none" if speeds is None else f"{len(speeds)} speeds"
        raise InputError(
            message("modes, --out", "a diagram is over speeds", found, "three or more, as --speed 0:10:0.1")
        )


def _draw(
    model: "Model",
    speeds: tuple[float, ...],
    found: list["Linear"],
    find: Callable[[float], "Linear"],
    out: Path,
    overwrite: bool,
) -> str:
    """The stability diagram, saved; and its bands in words."""
    from polhode.show.figure import save_figure
    from polhode.show.plots.eigenvalues import eigenvalues, stability_bands

    save_figure(
        eigenvalues(speeds, found, title=f"Stability: {model.name}", find=find),
        out,
        f"polhode modes {model.name}",
        force=overwrite,
    )
    bands, lines = stability_bands(speeds, found, find), []
    for word in ("stable", "marginal", "unstable"):
        ranges = [_range(band.start, band.end) for band in bands if band.stability == word]
        if ranges or word == "stable":
            lines.append(f"{word}: {', '.join(ranges) or 'at none of these speeds'}")
    return "\n".join(lines)


def _range(start: float, end: float) -> str:
    """A range of speeds to a millimetre per second, or to six digits where its ends would not differ."""
    digits = ".3f" if f"{start:.3f}" != f"{end:.3f}" else ".6g"
    return f"{start:{digits}} … {end:{digits}} m/s"


def _held(holds: tuple[str, ...]) -> dict[str, float]:
    """NAME=VALUE each."""
    found = {}
    for text in holds:
        name, equals, right = (part.strip() for part in text.partition("="))
        try:
            found[name] = float(right)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise InputError(message("modes, --hold", "not an assignment", repr(text), "NAME=VALUE, as in steer=0"))
    return found


class _Motions:
    """Steady motions by speed, each sought from the one at the nearest speed that is known: a family is followed."""

    def __init__(self, model: "Model", constant: dict[str, float], rest: bool) -> None:
        self.model, self.constant, self.rest = model, constant, rest
        self.known: dict[float, tuple[Steady, Linear]] = {}

    def at(self, speeds: tuple[float, ...]) -> list[tuple["Steady", "Linear"]]:
        """The motions at some speeds, found from the speed of the start on."""
        _, own, _ = _ahead(self.model)
        for speed in sorted(speeds, key=lambda x: abs(x - own)):
            self(speed)
        return [self(speed) for speed in speeds]

    def __call__(self, speed: float) -> tuple["Steady", "Linear"]:
        """The motion at a speed."""
        if speed not in self.known:
            moving = [x for x, (state, _) in self.known.items() if state.rates]
            near = min(moving, key=lambda x: abs(x - speed), default=None)
            begin = None if near is None else self.known[near][0]
            self.known[speed] = _found(self.model, speed, self.constant, self.rest, begin)
        return self.known[speed]

    def are_many(self, found: list[tuple["Steady", "Linear"]]) -> bool:
        """Whether motions nearby hold the same speed: there are more null vectors than held quantities."""
        return any(small.spectrum.nullity > 1 + len(self.constant) for state, small in found if state.rates)


def _found(
    model: "Model", speed: float | None, constant: dict[str, float], rest: bool, begin: "Steady | None" = None
) -> tuple["Steady", "Linear"]:
    """The state that stays, and the small motions about it; begin: sought from there, not from the model's start."""
    from polhode.analysis.linear import linearize
    from polhode.analysis.steady import equilibrium, steady_motion

    q: Any = None
    v: Any = model.start.v if model.start else None
    if speed is not None:
        name, own, v = _ahead(model)
        v, constant = [x * speed / own for x in v], {name: speed, **constant}
    if rest or (speed is None and not (v is not None and any(v))):
        state = equilibrium(model, constant=constant)
    else:
        if begin and speed:
            q, v = begin.q, begin.v
        try:
            state = steady_motion(model, constant, q, v)
        except UnknownNameError:
            raise
        except InputError as error:
            raise InputError(f"{error}\n  For a state of rest: polhode modes … --rest.") from None
    return state, linearize(model, state.q, state.v, tau=state.tau, generator=state.generator)


def _ahead(model: "Model") -> tuple[str, float, Any]:
    """The fastest of the linear velocities at the start: its name and value; and all velocities there."""
    from polhode.result.labels import dof_names

    where, fix = f"modes, --speed, model '{model.name}'", "Give the model a start that moves, or use --hold NAME=VALUE."
    v = model.start.v if model.start else None
    if v is None:
        raise InputError(message(where, "no start to take a speed from", "no start.v", "a start with a velocity", fix))
    linear = [flag for joint in model.joints for flag in joint.kind.linear]
    fastest = max((k for k, flag in enumerate(linear) if flag), key=lambda k: abs(v[k]), default=None)
    if fastest is None or not v[fastest]:
        found = "no linear velocity at the start" if fastest is None else "linear velocities that are 0"
        raise InputError(message(where, "nothing moves ahead", found, "a velocity in m/s", fix))
    return dof_names(model)[fastest], v[fastest], v


def _text(model: "Model", state: "Steady", small: "Linear") -> str:
    """What was found, and the table."""
    if not state.rates:
        return f"At rest; accelerations left: {state.residual:.1g}.\n{small.table()}"
    moving = ", ".join(f"{name} {rate:.6g}" for name, rate in state.rates.items())
    return f"Steady motion: {moving}; accelerations left: {state.residual:.1g}.\n{small.table()}"


def _facts(state: "Steady", small: "Linear") -> dict[str, Any]:
    """The same as plain data."""
    each = [
        {
            "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
            "frequency": mode.frequency,
            "damping": mode.damping,
            "bound": mode.bound,
            "shape": {name: [x.real, x.imag] for name, x in mode.shape.items() if x},
        }
        for mode in small.modes()
    ]
    return {
        "q": state.q.tolist(),
        "v": state.v.tolist(),
        "rates": dict(state.rates),
        "residual": state.residual,
        "stability": small.stability,
        "eigenvalues": [[x.real, x.imag] for x in small.eigenvalues(all=True)],
        "modes": each,
    }
