"""The bundled models: files beside this module, and machines of any length."""

import math
import re
from functools import cache
from importlib.resources import files
from itertools import takewhile
from pathlib import Path

from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.formats.registry import model_of_text
from polhode.model import WORLD, Body, Constraint, Joint, Model, Start

MOST_LINKS = 100_000

LENGTH, RADIUS, MASS = 0.1, 0.005, 0.05
"""Length in m, radius in m, mass in kg of a link of the chain."""


def names() -> tuple[str, ...]:
    """The names that `load` knows; "chain" stands for "chain-7" and any other length too."""
    return tuple(sorted([*_files(), *SERIES]))


def is_bundled(name: str) -> bool:
    """Whether a bundled model has this name."""
    return name in _files() or _member(name) is not None


def _member(name: str) -> tuple[str, int] | None:
    """The series and the length that a name means, as in "chain-7"."""
    found = re.fullmatch(r"(.+?)(?:-([0-9]{1,30}))?", name)
    if not found or found[1] not in SERIES:
        return None
    return found[1], int(found[2] or SERIES[found[1]][1])


def bundled(name: str) -> Model:
    """The bundled model of this name."""
    if name in _files():
        return model_of_text(_files()[name], f"{name}.yaml")
    if member := _member(name):
        series, length = member
        return SERIES[series][0](length)
    known = [*names(), "chain-7", "chain-50"]
    fix = did_you_mean(name.lower().replace("_", "-").replace(" ", "-"), known, most=3)
    raise UnknownNameError(message("load", "no bundled model of this name", repr(name), ", ".join(names()), fix))


def summary_of(name: str) -> str:
    """What a bundled model is: the first sentence of the comment of its file, or of its function's docstring."""
    if name in _files():
        lines = takewhile(lambda line: line.startswith("#"), _files()[name].splitlines())
        text = " ".join(line.lstrip("# ") for line in lines)
    else:
        text = " ".join((SERIES[name][0].__doc__ or "").split())
    return re.split(r"(?<=\.) (?=[A-Z])", text, maxsplit=1)[0]


def text_of(source: str | Path) -> str:
    """The text of a bundled model, or of a model file; "" where there is none."""
    if str(source) in _files():
        return _files()[str(source)]
    path = Path(source)
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


@cache
def _files() -> dict[str, str]:
    """The texts of the model files by name."""
    folder = files("polhode.formats") / "models"
    found = [file for file in folder.iterdir() if file.name.endswith(".yaml")]
    return {file.name.removesuffix(".yaml"): file.read_text(encoding="utf-8") for file in found}


def chain(links: int) -> Model:
    """A hanging chain of round rods.

    Like the links of a real one, each hinge is turned by a right angle against the one before: about y, x, y, …
    It starts stretched out to the side, with every second hinge slightly bent, and falls.
    """
    if not 1 <= links <= MOST_LINKS:
        raise InputError(message("load, chain", "no such length", f"{links} links", f"1 to {MOST_LINKS}"))
    across = MASS * (3 * RADIUS**2 + LENGTH**2) / 12
    inertia = (across, across, MASS * RADIUS**2 / 2)
    bodies, joints = [], []
    for i in range(1, links + 1):
        bodies.append(Body(f"link{i}", MASS, inertia, center=(0.0, 0.0, -LENGTH / 2)))
        parent, position = (f"link{i - 1}", (0.0, 0.0, -LENGTH)) if i > 1 else (WORLD, (0.0, 0.0, 0.0))
        axis = (0.0, 1.0, 0.0) if i % 2 else (1.0, 0.0, 0.0)
        joints.append(Joint(f"hinge{i}", "revolute", parent, f"link{i}", axis=axis, position=position))
    q = tuple(math.pi / 2 if i == 0 else 0.05 * (i % 2) for i in range(links))
    start = Start(q=q, v=(0.0,) * links, duration=2.0)
    return Model(f"chain-{links}", bodies=tuple(bodies), joints=tuple(joints), start=start)


