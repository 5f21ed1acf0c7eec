"""The reference problems: each a machine of this package, and its numbers beside the published ones."""

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode import exact
from polhode.analysis.linear import linearize
from polhode.bench.published import published
from polhode.errors import PolhodeWarning
from polhode.formats.bicycle import bicycle
from polhode.formats.load import load
from polhode.model import WORLD, Body, Joint, Model
from polhode.quaternion import rotate
from polhode.simulation.simulate import simulate
from polhode.system.system import compile

TREE, CLOSED = 1e-13, 1e-12
"""Tolerances of the runs, of trees and of machines under constraints."""
G = 9.81


class Number(NamedTuple):
    """One number: as it is printed, ours, and what a difference is measured in."""

    quantity: str
    printed: str
    ours: float
    unit: float = 1.0

    @property
    def difference(self) -> float:
        """Of ours from the printed one."""
        return abs(self.ours - float(self.printed)) / self.unit


class Found(NamedTuple):
    """What a problem gave: its numbers; how they came about; processor seconds of it, kernels at hand; steps."""

    numbers: list[Number]
    how: str
    seconds: float
    steps: int | None = None


class PublishedCase(NamedTuple):
    """A reference problem: where its numbers are from, what solves it, and the largest difference it is judged by."""

    key: str
    title: str
    origin: str
    solve: Callable[[], Found]
    bar: float


def followed(model: Model, times: Sequence[float], tolerance: float, **start: Any) -> tuple[Any, float, int, str]:
    """A run sampled at times: its Dataset, processor seconds once compiled, steps, and how it was made."""
    options = {"duration": float(max(times)), "samples": list(times), "tolerance": tolerance, **start}
    run = simulate(model, **options)
    began = time.process_time()
    run = simulate(model, **options)
    seconds = time.process_time() - began
    return run, seconds, int(run.attrs["steps_taken"]), f"ph.simulate, {run.attrs['method']}, tolerance {tolerance:g}"


def beside(rows: list[dict[str, str]], names: Sequence[str], ours: np.ndarray) -> Iterator[Number]:
    """The columns of a table beside ours, row by row, each row a time."""
    for row, values in zip(rows, np.atleast_2d(ours), strict=True):
        for name, value in zip(names, values, strict=True):
            yield Number(f"{name}({row['t']} s)", row[name], float(value))


def times_of(rows: list[dict[str, str]]) -> list[float]:
    """The times of a table."""
    return [float(row["t"]) for row in rows]


def signed(p: np.ndarray, rows: list[dict[str, str]], names: Sequence[str]) -> np.ndarray:
    """Quaternions with the signs of the printed ones: p and −p are one attitude."""
    printed = np.array([[float(row[name]) for name in names] for row in rows])
    return p * np.where(np.sum(p * printed, axis=1) < 0, -1.0, 1.0)[:, None]


# one body


def free_body(name: str, inertia: tuple, omega: tuple) -> Found:
    """A free body that turns."""
    rows = published(name)
    model = Model(
        "body",
        gravity=(0.0, 0.0, 0.0),
        bodies=(Body("body", 1.0, inertia),),
        joints=(Joint("flight", "free", WORLD, "body"),),
    )
    run, seconds, steps, how = followed(model, times_of(rows), TREE, v=(0, 0, 0, *omega))
    turns, rates = ("p0", "p1", "p2", "p3"), ("w1", "w2", "w3")
    p = signed(run["q"].values[1:, 3:], rows, turns)
    return Found([*beside(rows, turns, p), *beside(rows, rates, run["v"].values[1:, 3:])], how, seconds, steps)


def heavy_top() -> Found:
    """The heavy top of the Lie-group papers."""
    rows = published("heavy_top")
    run, seconds, steps, how = followed(load("heavy-top"), times_of(rows), TREE)
    turns = ("q0", "q1", "q2", "q3")
    p = signed(run["q"].values[1:], rows, turns)
    numbers = [
        *beside(rows, turns, p),
        *beside(rows, ("x", "y", "z"), rotate(p, (0, 1, 0))),
        *beside(rows, ("w1", "w2", "w3"), run["v"].values[1:]),
    ]
    return Found(numbers, how, seconds, steps)


