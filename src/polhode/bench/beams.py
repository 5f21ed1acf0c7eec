"""A slider-crank with a flexible rod against Exudyn, at equal accuracy: published digits are the judge.

Exudyn runs its mechanism, in the plane, at given elements and steps; its error is that of the deflection of the rod's
middle over two turns. Ours, in space, then runs with the fewest elements and the loosest tolerance that are no less
accurate. Only then are both timed, in turn: the whole `ph.simulate(verify=False)` against `SolveDynamic` alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.bench.peers.registry import peer_module
from polhode.bench.timing import OPTIMISED, Contestant, Timing, in_environment, race
from polhode.model import Body, Joint, Model
from polhode.model.beams.beam import Beam, BeamEnd
from polhode.model.beams.section import Material, Section
from polhode.simulation.simulate import simulate

CRANK, ROD, SPEED = 0.15, 0.3, 150.0
"""Of the crank, m, of the rod, m, and rad/s.                                          Jonker (1989); Meijaard (1996)"""

QUARTERS = (1, 2, 3, 4, 6, 8)
"""Quarter turns at which the deflection is known."""

DEFLECTION = (0.005615, 0.003037, -0.007561, 0.000468, -0.002951, -0.000926)
"""Of the rod's middle from its chord there, of its length: a planar Reissner beam by spectral elements, ±3e-6."""

SECTION = Section.circle(0.006, Material(0.2e12, 0.3, 7.87e3))

OURS = tuple((elements, tolerance) for elements in (4, 8, 16, 32) for tolerance in (1e-4, 1e-5))
"""Elements and tolerances from which ours is chosen, cheapest first."""

THEIRS = (("GE", 8, 800), ("GE", 16, 1600), ("GE", 32, 3200), ("ANCF", 4, 1600), ("ANCF", 4, 6400))
"""Kinds of Exudyn's beams, their numbers, and steps over both turns: errors of time are below those of the mesh."""

TURNS = 3
"""The fewest runs of each contestant."""


@dataclass(frozen=True)
class BeamRace:
    """One peer at one accuracy; times are seconds for two turns.

    error, their_error  the largest of the deflection, of the rod's length
    ours, theirs        None where no run of ours is as accurate; `elements`, `tolerance` and `error` are then our best
    """

    peer: str
    their_elements: int
    their_steps: int
    their_error: float
    elements: int
    tolerance: float
    error: float
    ours: Timing | None
    theirs: Timing | None

    @property
    def ratio(self) -> float | None:
        """The least time of the peer over ours."""
        return self.theirs.least / self.ours.least if self.ours and self.theirs else None


def slider_crank(elements: int, section: Section = SECTION) -> tuple[Model, np.ndarray]:
    """The mechanism, stretched out along x where joints are at 0, and its velocities: those of a rigid one."""
    slider = Body("slider", SECTION.mass * ROD / 2, (1e-5, 1e-5, 1e-5))
    shaft = Joint("shaft", "revolute", "world", "crank", axis=(0, 0, 1))
    rail = Joint("rail", "prismatic", "world", "slider", axis=(1, 0, 0), position=(CRANK + ROD, 0, 0))
    pins = [BeamEnd(body, (x, 0, 0), "revolute", (0, 0, 1)) for body, x in (("crank", CRANK), ("slider", 0.0))]
    rod = Beam("rod", section, start=pins[0], end=pins[1], elements=elements)
    bodies = [Body("crank", 1.0, (1e6, 1e6, 1e6)), slider]
    tip = CRANK * SPEED
    nodes = [[0, tip * (1 - k / elements), 0, 0, 0, -tip / ROD] for k in range(1, elements)]
    v = np.concatenate([[SPEED, 0, -SPEED - tip / ROD], *nodes, [-tip / ROD]])
    return Model("slider-crank", (0, 0, 0), bodies=bodies, joints=[shaft, rail], beams=[rod]), v


