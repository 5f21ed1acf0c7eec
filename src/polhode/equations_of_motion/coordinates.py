"""The letters of coordinates, velocities, accelerations and generalised forces: θ₁, d₂, x, e₀, ωₓ, τ₁."""

from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import Any, NamedTuple

import sympy

from polhode.equations_of_motion.letters import subscripted, symbol_latex
from polhode.errors import InputError, message
from polhode.model import WORLD, Joint, Model, plain
from polhode.result.labels import coordinate_names, coordinate_units, dof_names, dof_units, force_units


class Coordinate(NamedTuple):
    """A coordinate, a velocity, an acceleration or a generalised force."""

    symbol: sympy.Symbol
    latex: str
    meaning: str
    unit: str


class Coordinates(NamedTuple):
    """Those of a model, in the order of its joints."""

    q: tuple[Coordinate, ...]
    v: tuple[Coordinate, ...]
    vd: tuple[Coordinate, ...]
    tau: tuple[Coordinate, ...]


def coordinates(model: Model, own: dict[str, Any], subscripts: str) -> Coordinates:
    """The letters of a model's motion; those that are renamed are taken out of `own`."""
    letters = [_letters_of(joint) for joint in model.joints]
    flat = [letter for each in letters for letter in each]
    indexed = len(set(flat)) < len(flat) or subscripts == "names"
    several = subscripts == "names" or sum(joint.kind.has_quaternion for joint in model.joints) > 1
    moving = [joint.name for joint in model.joints if joint.nv]
    q: list[Coordinate] = []
    rates: list[tuple[Coordinate, Coordinate]] = []
    names, units = coordinate_names(model), coordinate_units(model)
    rate_names, rate_units = dof_names(model), dof_units(model)
    for joint, own_letters in zip(model.joints, letters, strict=True):
        kind, first = joint.kind, len(q)
        tail = joint.name if subscripts == "names" else str(moving.index(joint.name) + 1) if joint.nv else ""
        for letter, part in zip(own_letters, kind.coordinates, strict=True):
            alone = flat.count(letter) == 1 and letter not in ("d", "theta") and subscripts == "numbers"
            name = _renamed(own, names[len(q)], letter if alone or not indexed else subscripted(letter, tail))
            what = f"{_what(part, letter)} of joint '{joint.name}'"
            q.append(Coordinate(_real(name), symbol_latex(name), what, units[len(q)]))
        for k, dof in enumerate(kind.dofs):
            at = len(rates)
            if kind.has_quaternion and k >= kind.nv - 3:  # a quaternion comes last
                axis = "xyz"[k - kind.nv + 3]
                letter = subscripted(f"omega_{axis}", tail) if several else f"omega_{axis}"
                name, dots = _renamed(own, rate_names[at], letter), 0
                what = f"angular velocity about {axis} (child axes)"
            else:
                name, dots, what = q[first + k].symbol.name, 1, _what(dof)
            rates.append(_pair(name, dots, f"{what} of joint '{joint.name}'", rate_units[at]))
    states = [state for _, state in model.own_states]
    for owner, state in model.own_states:
        at, alone = len(rates), states.count(state) == 1
        name = _renamed(own, rate_names[at], f"x_{state}" if alone else f"x_{owner}_{state}")
        rates.append(_pair(name, 0, f"{state} of force '{owner}'", rate_units[at]))
    tau = []
    for at, unit in enumerate(force_units(model)):
        name = f"tau_{at + 1}" if model.nv > 1 else "tau"
        kind_of = "rate" if at >= model.joint_velocities else "force" if unit == "N" else "torque"
        what = f"{kind_of} that belongs to {rate_names[at]}"
        tau.append(Coordinate(_real(name), symbol_latex(name), what, unit))
    found = Coordinates(tuple(q), tuple(a for a, _ in rates), tuple(b for _, b in rates), tuple(tau))
    _check_distinct([c for group in found for c in group])
    return found


def _pair(name: str, dots: int, what: str, unit: str) -> tuple[Coordinate, Coordinate]:
    """A velocity and its rate; dots over the letter of the velocity."""
    velocity = _dotted(name, 1) if dots else name
    return (
        Coordinate(_real(velocity), symbol_latex(name, dots), what, unit),
        Coordinate(_real(_dotted(name, dots + 1)), symbol_latex(name, dots + 1), f"rate of the {what}", f"{unit}²"),
    )


def _letters_of(joint: Joint) -> list[str]:
    """The letters of a joint's coordinates: those of its kind, or by what each of them is."""
    kind = joint.kind
    if kind.letters:
        return list(kind.letters)
    linear = kind.linear[:-3] if kind.has_quaternion else kind.linear
    angles, lengths = _without_end(ANGLES), _without_end(LENGTHS if sum(linear) > 1 else (_travel(joint),))
    found = [next(lengths if is_length else angles) for is_length in linear]
    return found + list(QUATERNION) * kind.has_quaternion


def _without_end(letters: Sequence[str]) -> Iterator[str]:
    """Letters, then the first of them with numbers: θ, φ, ψ, θ₄, θ₅, …"""
    return chain(letters, (f"{letters[0]}_{k}" for k in count(len(letters) + 1)))


def _travel(joint: Joint) -> str:
    """x, y or z for a slider along an axis of the world, else d."""
    axis = tuple(map(abs, plain(joint.axis)))
    straight = joint.nq == 1 and joint.kind.uses_axis and joint.parent == WORLD and sorted(axis) == [0, 0, 1]
    return "xyz"[axis.index(1)] if straight and plain(joint.orientation)[0] == 1 else "d"


def _what(name: str, letter: str = "") -> str:
    """A coordinate or velocity of a joint in words."""
    if letter in QUATERNION:
        return f"quaternion, {QUATERNION[letter]}"
    if name in POSITIONS:
        return f"position {name[-1]}"
    return name.replace("_", " ").replace("angle1", "first angle").replace("angle2", "second angle")


ANGLES, LENGTHS = ("theta", "phi", "psi"), ("x", "y", "z")
"""The letters of the first, second, third of several angles or lengths of a joint."""
QUATERNION = {"e_0": "scalar part", "e_1": "x part", "e_2": "y part", "e_3": "z part"}
"""The letters of a quaternion, and what they are."""
POSITIONS = ("x", "y", "px", "py", "pz")


def _renamed(own: dict[str, Any], path: str, name: str) -> str:
    if path not in own:
        return name
    given = own.pop(path)
    given = given.name if isinstance(given, sympy.Symbol) else given
    if not isinstance(given, str) or not given.strip():
        raise InputError(message(f"equations, name of '{path}'", "not a name", repr(given), "a letter such as 'phi'"))
    return given.strip()


def _dotted(name: str, dots: int) -> str:
    """thetadot_1: the name SymPy prints with a dot."""
    head, lower = name.partition("_")[::2]
    return f"{head}{'d' * dots}ot" + (f"_{lower}" if lower else "")


def _real(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, real=True)


def _check_distinct(rows: Sequence[Coordinate]) -> None:
    names = [row.symbol.name for row in rows]
    for name in names:
        if names.count(name) > 1:
            raise InputError(message("equations, names", "one name for two coordinates", repr(name), "a name for each"))