def steady_cone() -> Found:
    """A cone in steady precession: its tilt stays, and after one turn its axis is back."""
    H, R, tilt, precession = 0.1, 0.05, math.pi / 3, 10.0
    m, L = 2700 * math.pi * R**2 * H / 3, 3 * H / 4
    J1, J3 = 3 * m * (4 * R**2 + H**2) / 80, 3 * m * R**2 / 10
    spin = m * G * L / (J3 * precession) + (J1 + m * L**2 - J3) / J3 * precession * math.cos(tilt)
    cone = Body("cone", m, (J1, J1, J3), center=(0, 0, L))
    model = Model("cone", bodies=(cone,), joints=(Joint("tip", "spherical", WORLD, "cone"),))
    q = (math.cos(tilt / 2), math.sin(tilt / 2), 0.0, 0.0)
    v = (0.0, precession * math.sin(tilt), spin + precession * math.cos(tilt))
    turn = 2 * math.pi / precession
    run, seconds, steps, how = followed(model, [turn / 3, turn], TREE, q=q, v=v)
    axis = rotate(run["q"].values, (0, 0, 1))
    tilted = np.arctan2(np.hypot(axis[:, 0], axis[:, 1]), axis[:, 2])
    numbers = [Number("tilt(T/3)", repr(tilt), float(tilted[1])), Number("tilt(T)", repr(tilt), float(tilted[2]))]
    numbers += [
        Number(f"axis {c}(T)", repr(float(first)), float(last))
        for c, first, last in zip("xyz", axis[0], axis[2], strict=True)
    ]
    return Found(numbers, how, seconds, steps)


# rolling


def rolling_disk() -> Found:
    """Upright straight rolling: eigenvalues of the lean on both sides of the critical spin, from the equation."""
    model, r = load("rolling-disk"), 0.3
    A, C, mr2 = r * r / 4, r * r / 2, r * r
    numbers, began = [], time.process_time()
    for part in (0.5, 0.9, 1.0, 1.1, 2.0):
        spin = part * math.sqrt(G / (3 * r))
        half = math.pi / 4
        q = [0, 0, r, math.cos(half), math.sin(half), 0, 0]  # its axis along −y: it rolls along −x
        found = linearize(model, q=q, v=[-r * spin, 0, 0, 0, 0, spin])
        square = (G * r - C * (C + mr2) * spin**2 / A) / (A + mr2)
        squares = np.real(found.eigenvalues(all=True) ** 2)
        ours = float(max(squares)) if square > 0 else float(min(squares))
        numbers.append(Number(f"λ², spin {part:g} × critical", repr(square), ours, G / r))
    return Found(numbers, "ph.linearize about straight rolling", time.process_time() - began)


# the IFToMM library


def pendulum() -> Found:
    """A01."""
    rows = published("exact_pendulum")
    bob = Body("bob", 1.0, (0, 0, 0), (0, 0, -1))
    model = Model("A01", bodies=(bob,), joints=(Joint("hinge", "revolute", WORLD, "bob", axis=(0, -1, 0)),))
    run, seconds, steps, how = followed(model, times_of(rows), TREE, q=[-math.pi / 2])
    angle = run["q"].values[1:, 0]
    numbers = list(beside(rows, ("x", "y"), np.stack([np.sin(angle), -np.cos(angle)], axis=-1)))
    return Found(numbers, how, seconds, steps)


def four_bars(windows: int) -> Found:
    """A02: place and velocity of B0. Digits for N = 2; for others the pendulum that the row is, in closed form."""
    names = ("x", "y", "vx", "vy")
    rows = published("n_four_bar") if windows == 2 else _row_of_windows(windows, (2.0, 4.0, 10.0))
    run, seconds, steps, how = followed(load(f"n-four-bar-{windows}"), times_of(rows), CLOSED)
    phi, rate = run["q"].values[1:, 0], run["v"].values[1:, 0]
    ours = np.stack([np.cos(phi), np.sin(phi), -np.sin(phi) * rate, np.cos(phi) * rate], axis=-1)
    return Found(list(beside(rows, names, ours)), how, seconds, steps)


def _row_of_windows(windows: int, times: Sequence[float]) -> list[dict[str, str]]:
    """φ̈ = −c cos φ from φ = π/2, φ̇ = −1: a pendulum with θ = φ + π/2."""
    swinging, carried = windows + 1, windows
    c = G * (swinging / 2 + carried) / (swinging / 3 + carried)
    found = exact.pendulum(math.pi, -1.0, np.array(times), math.sqrt(c))
    phi, rate = found.angle - math.pi / 2, found.rate
    columns = {"t": times, "x": np.cos(phi), "y": np.sin(phi), "vx": -np.sin(phi) * rate, "vy": np.cos(phi) * rate}
    return [{name: f"{values[k]:.15g}" for name, values in columns.items()} for k in range(len(times))]