def deflection(run: Any, elements: int) -> np.ndarray:
    """How far the middle of the rod is from its chord at samples, of its length."""
    start, middle, end = (run.position.sel(body=f"rod-{k}").values[:, :2] for k in (0, elements // 2, elements))
    chord, way = end - start, middle - start
    across = chord[:, 0] * way[:, 1] - chord[:, 1] * way[:, 0]
    return across / np.linalg.norm(chord, axis=1) / ROD


def error(found: np.ndarray) -> float:
    """The largest error of the deflections at quarter turns (9,), of the rod's length; infinite where a run failed."""
    if len(found) != QUARTERS[-1] + 1:
        return math.inf
    return float(np.max(abs(found[list(QUARTERS)] - DEFLECTION)))


def beam_times(seconds: float, theirs: Sequence[tuple[str, int, int]] = THEIRS) -> tuple[list[BeamRace], list[str]]:
    """All races; and what was left out."""
    try:
        exudyn = peer_module("exudyn_beams")
    except ImportError:
        return [], ["Exudyn: not installed"]
    facts = exudyn.RodMechanism(
        CRANK, ROD, SPEED, SECTION.axial, SECTION.bending_y, SECTION.shear_y, SECTION.mass, SECTION.inertia_y,
        SECTION.mass * ROD / 2,
    )  # fmt: skip
    known: dict[tuple[int, float], tuple[float, Contestant]] = {}
    with in_environment(**OPTIMISED):
        return [_raced(exudyn.ExudynRod(facts, kind, n), steps, seconds, known) for kind, n, steps in theirs], []


def _raced(peer: Any, steps: int, seconds: float, known: dict[tuple[int, float], tuple[float, Contestant]]) -> BeamRace:
    settings = peer.settings(_duration(), steps, QUARTERS[-1])
    other = Contestant(peer.name, "SolveDynamic", "mbs.SolveDynamic(settings)", {"mbs": peer.mbs, "settings": settings})
    exec(other.text, dict(other.names))
    their_error = error(peer.deflection())
    best = OURS[0]
    for pair in OURS:
        if pair not in known:
            known[pair] = _ours(*pair)
        if known[pair][0] < known[best][0]:
            best = pair
        if known[pair][0] <= their_error:
            mine, theirs = race([known[pair][1], other], seconds, fewest=TURNS)
            return BeamRace(peer.name, peer.elements, steps, their_error, *pair, known[pair][0], mine, theirs)
    return BeamRace(peer.name, peer.elements, steps, their_error, *best, known[best][0], None, None)


def _duration() -> float:
    return QUARTERS[-1] * math.pi / 2 / SPEED


def _ours(elements: int, tolerance: float) -> tuple[float, Contestant]:
    """The error of a run of ours, and the run."""
    model, v = slider_crank(elements)
    options: dict[str, Any] = {
        "v": v,
        "duration": _duration(),
        "samples": QUARTERS[-1] + 1,
        "tolerance": tolerance,
        "verify": False,
    }
    text = "simulate(model, **options)"
    names = {"simulate": simulate, "model": model, "options": options}
    return error(deflection(simulate(model, **options), elements)), Contestant("polhode", "simulate", text, names)


def beam_table(rows: Sequence[BeamRace]) -> str:
    """The races as a table in Markdown."""
    lines = [
        "| peer | elements, steps | its error | ours: elements, tolerance | our error | its ms | ours ms | ratio |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        times = [f"{1e3 * t.least:.1f}" if t else "–" for t in (row.theirs, row.ours)]
        ratio = f"{row.ratio:.2f}" if row.ratio else "none of ours is as accurate"
        lines.append(
            f"| {row.peer} | {row.their_elements}, {row.their_steps} | {row.their_error:.1e} | {row.elements}, "
            f"{row.tolerance:g} | {row.error:.1e} | {times[0]} | {times[1]} | {ratio} |"
        )
    return "\n".join(lines)
