"""Symmetries: motions under which the equations of a machine are invariant, and the steady motions along them.

A symmetry is a field ζ on the configurations whose flow turns the components of velocities at a constant rate:

    X_b ζ = ad_ζ − G,      F_q ζ − F_v G v + G F = 0       (F(q, v) the accelerations)

A steady motion runs along one: v = Σ c ζ, and then v̇ + G v = 0 with G = Σ c G.                        BEYOND §9
Candidates are read off the tree; each is kept only if the equations themselves agree, at random states.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polhode.analysis.equations_at_state import EquationsAtState, skew
from polhode.dynamics import kinematics
from polhode.dynamics.body_points import BodyPoint, jacobian
from polhode.model import WORLD, Element, plain
from polhode.result.labels import dof_names
from polhode.scalar import Vec
from polhode.spatial import ORIGIN

AGREES = 1e-7
"""The largest residual of a symmetry's condition, relative to the terms that cancel in it."""

TRIALS = 3
"""Random states at which symmetries are tried."""

REACHES = (0.2, 0.05, 0.01, 1e-3)
"""How far from the given state (rad, m): smaller ones where the constraints cannot be met."""

ALONG = 1e-9
"""How far a velocity may be from a motion along symmetries, relative to its size."""


@dataclass(frozen=True)
class Symmetry:
    """A motion of the machine under which its equations are invariant.

    generator  (n, n)  G: −G turns the components of velocities along the flow
    axis       (n,)    ζ where it is constant: one velocity, or the spin of a body about an axis of its own
    twist      (6,)    else: velocity of the world's origin, angular velocity, of everything as one rigid body
    """

    name: str
    generator: np.ndarray
    axis: np.ndarray | None = None
    twist: np.ndarray | None = None

    def field(self, equations: EquationsAtState, q: np.ndarray) -> np.ndarray | None:
        """ζ (n,) at a configuration; None where the joints do not allow it."""
        return self.axis if self.axis is not None else _rigid(equations, q, self.twist)


class Along(NamedTuple):
    """A velocity as a motion along symmetries: their rates, the generator, what is left over."""

    rates: np.ndarray
    generator: np.ndarray
    left: np.ndarray