def andrews(part: str) -> Found:
    """A03: angles, or their rates relative to their size."""
    row = next(row for row in published("andrews") if row["quantity"] == part)
    run, seconds, steps, how = followed(load("andrews"), [0.03], CLOSED)
    numbers = []
    for k, name in enumerate(("β", "Θ", "γ", "Φ", "δ", "Ω", "ε")):
        printed, ours = row[str(k + 1)], float(run[part].values[-1][k])
        numbers.append(Number(name, printed, ours) if part == "q" else Number(f"d{name}/dt", printed, ours, abs(ours)))
    return Found(numbers, how if part == "q" else f"{how}; relative to their size", seconds, steps)


def andrews_forces() -> Found:
    """The multipliers of A03: forces in the three loops, in space axes, where ours stand in those of body a."""
    model, rows = load("andrews"), {row.pop("quantity"): row for row in published("andrews")}
    run, seconds, steps, how = followed(model, [0.03], CLOSED)
    q, v, system = run["q"].values[-1], run["v"].values[-1], compile(model)
    found, names = system.constraint_forces(q, v, np.zeros(7)).multipliers, system.constraint_names
    numbers: list[Number] = []
    for loop, angle in (("E3", q[2]), ("E4", q[3] + q[4]), ("E6", q[5] + q[6])):
        x, y = found[[names.index(f"{loop}.{axis}") for axis in "xy"]]
        for axis, ours in (
            ("x", math.cos(angle) * x - math.sin(angle) * y),
            ("y", math.sin(angle) * x + math.cos(angle) * y),
        ):
            printed = rows["lambda"][str(len(numbers) + 1)]
            numbers.append(Number(f"λ{len(numbers) + 1}, {loop} {axis}", printed, -float(ours), abs(float(printed))))
    return Found(numbers, f"{how}, then constraint_forces; M q̈ + Gᵀλ = f, so of the other sign", seconds, steps)


def bricard() -> Found:
    """A04: the corner P3."""
    rows = published("bricard")
    run, seconds, steps, how = followed(load("bricard"), times_of(rows), CLOSED)
    corner = run["position"].sel(body="rod4").values[1:]
    return Found(list(beside(rows, ("x", "y", "z"), corner)), how, seconds, steps)


def governor() -> Found:
    """A05: slider, rods and shaft."""
    rows = published("flyball_governor")
    run, seconds, steps, how = followed(load("flyball-governor"), times_of(rows), CLOSED)
    q, v = run["q"].values[1:], run["v"].values[1:]
    ours = np.stack([q[:, 1], q[:, 2], v[:, 0]], axis=-1)
    return Found(list(beside(rows, ("s", "angle", "rate"), ours)), how, seconds, steps)


# the bicycle


LEAN_AND_STEER = ["frame.omega_x", "steer"]


def _straight(speed: float) -> Any:
    model = bicycle()
    assert model.start is not None
    start = np.array(model.start.v, dtype=float)
    v = start * speed / start[0]
    v[3] = 0.0
    return linearize(model, v=v)


def bicycle_matrices() -> Found:
    """M, C1, K0, K2 of the machine linearised here."""
    began = time.process_time()
    speed = 5.0
    (M, C, K), rest = _straight(speed).second_order(LEAN_AND_STEER), _straight(0.0).second_order(LEAN_AND_STEER)
    ours = {"M": M, "C1": C / speed, "K0": rest.K / G, "K2": (K - rest.K) / speed**2}
    numbers = [
        Number(f"{row['matrix']}{row['i']}{row['j']}", row["value"],
               float(ours[row["matrix"]][int(row["i"]) - 1, int(row["j"]) - 1]))
        for row in published("bicycle_matrices")
    ]  # fmt: skip
    how = "ph.linearize of the nonlinear machine, upright, straight ahead at 0 and 5 m/s"
    return Found(numbers, how, time.process_time() - began)


