"""Random trees with force elements of every kind that switches or bends, for the campaign of verdicts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import polhode as ph
from machines import ALL, ONE_AXIS, random_model, random_q

LOOPS = ("four-bar", "slider-crank-3d", "bricard")
"""Bundled machines with loops, on whose joints elements act."""

Draw = Callable[[np.random.Generator, str, str, float], Any]
"""A force element of a name, along the axis of a joint, and the coordinate at the start."""


def _log(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _contact(rng: np.random.Generator) -> dict[str, float]:
    """The law of a compliant contact."""
    return {
        "stiffness": _log(rng, 30, 1e5),
        "dissipation": 0.0 if rng.random() < 0.2 else _log(rng, 0.03, 10),
        "exponent": float(rng.choice([1.0, 1.5, 2.0])),
    }


def _ends(rng: np.random.Generator, q: float) -> dict[str, float]:
    """Stops about the start of a coordinate; perhaps on one side alone."""
    found = {"lower": q - _log(rng, 0.05, 1), "upper": q + _log(rng, 0.05, 1)}
    if rng.random() < 0.3:
        found.pop(str(rng.choice(["lower", "upper"])))
    return found


def _friction(rng: np.random.Generator, name: str, joint: str, method: str) -> Any:
    coulomb = _log(rng, 0.05, 10)
    static = coulomb * float(rng.uniform(1, 1.5)) if rng.random() < 0.5 else None
    creep = {"creep_speed": _log(rng, 1e-2, 0.3)} if method == "regularised" else {}
    stribeck = {"stribeck_speed": _log(rng, 0.1, 1)} if static and rng.random() < 0.5 else {}
    drive = float(rng.normal()) if rng.random() < 0.2 else 0.0
    return ph.JointFriction(
        name, joint, coulomb, static, viscous=float(rng.uniform(0, 0.3)), drive_speed=drive, method=method,
        **creep, **stribeck,
    )  # fmt: skip


def _table(rng: np.random.Generator) -> Any:
    """A stiffening law through a few points."""
    e = np.sort(rng.uniform(-1, 1, 5)) + 0.05 * np.arange(5)
    return tuple(zip(e.tolist(), (np.cumsum(rng.uniform(0, 20, 5)) - 30).tolist(), strict=True))


KINDS: dict[str, Draw] = {
    "stop": lambda rng, name, joint, q: ph.JointStop(name, joint, **_ends(rng, q), **_contact(rng)),
    "impact": lambda rng, name, joint, q: ph.ImpactStop(
        name, joint, **_ends(rng, q), restitution=float(rng.uniform(0, 0.9))
    ),
    "backlash": lambda rng, name, joint, q: ph.Backlash(
        name, joint, gap=_log(rng, 1e-2, 0.5), offset=q + float(rng.normal() * 0.1), **_contact(rng)
    ),
    "friction": lambda rng, name, joint, q: _friction(rng, name, joint, "regularised"),
    "sticking": lambda rng, name, joint, q: _friction(rng, name, joint, "events"),
    "lock": lambda rng, name, joint, q: ph.JointLock(
        name, joint, lock_time=float(rng.uniform(0.1, 1)), release_time=float(rng.uniform(1.1, 2))
    ),
}
"""What acts on a joint of one axis."""

HOLDING = ("impact", "sticking", "lock")
"""Kinds that hold an axis: of two in a loop of one freedom it is open which holds it."""


def _spring(rng: np.random.Generator, name: str, body: str) -> Any:
    law: dict[str, Any] = {"stiffness": _log(rng, 3, 1e3)}
    kind = rng.choice(["pull", "push", "table", "cubic"])
    if kind in ("pull", "push"):
        law["only"] = str(kind)
    elif kind == "table":
        law["table"] = _table(rng)
    else:
        law["polynomial"] = (0.0, _log(rng, 1, 100))
    damping = 0.0 if rng.random() < 0.5 else _log(rng, 0.01, 1)
    at = rng.normal(size=3) + np.array([0, 0, 2.0])
    return ph.Spring(name, "world", body, point_a=at, rest=float(rng.uniform(0.5, 2.5)), damping=damping, **law)


def _bushing(rng: np.random.Generator, name: str, body: str) -> Any:
    k = np.exp(rng.uniform(np.log(5), np.log(300), 6))
    return ph.Bushing(name, "world", body, stiffness=k, damping=k * 0.02)


def drawn(rng: np.random.Generator) -> tuple[str, ph.Model, np.ndarray, np.ndarray]:
    """A random tree with one to three elements, and a start."""
    n = int(rng.choice([1, 1, 2, 3, 4]))
    types = [str(x) for x in rng.choice(ONE_AXIS if rng.random() < 0.7 else ALL, size=n)]
    types[0] = "revolute" if not set(types) & set(ONE_AXIS) else types[0]
    model = random_model(types, int(rng.integers(2**31)), gravity=(0, 0, -9.81) if rng.random() < 0.8 else (0, 0, 0))
    q, at = random_q(model, rng), 0
    for joint in model.joints:
        if joint.type in ONE_AXIS:
            q[at] = rng.uniform(-0.04, 0.04)
        at += joint.nq
    model, kinds = _with_elements(rng, model, q)
    v = rng.normal(size=model.nv) * _log(rng, 0.2, 3)
    return f"tree of {', '.join(types)} with {', '.join(kinds)}", model, q, v


def drawn_loop(rng: np.random.Generator) -> tuple[str, ph.Model, np.ndarray, np.ndarray]:
    """A bundled machine with a loop, with one to three elements, and its start at another speed."""
    model = ph.load(str(rng.choice(LOOPS)))
    q, v = np.array(model.start.q), np.array(model.start.v) * rng.uniform(0.3, 1.3)
    found, kinds = _with_elements(rng, model, q)
    own = np.zeros(found.nv)  # states of elements stand behind
    own[: len(v)] = v
    return f"{model.name} with {', '.join(kinds)}", found, q, own


def _with_elements(rng: np.random.Generator, model: ph.Model, q: np.ndarray) -> tuple[ph.Model, list[str]]:
    """The model with one to three elements more; and their kinds."""
    starts, at = {}, 0
    for joint in model.joints:
        if joint.type in ONE_AXIS:
            starts[joint.name] = float(q[at])
        at += joint.nq
    found: list[Any] = []
    kinds: list[str] = []
    for joint in rng.permutation(list(starts))[: int(rng.integers(1, 4))]:
        kind = str(rng.choice(list(KINDS)))
        if model.constraints and kind in HOLDING and set(kinds) & set(HOLDING):
            continue
        found.append(KINDS[kind](rng, f"f{len(found)}", str(joint), starts[str(joint)]))
        kinds.append(kind)
    if rng.random() < 0.3:
        make = _spring if rng.random() < 0.7 else _bushing
        found.append(make(rng, f"f{len(found)}", str(rng.choice([body.name for body in model.bodies]))))
        kinds.append(make.__name__[1:])
    return replace(model, forces=(*model.forces, *found), start=None), kinds
