"""The best view of an assembly: little hidden, ends of cans to be seen, axes not foreshortened."""

from collections.abc import Sequence

import numpy as np

from polhode.show.cans.arrows import arrow_curve
from polhode.show.cans.chain import MotionChain
from polhode.show.cans.frames import AXIS, end_origin, ring_points
from polhode.show.cans.layout import Assembly, Pair
from polhode.show.vector.geometry import Array, View, across, arc, hidden

AZIMUTHS, ELEVATIONS = tuple(range(-80, 81, 8)), (18, 25, 32)
"""Views that are tried, degrees; those along a coordinate plane show less."""
DEFAULT_POLICY = -48
"""The azimuth that is used unless another one costs less."""


def best_view(assemblies: Sequence[Assembly], stages: MotionChain | None = None) -> View:
    """The one view of some assemblies, and of the classical stages of a chain, with the least cost of those tried."""
    tried = [(azimuth, elevation) for azimuth in AZIMUTHS for elevation in ELEVATIONS]

    def fault(angles: tuple[int, int]) -> float:
        own = stage_cost(stages, View.of(*angles)) if stages else 0.0
        return own + sum(cost(assembly, *angles) for assembly in assemblies)

    return View.of(*min(tried, key=fault))


def stage_cost(chain: MotionChain, view: View) -> float:
    """How bad a view of the classical stages is: discs seen edge on, axes foreshortened or near each other."""
    found = 0.0
    for turn in chain.turns:
        found += 6.0 * max(0.0, 0.35 - abs(float(turn.axis @ view.toward)))
        flat = view.page(np.concatenate([turn.before.T, turn.after.T]))
        size = np.linalg.norm(flat, axis=1)
        found += 1.5 * float(np.maximum(0.45 - size, 0.0).sum())
        between = np.linalg.norm(flat[:, None] - flat[None], axis=2)[np.triu_indices(6, 1)]
        found += 2.0 * float(np.maximum(0.3 - between, 0.0).sum() - 0.3)  # the axis of the turn is there twice
    return found


def cost(assembly: Assembly, azimuth: float, elevation: float) -> float:
    """How bad a view is; a picture without any fault costs about 0."""
    view = View.of(azimuth, elevation)
    found = 0.008 * abs(azimuth - DEFAULT_POLICY) + 0.02 * abs(elevation - 25)
    found += 1.5 * max(0.0, 0.25 - abs(np.sin(2 * np.radians(azimuth)))) / 0.25
    points = np.concatenate([_faces(pair, view) for pair in assembly.pairs])
    found += 6.0 * float(np.mean(hidden(points, view, assembly.solids)))
    arrows = np.concatenate([arrow_curve(pair, view).at(np.linspace(-1.2, 1.3, 9)) for pair in assembly.pairs])
    found += 4.0 * float(np.mean(hidden(arrows, view, assembly.solids)))
    axes = _axes(assembly)
    found += 4.0 * float(np.mean(hidden(axes, view, assembly.solids)))
    slopes = np.array([float(pair.way @ view.toward) for pair in assembly.pairs])
    away = np.maximum(0.2 - slopes, 0.0) if assembly.chain.sequence else 0.5 * np.maximum(-slopes, 0.0)
    found += float(
        np.mean(1.2 * away + 6.0 * np.maximum(abs(slopes) - 0.75, 0.0) + 6.0 * np.maximum(0.25 - abs(slopes), 0.0))
    )
    rods = [abs(part.shape.body.axis @ view.toward) for part in assembly.parts if part.role == "rod"]
    found += 4.0 * float(np.mean([max(slope - 0.8, 0.0) for slope in rods])) if rods else 0.0
    flat = view.page(np.concatenate([ring_points(solid) for solid in assembly.solids]))
    width, height = np.ptp(flat, axis=0)
    return found + 0.06 * max(width + 4.0, height * 1.15)


def _faces(pair: Pair, view: View) -> Array:
    """Points on the sides of both cans that face the viewer, just off them."""
    found = []
    for can in (pair.first, pair.second):
        facing = (can.radius + 0.01) * across(can.axis, view.toward)
        t = np.linspace(-1.2, 1.2, 7)
        found += [arc(can.start + s * can.length * can.axis, can.axis, facing, 0, 1).at(t) for s in (0.15, 0.5, 0.85)]
    return np.concatenate(found)


def _axes(assembly: Assembly) -> Array:
    """Points along the axes of the frames: all of a sequence, those of the bodies of a machine."""
    if assembly.chain.sequence:
        frames = [(end_origin(pair, pair.turn.after), pair.turn.after) for pair in assembly.pairs]
    else:
        frames = [(placed.place, placed.tip.frame) for placed in assembly.tips]
    return np.array([origin + s * AXIS * e for origin, R in frames for e in R.T for s in (0.55, 0.8, 1.0)])