def bicycle_eigenvalues() -> Found:
    """Table 2: each printed eigenvalue beside the nearest of ours."""
    began, numbers = time.process_time(), []
    for row in published("bicycle_eigenvalues"):
        found = np.linalg.eigvals(_straight(float(row["v"])).part(LEAN_AND_STEER).A)
        wanted = [("capsize", row["capsize"], "0"), ("castering", row["castering"], "0")]
        wanted += [(name, row[f"{name}_real"], row[f"{name}_imag"]) for name in ("weave", "other")]
        for name, real, imaginary in wanted:
            value = complex(float(real), float(imaginary))
            nearest = min(found, key=lambda x, value=value: abs(x - value))  # type: ignore[misc]
            numbers.append(Number(f"{name}, v = {row['v']}", real, float(nearest.real)))
            if float(imaginary):
                numbers.append(Number(f"{name}, imaginary", imaginary, float(nearest.imag)))
    return Found(numbers, "ph.linearize at eleven speeds", time.process_time() - began)


def bicycle_speeds() -> Found:
    """Where weave and capsize cross zero."""
    from scipy.optimize import brentq

    began, printed = time.process_time(), {row["name"]: row["speed"] for row in published("bicycle_speeds")}

    def growth(speed: float, oscillating: bool) -> float:
        found = np.linalg.eigvals(_straight(speed).part(LEAN_AND_STEER).A)
        chosen = [x.real for x in found if (abs(x.imag) > 1e-6) == oscillating]
        return float(max(chosen))

    ours = {
        "weave": brentq(growth, 4.0, 4.6, args=(True,), xtol=1e-12),
        "capsize": brentq(growth, 5.5, 6.5, args=(False,), xtol=1e-12),
    }
    numbers = [Number(f"{name}, m/s", printed[name], float(value)) for name, value in ours.items()]
    return Found(numbers, "ph.linearize and a root finder", time.process_time() - began)


# chains


def double_pendulum() -> Found:
    """Two point masses, absolute angles."""
    rows = published("double_pendulum")
    bodies = (Body("upper", 1.0, (0, 0, 0), (0, 0, -1)), Body("lower", 1.0, (0, 0, 0), (0, 0, -1)))
    joints = (
        Joint("hinge", "revolute", WORLD, "upper", axis=(0, -1, 0)),
        Joint("elbow", "revolute", "upper", "lower", axis=(0, -1, 0), position=(0, 0, -1)),
    )
    model = Model("double", bodies=bodies, joints=joints)
    run, seconds, steps, how = followed(model, times_of(rows), TREE, q=[math.pi / 2, 0.0])
    numbers = list(beside(rows, ("theta1", "theta2"), np.cumsum(run["q"].values[1:], axis=1)))
    numbers += beside(rows, ("rate1", "rate2"), np.cumsum(run["v"].values[1:], axis=1))
    return Found(numbers, how, seconds, steps)