def closed_chain(links: int) -> Model:
    """A chain of rods in a plane that hangs between two hinges on the ground, the second of which closes it.

    The links are those of `chain`, hinged about y. It starts on an arc of a circle, half a turn of which is left
    out, and falls.
    """
    if not 2 <= links <= MOST_LINKS:
        raise InputError(message("load, closed-chain", "no such length", f"{links} links", f"2 to {MOST_LINKS}"))
    across = MASS * (3 * RADIUS**2 + LENGTH**2) / 12
    bend = math.pi / max(links, 3)
    angles = [bend * ((links - 1) / 2 - i) for i in range(links)]  # of the links above the horizontal
    bodies, joints = [], []
    for i in range(1, links + 1):
        bodies.append(Body(f"link{i}", MASS, (MASS * RADIUS**2 / 2, across, across), center=(LENGTH / 2, 0.0, 0.0)))
        parent, position = (f"link{i - 1}", (LENGTH, 0.0, 0.0)) if i > 1 else (WORLD, (0.0, 0.0, 0.0))
        joints.append(Joint(f"hinge{i}", "revolute", parent, f"link{i}", axis=(0.0, 1.0, 0.0), position=position))
    width = LENGTH * math.fsum(map(math.cos, angles))
    ends = {
        "body_a": WORLD,
        "position_a": (width, 0.0, 0.0),
        "body_b": f"link{links}",
        "position_b": (LENGTH, 0.0, 0.0),
    }
    closing = Constraint("closing", "revolute", {**ends, "axis_a": (0.0, 1.0, 0.0), "axis_b": (0.0, 1.0, 0.0)})
    start = Start(q=(-angles[0], *[bend] * (links - 1)), v=(0.0,) * links, duration=2.0)
    return Model(
        f"closed-chain-{links}", bodies=tuple(bodies), joints=tuple(joints), constraints=(closing,), start=start
    )


def n_four_bar(windows: int) -> Model:
    """A row of four-bars in the plane y = 0 (A02 of the IFToMM library): N windows of 2N + 1 rods, 1 m and 1 kg each.

    It starts upright, its upper end B0 moving along +x with 1 m/s. Where the rods lie flat the loops lose their
    hold for an instant: N + 1 freedoms instead of 1.
    """
    if not 1 <= windows <= MOST_LINKS:
        raise InputError(message("load, n-four-bar", "no such length", f"{windows} windows", f"1 to {MOST_LINKS}"))
    axis, end, inertia = (0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1 / 12, 1 / 12)
    bodies, joints, loops = [], [], []
    for i in range(windows + 1):
        bodies.append(Body(f"rod{i}", 1.0, inertia, center=(0.5, 0.0, 0.0)))
        joints.append(Joint(f"foot{i}", "revolute", WORLD, f"rod{i}", axis=axis, position=(float(i), 0.0, 0.0)))
    for i in range(windows):
        bodies.append(Body(f"bar{i}", 1.0, inertia, center=(0.5, 0.0, 0.0)))
        joints.append(Joint(f"B{i}", "revolute", f"rod{i}", f"bar{i}", axis=axis, position=end))
        ends = {"body_a": f"bar{i}", "position_a": end, "body_b": f"rod{i + 1}", "position_b": end}
        loops.append(Constraint(f"loop{i}", "revolute", {**ends, "axis_a": axis, "axis_b": axis}))
    q = (math.pi / 2,) * (windows + 1) + (-math.pi / 2,) * windows
    start = Start(q=q, v=(-1.0,) * (windows + 1) + (1.0,) * windows, duration=10.0)
    return Model(
        f"n-four-bar-{windows}", bodies=tuple(bodies), joints=tuple(joints), constraints=tuple(loops), start=start
    )


SERIES = {"chain": (chain, 10), "closed-chain": (closed_chain, 10), "n-four-bar": (n_four_bar, 2)}
"""Machines of any length: the function that makes them, and the length of one whose name does not say."""
