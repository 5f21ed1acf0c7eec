"""Public calls with hostile arguments, and machines with hostile names through every emitter, drawn by chance."""

import random
import warnings
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph
from hostile_names import PRINTABLE, REFUSED, machine
from polhode.show.page.report import report_page

BODY, HINGE = ph.Body("b", 1.0, (0.1, 0.2, 0.25), (0, 0, -0.5)), ph.Joint("j", "revolute", "world", "b", axis=(0, 1, 0))
MODEL = ph.Model("m", bodies=[BODY], joints=[HINGE])
TOP, FOUR_BAR, DISK = ph.load("heavy-top"), ph.load("four-bar"), ph.load("rolling-disk")


def deep(levels: int) -> list:
    """A list in a list, and so on."""
    found: list = [1.0]
    for _ in range(levels):
        found = [found]
    return found


def fails(*_: Any) -> Any:
    """A function of a user's that fails."""
    raise RuntimeError("by intention")


class Odd:
    """An object that is nothing in particular."""

    def __repr__(self) -> str:
        return "odd\x1b[31m\n"


VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 5, 10**30, -(10**400), 0.0, -0.0, 1e308, -1e308, 5e-324, 1e-12, float("nan"),
    float("inf"), -float("inf"), 1j, "", "x", "b", "j", "m", "world", "gravity", "rk4", "\x00\n\x1b", "p" * 300, b"x",
    [], (), {}, set(), [[]], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4], ["x"], [None], [[1, 2], [3]], {"b": 1}, {"j": "x"},
    {1: 2}, deep(5), deep(900), range(3), iter([1, 2, 3]), (x for x in "abc"), lambda: 0, lambda *a: None,
    lambda *a: "x", lambda *a: [0.0], lambda *a: [float("nan")], fails, ph, ph.Model, Odd(), Odd, Ellipsis,
    Decimal("1.5"), Fraction(1, 3), Path("x"), np.float32(1), np.int64(3), np.bool_(True), np.array(1.0), np.zeros(0),
    np.zeros((0, 3)), np.zeros(3), np.zeros((2, 3)), np.zeros((3, 3, 3)), np.full(3, np.nan), np.array(["a", "b"]),
    np.array([None, 1]), np.array([1j, 2]), np.ma.array([1.0, 2, 3], mask=[1, 0, 0]), np.array([1, 2], dtype="M8[s]"),
    np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), np.array([Odd()]), np.zeros(3, dtype=np.float16),
    np.zeros(3, dtype=">f8"), np.arange(6.0)[::2], np.array([True, False]), np.array(b"x"), BODY, HINGE, MODEL, TOP,
    ph.Parameter("a", 1.0), ph.Start(), ph.Event("e", lambda t, q, v: q[0]), "sherif-29", "dop853", "free", "v.j",
]  # fmt: skip

SYSTEM = ph.compile(MODEL, target="python")
STATE = {"q": [0.1], "v": [0.2], "tau": [0.0]}
SHORT = {"duration": 0.02, "samples": 3, "max_steps": 1e5}

CALLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "Body": (ph.Body, {"name": "b", "mass": 1.0, "inertia": (1, 1, 1), "center": (0, 0, 0), "physical": True}),
    "Joint": (ph.Joint, {"name": "j", "type": "universal", "parent": "world", "child": "b", "axis": (1, 0, 0),
                         "position": (0, 0, 0), "orientation": (1, 0, 0, 0), "armature": 0.0, "damping": 0.0,
                         "stiffness": 0.0, "rest": 0.0, "lower": -1, "upper": 1, "pitch": None, "axis2": (0, 1, 0)}),
    "Force": (ph.Force, {"name": "f", "body": "b", "force": (1, 0, 0), "torque": (0, 0, 0), "point": (0, 0, 0),
                         "axes": "world"}),
    "Spring": (ph.Spring, {"name": "s", "body_a": "world", "body_b": "b", "point_a": (0, 0, 1), "stiffness": 1.0,
                           "damping": 0.1, "rest": 0.5}),
    "ForceFunction": (ph.ForceFunction, {"name": "f", "function": lambda t, q, v: [0.0]}),
    "Parameter": (ph.Parameter, {"name": "a", "value": 1.0}),
    "Start": (ph.Start, {"q": (0.1,), "v": (0.0,), "duration": 1.0, "method": "rk4"}),
    "Event": (ph.Event, {"name": "e", "function": lambda t, q, v: q[0], "direction": 0, "terminal": True,
                         "reset": None}),
    "Constraint": (ph.Constraint,
                   {"name": "c", "type": "distance", "data": {"body_b": "b"}, "length": 1.0}),
    "constrained": (lambda **data: ph.compile(ph.Model("m", bodies=[BODY], joints=[HINGE], constraints=[
                        ph.Constraint("c", "distance", data)]), target="python"),
                    {"body_b": "b", "length": 1.0, "position_b": (0, 0, -1), "position_a": (0, 0, 1)}),
    "function": (lambda **data: ph.diagnose(ph.Model("m", bodies=[BODY], joints=[HINGE], constraints=[
                     ph.Constraint("c", "function", data)])),
                 {"function": lambda t, q: q[0], "rows": 1, "holonomic": True, "matrix": False}),
    "Model": (ph.Model, {"name": "m", "gravity": (0, 0, -1), "bodies": [BODY], "joints": [HINGE], "forces": [],
                         "constraints": [], "start": None}),
    "compile": (ph.compile, {"model": MODEL, "target": "python", "parameters": ["gravity"], "fast": False, "threads": 1,
                             "engine": "fundamental", "rank_tolerance": 1e-10}),
    "load": (ph.load, {"source": "heavy-top", "base": "fixed", "mimic": "constrain"}),
    "mass_matrix": (SYSTEM.mass_matrix, {"q": [0.1], "out": None}),
    "forward": (SYSTEM.forward_dynamics, {**STATE, "t": 0.0, "wrench": {"b": ((0, 0, 1), (0, 0, 0))}, "out": None,
                                          "threads": 1, "parameters": None}),
    "derivatives": (SYSTEM.forward_dynamics_derivatives, STATE),
    "jacobian": (SYSTEM.jacobian, {"q": [0.1], "body": "b", "point": (0, 0, 0)}),
    "difference": (SYSTEM.difference, {"q0": [0.1], "q1": [0.2]}),
    "compiled": (ph.compile(MODEL).forward_dynamics, {**STATE, "t": 0.0}),
    "source": (ph.compile(MODEL).source, {"quantity": "gravity"}),
    "simulate": (ph.simulate, {"model": MODEL, "q": [0.1], "v": [0.0], "tau": None, "step": 0.01, "method": "rk4",
                               "tolerance": 1e-6, "every": None, "events": (), "norm": "state", "form": None,
                               "engine": "fundamental", "rank_tolerance": 1e-10, "constraints": "project",
                               "baumgarte": None, "move_start": False, "verify": False, "sensitivities": (),
                               "keep": None, **SHORT}),
    "simulate top": (ph.simulate, {"model": TOP, "q": None, "v": None, "tau": None, "method": "dopri54", **SHORT}),
    "simulate loop": (ph.simulate, {"model": FOUR_BAR, "q": None, "v": None, "constraints": "project",
                                    "engine": "multipliers", "move_start": True, **SHORT}),
    "consistent_start": (ph.consistent_start, {"model": FOUR_BAR, "q": None, "v": None, "tolerance": 1e-11, "t": 0.0,
                                               "rank_tolerance": 1e-10, "keep": ["motor"]}),
    "diagnose": (ph.diagnose, {"model": FOUR_BAR, "q": None, "v": None, "t": 0.0, "rank_tolerance": 1e-10}),
    "equilibrium": (ph.equilibrium, {"model": MODEL, "q": [0.1], "tau": None, "constant": (), "inputs": (),
                                     "stable": False, "stability": True, "tolerance": 1e-10}),
    "steady_motion": (ph.steady_motion, {"model": DISK, "constant": (), "q": None, "v": None, "tau": None}),
    "linearize": (ph.linearize, {"model": MODEL, "q": [0.0], "v": None, "tau": None, "inputs": None, "outputs": None}),
    "absolute": (ph.absolute, {"model": MODEL}),
    "acceleration": (ph.acceleration, {"form": "sherif-29", "p": (1, 0, 0, 0), "pdot": (0, 1, 0, 0),
                                       "inertia": (1, 2, 3), "torque": None, "force": None, "point": None}),
    "fundamental": (ph.fundamental.solve, {"M": np.eye(2), "Q": [1, 0], "A": [[1, 1]], "b": [0], "tolerance": 1e-10,
                                           "sizes": None}),
    "rotate": (ph.quaternion.rotate, {"p": (1, 0, 0, 0), "x": (1, 2, 3)}),
    "product": (ph.quaternion.product, {"a": (1, 0, 0, 0), "b": (0, 1, 0, 0)}),
    "axis angle": (ph.quaternion.from_axis_angle, {"axis": (1, 0, 0), "angle": 0.3}),
    "Table": (lambda **x: ph.simulate(MODEL, tau=ph.Table(**x), **SHORT), {"times": [0, 1], "values": [[0], [1]],
                                                                          "hold": False}),
    "PD": (lambda **x: ph.simulate(MODEL, tau=ph.PD(**x), **SHORT), {"stiffness": 1.0, "damping": 1.0, "target": None,
                                                                    "speed": None}),
    "Sampled": (lambda **x: ph.simulate(MODEL, tau=ph.Sampled(**x), **SHORT),
                {"function": lambda t, q, v: [0.0], "period": 0.01}),
    "simulator": (lambda model, q, v, tau, t, **x: ph.simulator(model, **x).step(q, v, tau, t=t),
                  {"model": MODEL, "q": [0.0], "v": [0.0], "tau": None, "t": 0.0, "step": 0.01, "method": "rk4"}),
    "gradient": (ph.gradient, {"model": MODEL, "parameters": ["gravity"], "objective": lambda q, v: q[0],
                               "duration": 0.02, "step": 0.01, "method": "rk4"}),
    "draw_cans": (ph.draw_cans, {"what": "313", "path": None, "at": (0.1, 0.2, 0.3), "rates": False, "names": None,
                                 "frames": None, "theme": "light", "width": None, "view": None}),
}  # fmt: skip