def symmetries(equations: EquationsAtState, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> list[Symmetry]:
    """The symmetries of a model under constant forces, looked for around a state; those of everything come last."""
    key = np.asarray(tau, dtype=float).tobytes()
    if key not in equations.symmetries:
        states = [*_around(equations, q, v)]
        found = [*_candidates(equations, q)] if states else []
        for q1, v1 in states:
            moving = accelerations(equations, q1, v1, tau)
            found = [symmetry for symmetry in found if _holds(equations, symmetry, q1, v1, moving)]
        equations.symmetries[key] = _independent(equations, found, [q1 for q1, _ in states])
    return equations.symmetries[key]


def _independent(equations: EquationsAtState, found: list[Symmetry], places: list[np.ndarray]) -> list[Symmetry]:
    """Symmetries without those that earlier ones make up everywhere: a turn of all is that of the one shaft."""
    kept: list[Symmetry] = []
    columns = np.zeros((0, 0))
    for one in found:
        parts = [*(one.field(equations, q) for q in places), one.generator.ravel()]
        column = np.concatenate([np.zeros(0) if part is None else part for part in parts])
        wider = np.hstack([columns.reshape(len(column), -1), column[:, None] / np.linalg.norm(column)])
        if np.linalg.svd(wider, compute_uv=False)[-1] > AGREES:
            kept, columns = [*kept, one], wider
    return kept


def fields(equations: EquationsAtState, found: list[Symmetry], q: np.ndarray) -> np.ndarray:
    """(n, s)  the fields of symmetries, as columns."""
    columns = [symmetry.field(equations, q) for symmetry in found]
    return np.array([np.zeros(equations.n) if c is None else c for c in columns]).reshape(-1, equations.n).T


def along(equations: EquationsAtState, found: list[Symmetry], q: np.ndarray, v: np.ndarray) -> Along:
    """The rates at which symmetries make up a velocity.

    Where several do, the whole machine is turned as little as may be: a top that sleeps spins about its own axis, and
    is seen in axes that stand still.
    """
    Z = fields(equations, found, q)
    turning = np.array([symmetry.twist is not None for symmetry in found], dtype=bool)
    rates = np.zeros(len(found))
    own_mass = np.diag(equations.mass_matrix(q))
    scale = np.sqrt(np.where(own_mass > 0, own_mass, np.max(own_mass)))[:, None]
    Z, w = Z * scale, v * scale[:, 0]
    own, whole = Z[:, ~turning], Z[:, turning]
    rates[turning] = _least(_across(own, whole), _across(own, w[:, None])[:, 0])
    rates[~turning] = _least(own, w - whole @ rates[turning])
    left = (w - Z @ rates) / scale[:, 0]
    G = sum((c * symmetry.generator for c, symmetry in zip(rates, found, strict=True)), np.zeros((equations.n,) * 2))
    return Along(rates, G, left)


def _least(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(A, b, rcond=1e-10)[0] if A.size else np.zeros(A.shape[1])


def _across(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The columns of B less their projections onto the span of A; those below rounding are 0."""
    rest = B - A @ np.linalg.lstsq(A, B, rcond=1e-10)[0] if A.size else B.copy()
    rest[:, np.linalg.norm(rest, axis=0) <= ALONG * np.linalg.norm(B, axis=0)] = 0.0
    return rest


def _candidates(equations: EquationsAtState, q: np.ndarray) -> Iterator[Symmetry]:
    """Each velocity alone; each body on a ball about its principal axes; everything as one body."""
    M = equations.mass_matrix(q)
    for e in equations.tree.elements:
        if e.kind.quaternion:
            yield from _spins(e, M, equations.n)
        elif e.v:
            yield _of_velocity(equations, e.v[0])
    gravity = np.array(plain(equations.model.gravity), dtype=float)
    yield from _of_everything(equations, q, gravity)


def _of_velocity(equations: EquationsAtState, k: int) -> Symmetry:
    """One velocity alone."""
    n = equations.n
    return Symmetry(dof_names(equations.model)[k], np.zeros((n, n)), axis=np.eye(n)[k])


def own_states(equations: EquationsAtState) -> list[Symmetry]:
    """The own states of force elements as rates of symmetries, which any value of them is: they have no coordinates."""
    return [_of_velocity(equations, k) for k in equations.tree.own_places]


def _spins(e: Element, M: np.ndarray, n: int) -> Iterator[Symmetry]:
    """A body about the principal axes of what its ball moves."""
    block = M[np.ix_(e.v, e.v)]
    _, axes = np.linalg.eigh(block)
    whole = np.eye(3)
    for k, axis in enumerate(axes.T):
        near = whole[int(np.argmax(abs(axis)))]
        axis = near if np.max(abs(abs(axis) - near)) < 1e-9 else axis
        zeta, G = np.zeros(n), np.zeros((n, n))
        zeta[list(e.v)], G[np.ix_(e.v, e.v)] = axis, skew(axis)
        letter = "xyz"[int(np.argmax(near))] if axis is near else str(k + 1)
        yield Symmetry(f"spin of {e.body} about {letter}", G, axis=zeta)


def _of_everything(equations: EquationsAtState, q: np.ndarray, gravity: np.ndarray) -> Iterator[Symmetry]:
    """Turns of the whole machine about the vertical, without gravity about all axes; of several trees, shifts."""
    roots = [joint for joint in equations.model.joints if joint.parent == WORLD]
    size = float(np.linalg.norm(gravity))
    axes = {"the vertical": -gravity / size} if size else dict(zip(("x", "y", "z"), np.eye(3), strict=True))
    pinned = [joint for joint in roots if joint.kind.shifts < 2]
    center = np.array(plain(pinned[0].position if pinned else (0.0, 0.0, 0.0)), dtype=float)
    twists = {f"turn about {name}": np.append(np.cross(center, k), k) for name, k in axes.items()}
    if len(roots) > 1:
        twists |= {f"shift along {name}": np.append(k, np.zeros(3)) for name, k in zip("xyz", np.eye(3), strict=True)}
    for name, twist in twists.items():
        if _rigid(equations, q, twist) is not None:
            yield Symmetry(name, _turning(equations, q, twist[3:]), twist=twist)


def _rigid(equations: EquationsAtState, q: np.ndarray, twist: np.ndarray | None) -> np.ndarray | None:
    """The velocities at which everything moves as one rigid body; None if the joints on the world do not allow it."""
    assert twist is not None
    tree, zeta, at = equations.tree, np.zeros(equations.n), Vec(q.tolist())
    for joint in equations.model.joints:
        if joint.parent != WORLD:
            continue
        i, own = tree.of_body[joint.child], [a for e in tree.elements if e.joint == joint.name for a in e.v]
        J = np.array(jacobian(tree, at, BodyPoint(i, ORIGIN), "world-aligned"), dtype=float).reshape(6, -1)[:, own]
        x = np.array(kinematics.frames(tree, at)[i].o, dtype=float)
        wanted = np.append(twist[:3] + np.cross(twist[3:], x), twist[3:])
        zeta[own] = _least(J, wanted)
        if np.max(abs(J @ zeta[own] - wanted)) > ALONG * max(1.0, float(np.max(abs(wanted)))):
            return None
    return zeta


def _turning(equations: EquationsAtState, q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """G of a turn w of everything: axes fixed in the world, those of free and planar joints, fall behind by w̃."""
    tree, G = equations.tree, np.zeros((equations.n, equations.n))
    place = Vec(q.tolist())
    slots = kinematics.motion_slots(tree)
    motions = dict(
        zip((a for a, _ in slots), kinematics.slot_motions(tree, place, kinematics.frames(tree, place)), strict=True)
    )
    for joint in equations.model.joints:
        if joint.parent == WORLD and joint.kind.shifts >= 2:
            own = [a for e in tree.elements if e.joint == joint.name for a in e.v if all(e.kind.linear)]
            l = np.array([motions[a].l for a in own], dtype=float)
            G[np.ix_(own, own)] = -l @ skew(w) @ l.T
    return G


def _around(equations: EquationsAtState, q: np.ndarray, v: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random states near a given one, on the constraints."""
    rng = np.random.default_rng(0)
    found = equations.residuals(q, v, v, np.zeros(equations.k), 0.0)
    basis = equations.rows(equations.mass_matrix(q), found.A, found.phi).basis
    basis = basis if basis.size else np.eye(equations.n)
    for _ in range(TRIALS):
        step, change = (basis @ rng.normal(size=(basis.shape[1], 2))).T
        for reach in REACHES:
            q1 = equations.moved(q, reach * step / max(float(np.max(abs(step))), 1e-300))
            v1 = v + change / max(float(np.max(abs(change))), 1e-300)
            q1, v1, left = equations.settled(q1, v1)
            if left < 1e-9:
                yield q1, v1
                break


class Accelerations(NamedTuple):
    """F = v̇ (n,) and its derivatives F_q, F_v, F_τ (n, n)."""

    F: np.ndarray
    F_q: np.ndarray
    F_v: np.ndarray
    F_tau: np.ndarray


def accelerations(
    equations: EquationsAtState, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: float = 0.0
) -> Accelerations:
    """v̇ under the constraints, and how it changes.

    [M, −Aᵀ; A, 0] [δv̇; δλ] = −(Σ_b X_b r δ[b] + ∂r/∂v δv),   r with v̇ and λ frozen                    BEYOND §9
    """
    n, now = equations.n, equations.at(q, v, tau, t)
    slopes = equations.slopes(q, v, now.vd, now.lam, t)
    forces = np.hstack([-slopes.force, np.eye(n)])
    rows = np.hstack([-slopes.along, np.zeros((equations.k, n))])
    change, _ = equations.rows(now.M, now.A, now.phi).constrained(forces, rows)
    return Accelerations(now.vd, change[:, :n], change[:, n : 2 * n], change[:, 2 * n :])


def _holds(
    equations: EquationsAtState, symmetry: Symmetry, q: np.ndarray, v: np.ndarray, moving: Accelerations
) -> bool:
    """Whether the accelerations go along with it: F_q ζ − F_v G v + G F = 0."""
    zeta, G = symmetry.field(equations, q), symmetry.generator
    if zeta is None:
        return False
    F, F_q, F_v, _ = moving
    left = F_q @ zeta - F_v @ G @ v + G @ F
    size = abs(F_q) @ abs(zeta) + abs(F_v) @ abs(G @ v) + abs(G) @ abs(F)
    return bool(np.max(abs(left)) <= AGREES * max(float(np.max(size)), 1e-9))
