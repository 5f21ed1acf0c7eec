"""Machines whose equations are in textbooks, and the textbooks' formulas."""

import csv
import warnings
from pathlib import Path

import sympy

import polhode as ph

DATA = Path(__file__).resolve().parents[1] / "data" / "textbook_equations.csv"


def textbook(machine):
    """The stored formulas of a machine by quantity: M11, h1, G1, …"""
    lines = [line for line in DATA.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = [row for row in csv.DictReader(lines) if row["machine"] == machine]
    assert rows
    return {row["quantity"]: _read(row["formula"]) for row in rows}


def _read(text):
    return _real(sympy.parse_expr(text, local_dict={"I_x": sympy.Symbol("I_x")}))


def _real(x):
    return x.xreplace({s: sympy.Symbol(s.name, real=True) for s in x.free_symbols})


def lagrange_top():
    """A top by its Euler angles, two massless gimbals above it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        gimbals = [ph.Body(name, 0.0, (0, 0, 0), physical=False) for name in ("outer", "inner")]
        return ph.Model(
            "lagrange-top",
            bodies=[*gimbals, ph.Body("top", 1.3, (0.01, 0.01, 0.02), center=(0, 0, 0.2))],
            joints=[
                ph.Joint("precession", "revolute", "world", "outer", axis=(0, 0, 1)),
                ph.Joint("nutation", "revolute", "outer", "inner", axis=(1, 0, 0)),
                ph.Joint("spin", "revolute", "inner", "top", axis=(0, 0, 1)),
            ],
        )


def rprr():
    """A turning column, a slider along its x, a rod that swings about y and one that swings about the first's x."""
    masses = [("column", 5.0, (0, 0, 0)), ("slider", 3.0, (0, 0, 0)), ("upper", 2.0, (0, 0, -0.4))]
    return ph.Model(
        "rprr",
        bodies=[
            *(ph.Body(name, mass, (0, 0, 0), center=center) for name, mass, center in masses),
            ph.Body("lower", 1.0, (0, 0, 0), center=(0, 0, -0.3)),
        ],
        joints=[
            ph.Joint("turn", "revolute", "world", "column", axis=(0, 0, 1)),
            ph.Joint("slide", "prismatic", "column", "slider", axis=(1, 0, 0)),
            ph.Joint("swing", "revolute", "slider", "upper", axis=(0, 1, 0)),
            ph.Joint("twist", "revolute", "upper", "lower", axis=(1, 0, 0), position=(0, 0, -0.4)),
        ],
    )


TOP_NAMES = {
    "precession": "phi",
    "nutation": "theta",
    "spin": "psi",
    "bodies.top.mass": "m",
    "bodies.top.center.2": "l",
    "bodies.top.inertia.0": "I_x",
    "bodies.top.inertia.1": "I_x",
    "bodies.top.inertia.2": "I_z",
}

MACHINES = {
    "double-pendulum": lambda: ph.equations(ph.load("double-pendulum")),
    "cart-pole": lambda: ph.equations(ph.load("cart-pole")),
    "lagrange-top": lambda: ph.equations(lagrange_top(), names=TOP_NAMES),
    "euler-top": lambda: ph.equations(ph.load("heavy-top")),
    "rprr": lambda: ph.equations(rprr()),
}
"""The equations of each machine of the data file."""


def ours(eq):
    """The same quantities of `ph.equations`."""
    n = eq.model.nv
    found = {f"M{i + 1}{j + 1}": eq.metric[i, j] for i in range(n) for j in range(i, n)}
    for letter, column in (("h", eq.velocity_terms), ("G", eq.gravity)):
        found |= {f"{letter}{k + 1}": x for k, x in enumerate(column)}
    return found