def cases(seed: int, count: int) -> Iterator[tuple[str, Any]]:
    """Calls with one or two arguments replaced, and machines with hostile names."""
    rng = random.Random(seed)
    for _ in range(count):
        if rng.random() < 0.1:
            names = rng.sample([*PRINTABLE, *REFUSED[:4]] if rng.random() < 0.5 else PRINTABLE, 9)
            yield "names", names
            continue
        kind = rng.choice(list(CALLS))
        changed = rng.sample(list(CALLS[kind][1]), min(rng.choice([1, 1, 1, 2]), len(CALLS[kind][1])))
        yield kind, [(name, rng.randrange(len(VALUES))) for name in changed]


def attempt(kind: str, content: Any, folder: Path) -> str:
    """Make the call; of a machine with hostile names, everything that is generated from it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "names":
            return _emitted(machine(content), folder)
        call, arguments = CALLS[kind]
        given = {**arguments, **{name: VALUES[k] for name, k in content}}
        call(**given)
    return "returned"


def _emitted(model: ph.Model, folder: Path) -> str:
    system = ph.compile(model)
    system.source("gravity")
    system.export_c(folder / "machine.c", "gravity")
    run = ph.simulate(model, duration=0.01, samples=3)
    report_page(run, model)
    ph.draw_cans(model, folder / "cans.svg", overwrite=True)
    return "emitted"