def puma() -> Found:
    """Mass matrix and gravity at the configuration qn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolhodeWarning)
        system = compile(load("puma-560"))
    q = np.array([0, math.pi / 4, math.pi, 0, math.pi / 4, 0])
    system.mass_matrix(q), system.gravity(q)
    began = time.process_time()
    M, torque = system.mass_matrix(q), system.gravity(q)
    seconds = time.process_time() - began
    numbers = []
    for row in published("puma_560"):
        i, j = int(row["i"]) - 1, int(row["j"] or 0) - 1
        if row["quantity"] in ("M", "gravity"):
            ours = M[i, j] if row["quantity"] == "M" else torque[i]
            label = f"M{i + 1}{j + 1}" if row["quantity"] == "M" else f"gravity {i + 1}"
            numbers.append(Number(label, row["value"], float(ours)))
    return Found(numbers, "mass_matrix and gravity of ph.compile", seconds)


def acrobot() -> Found:
    """Its closed-form H, C q̇, g at a state: l = 1, l_c = ½, I_c = 0.083, 0.33; angle zero hangs down."""
    lc, I1, I2, l1 = 0.5, 0.083, 0.33, 1.0
    bodies = (Body("upper", 1.0, (I1, I1, 0), (0, 0, -lc)), Body("lower", 1.0, (I2, I2, 0), (0, 0, -lc)))
    joints = (
        Joint("shoulder", "revolute", WORLD, "upper", axis=(0, 1, 0)),
        Joint("elbow", "revolute", "upper", "lower", axis=(0, 1, 0), position=(0, 0, -l1)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolhodeWarning)
        system = compile(Model("acrobot", bodies=bodies, joints=joints))
    q, v = np.array([0.4, -1.1]), np.array([0.7, 1.3])
    (s1, s12), (s2, c2) = np.sin([q[0], q[0] + q[1]]), (math.sin(q[1]), math.cos(q[1]))
    first, second = I1 + lc * lc, I2 + lc * lc  # about their hinges
    H = [[first + second + l1 * l1 + 2 * l1 * lc * c2, second + l1 * lc * c2], [second + l1 * lc * c2, second]]
    C = [-2 * l1 * lc * s2 * v[1] * v[0] - l1 * lc * s2 * v[1] ** 2, l1 * lc * s2 * v[0] ** 2]
    g = [G * (lc * s1 + l1 * s1 + lc * s12), G * lc * s12]
    system.mass_matrix(q), system.bias(q, v), system.gravity(q)
    began = time.process_time()
    M, bias, pull = system.mass_matrix(q), system.bias(q, v), system.gravity(q)
    seconds = time.process_time() - began
    numbers = [Number(f"H{i + 1}{j + 1}", repr(float(H[i][j])), float(M[i, j])) for i in (0, 1) for j in (0, 1)]
    numbers += [Number(f"(C q̇){i + 1}", repr(float(C[i])), float(bias[i] - pull[i])) for i in (0, 1)]
    numbers += [Number(f"g{i + 1}", repr(float(g[i])), float(pull[i])) for i in (0, 1)]
    return Found(numbers, "mass_matrix, bias and gravity of ph.compile, against the formulas", seconds)


IFTOMM = "IFToMM benchmark library"
ANDREWS = "Test Set for IVP Solvers, PSIDE at 1e-14"
BICYCLE = "Meijaard, Papadopoulos, Ruina, Schwab 2007"
PROBLEMS = (
    PublishedCase(
        "free-symmetric", "Free symmetric body", "Drake's case, closed form by Kane, Likins, Levinson",
        lambda: free_body("exact_free_symmetric", (0.04, 0.04, 0.02), (2, 4, 6)), 1e-10,
    ),
    PublishedCase(
        "free-asymmetric", "Free asymmetric body", "Basilisk's case, extrapolation in 80-bit floats",
        lambda: free_body("exact_free_asymmetric", (500, 200, 300), (0.5, -0.4, 0.7)), 1e-10,
    ),
    PublishedCase("heavy-top", "Heavy top", "Brüls, Cardona, Arnold; extrapolation in 80-bit floats", heavy_top, 1e-10),
    PublishedCase("steady-cone", "Cone in steady precession", "closed form (metis, HeavyTopQuat)", steady_cone, 1e-11),
    PublishedCase("rolling-disk", "Rolling disk, upright", "lean equation; differences over g/r", rolling_disk, 1e-9),
    PublishedCase("A01", "Planar pendulum", f"{IFTOMM}, elliptic integrals", pendulum, 1e-10),
    PublishedCase("A02-2", "Two four-bars", f"{IFTOMM}, 25 to 40 digits", lambda: four_bars(2), 1e-6),
    PublishedCase("A02-40", "Forty four-bars", f"{IFTOMM}, closed form of one coordinate", lambda: four_bars(40), 1e-6),
    PublishedCase("A03", "Andrews' squeezer, angles", ANDREWS, lambda: andrews("q"), 1e-8),
    PublishedCase("A03-rates", "Andrews' squeezer, rates", ANDREWS, lambda: andrews("v"), 1e-6),
    PublishedCase(
        "A03-forces", "Andrews' squeezer, multipliers", "the same; independent runs agree to 1e-6 of their size",
        andrews_forces, 1e-5,
    ),
    PublishedCase("A04", "Bricard's mechanism", IFTOMM, bricard, 1e-8),
    PublishedCase("A05", "Stiff flyball governor", f"{IFTOMM}, Radau on three coordinates", governor, 1e-7),
    PublishedCase("bicycle-matrices", "Bicycle, M C1 K0 K2", BICYCLE, bicycle_matrices, 1e-9),
    PublishedCase("bicycle-eigenvalues", "Bicycle, eigenvalues", f"{BICYCLE}, Table 2", bicycle_eigenvalues, 1e-9),
    PublishedCase("bicycle-speeds", "Bicycle, weave and capsize speeds", BICYCLE, bicycle_speeds, 1e-8),
    PublishedCase(
        "double-pendulum", "Double pendulum of point masses", "extrapolation with mpmath", double_pendulum, 1e-10,
    ),
    PublishedCase("puma-560", "Puma 560", "Corke, Armstrong-Hélouvry 1994; Robotics Toolbox", puma, 1e-9),
    PublishedCase("acrobot", "Acrobot", "Drake's closed form", acrobot, 1e-13),
)  # fmt: skip
"""All of them, in the order of the page."""
