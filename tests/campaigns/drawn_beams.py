"""Random machines with soft beams, which explicit methods can follow too, for the campaign of verdicts."""

from typing import Any

import numpy as np

import polhode as ph


def _log(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _section(rng: np.random.Generator) -> ph.Section:
    bending = np.exp(rng.uniform(np.log(0.05), np.log(5), 2))
    mass = _log(rng, 0.1, 1)
    axial = float(max(bending)) * _log(rng, 30, 1e3)
    shear = {"shear_y": axial / 3, "shear_z": axial / 3} if rng.random() < 0.6 else {}
    inertia = mass * axial and mass * float(max(bending)) / axial  # of a bar of one material
    return ph.Section(
        axial=axial, torsion=float(min(bending)) * _log(rng, 0.3, 1), bending_y=float(bending[0]),
        bending_z=float(bending[1]), mass=mass, inertia_y=inertia, inertia_z=inertia, **shear,
    )  # fmt: skip


def _shape(rng: np.random.Generator, length: float, plane: bool) -> tuple[list[np.ndarray], dict[str, Any]]:
    """Points of a beam from its start, and what goes with them: straight, a polygon, or a smooth curve."""
    n = int(rng.integers(1, 4))
    kind = rng.choice(["straight", "corners", "curve"]) if n > 1 else "straight"
    if kind == "straight":
        return [np.array([length, 0, 0])], {"elements": n}
    turns = np.cumsum(rng.normal(size=(n, 2)) * 0.3, axis=0) * [1, 0 if plane else 1]
    ways = [length / n * np.array([np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)]) for a, b in turns]
    *through, end = np.cumsum(ways, axis=0)
    return [*through, end], {"curved": bool(kind == "curve")}


def drawn(rng: np.random.Generator) -> tuple[str, ph.Model, np.ndarray, np.ndarray]:
    """A beam on the world or on a hub that turns, hinged or clamped, under weight and a load of its tip."""
    length, plane = _log(rng, 0.4, 1.5), bool(rng.random() < 0.4)
    points, more = _shape(rng, length, plane)
    if plane:
        more["plane"] = (0, 0, 1)
    if rng.random() < 0.5:
        more["damping"] = _log(rng, 1e-4, 1e-2)
    if not more.get("curved") and not plane and rng.random() < 0.2:
        more["measure"] = "sine"
    if rng.random() < 0.4:
        more["mass"] = "consistent"
    on_hub = rng.random() < 0.5
    joint = "revolute" if rng.random() < 0.3 else "fixed"
    root = ph.BeamEnd("hub" if on_hub else "world", (0, 0, 0), joint, (0, 0, 1))
    *through, end = [tuple(x) for x in points]
    beam = ph.Beam("b", _section(rng), root, end, through, **more)
    tip = f"b-{len(beam.through) + 1 if beam.through else beam.elements}"
    force = rng.normal(size=3) * [1, 1, 0 if plane else 1] * _log(rng, 0.01, 0.3)
    forces = [ph.Force("tip", tip, force=tuple(force))] if rng.random() < 0.7 else []
    hub = [ph.Body("hub", 1.0, (0.02, 0.02, 0.02))] if on_hub else []
    shaft = [ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1))] if on_hub else []
    gravity = (0, -_log(rng, 0.5, 9.81), 0) if rng.random() < 0.7 else (0, 0, 0)
    model = ph.Model("beam", gravity=gravity, bodies=hub, joints=shaft, beams=[beam], forces=forces)
    q, v = np.array(model.zero), np.array(model.at_rest)
    if on_hub and rng.random() < 0.5:
        v[0] = _log(rng, 0.1, 2)
    words = [k if x is True else f"{k} {x}" for k, x in more.items() if x is not False]
    return f"beam {joint} on {root.body}, {', '.join(words)}", model, q, v
