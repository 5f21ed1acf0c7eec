"""Machines held at points: `ph.actuation`, the least generalised forces of a motion, and `ph.contact_impulse`.

Rows C of all that holds the machine: those of its constraints, and three for each contact point, its velocity in world
axes. With S the velocities that are actuated and P = I − C⁺C:

    M v̇ + bias = S τ + Cᵀλ,   τ = (P S)⁺ P (M v̇ + bias)                      the least τ; λ = (Cᵀ)⁺ (M v̇ + bias − S τ)
"""

from collections.abc import Sequence
from math import ulp
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.scalar import Array, a_list, real_number, shown
from polhode.system.system import System

RANK = 1e-10
"""Singular values, relative to the largest, at and below which rows count as dependent."""


class Actuation(NamedTuple):
    """The generalised forces τ (..., nv) of a motion, 0 where nothing is actuated; multipliers (..., k) of the rows of
    constraints; forces (..., c, 3) on the machine at contact points, world axes, N; and the largest generalised force
    that nothing gives, (...): above rounding, the motion is not possible."""

    tau: Any
    multipliers: Any
    contacts: Any
    residual: Any


class ContactImpulse(NamedTuple):
    """The velocities (..., nv) after an impact, and the impulses (..., c, 3) on the machine at contact points, N s."""

    v: Any
    impulses: Any


def actuation(
    system: System,
    q: Array,
    v: Array | None = None,
    vd: Array | None = None,
    *,
    actuated: Sequence[str] | None = None,
    contacts: Sequence[Any] = (),
) -> Actuation:
    """The least generalised forces, in the sum of their squares, that give a motion under constraints and contacts.

        >>> import polhode as ph
        >>> block = ph.Model("block", bodies=[ph.Body("block", 2.0, (1, 1, 1))],
        ...                  joints=[ph.Joint("fly", "free", "world", "block")])
        >>> feet = [("block", (x, y, -1)) for x in (-1, 1) for y in (-1, 1)]
        >>> held = ph.actuation(ph.compile(block, target="python"), [0, 0, 1, 1, 0, 0, 0], actuated=[], contacts=feet)
        >>> held.contacts[:, 2].round(3)
        array([4.905, 4.905, 4.905, 4.905])

    v, vd     of the motion, rest unless given: static equilibrium; they should meet the constraints
    actuated  names of joints, all unless given
    contacts  points that are held: names of bodies or frames, or pairs of a name and a point in its axes

    Forces at contacts may pull: whether they press, and how much friction they need, is for the caller to see. Where
    more is held than needed, the multipliers and contact forces given are the least.
    """
    where, model = "actuation", _system("actuation", system).model
    n = model.joint_velocities
    places = _actuated(where, system, actuated)
    rest = np.zeros(model.nv)
    v, vd = (rest if x is None else x for x in (v, vd))
    needed = np.asarray(system.inverse_dynamics(q, v, vd))[..., :n, None]
    C, k = _rows(where, system, q, v, contacts)
    P = np.eye(n) - np.linalg.pinv(C, rcond=RANK) @ C
    tau = np.zeros((*np.broadcast_shapes(needed.shape[:-2], C.shape[:-2]), model.nv))
    tau[..., places] = (np.linalg.pinv(P[..., places], rcond=RANK) @ P @ needed)[..., 0]
    left = needed - tau[..., :n, None]
    lam = (np.linalg.pinv(np.swapaxes(C, -1, -2), rcond=RANK) @ left)[..., 0]
    residual = np.max(abs(left[..., 0] - np.einsum("...ki,...k->...i", C, lam)), axis=-1, initial=0.0)
    return Actuation(tau, lam[..., :k], _vectors(lam[..., k:]), residual)


def contact_impulse(
    system: System, q: Array, v: Array, contacts: Sequence[Any], restitution: float = 0.0
) -> ContactImpulse:
    """The impact of points of a machine on what stands still: their velocities u become −e u.

    contacts     as of `actuation`
    restitution  e: 0 for a plastic impact, 1 for one that keeps the energy; constraints hold on
    """
    where, n = "contact_impulse", _system("contact_impulse", system).model.joint_velocities
    restitution = real_number(f"{where}, restitution", restitution, "0 to 1", -ulp(0.0), 1.0)
    C, k = _rows(where, system, q, v, contacts)
    speed = np.asarray(v, dtype=float)
    X = np.asarray(system.inverse_mass_matrix(q))[..., :n, :n] @ np.swapaxes(C, -1, -2)
    change = np.einsum("...ki,...i->...k", C, speed[..., :n])
    change[..., k:] *= 1 + restitution
    impulses = -(np.linalg.pinv(C @ X, rcond=RANK) @ change[..., None])
    after = np.broadcast_to(speed, (*impulses.shape[:-2], speed.shape[-1])).copy()
    after[..., :n] += (X @ impulses)[..., 0]
    return ContactImpulse(after, _vectors(impulses[..., k:, 0]))


def _vectors(numbers: np.ndarray) -> np.ndarray:
    """Numbers (..., 3 c) as vectors (..., c, 3)."""
    return numbers.reshape(*numbers.shape[:-1], numbers.shape[-1] // 3, 3)


def _system(where: str, system: Any) -> System:
    if not isinstance(system, System):
        fix = "Compile the model: ph.compile(model)."
        raise InputError(message(f"{where}, system", "not a System", shown(system), "a System", fix))
    return system


def _actuated(where: str, system: System, names: Any) -> list[int]:
    """The places in v of the joints that are actuated."""
    joints, found, at = system.model.joints, dict[str, range](), 0
    for joint in joints:
        found[joint.name] = range(at, at + joint.nv)
        at += joint.nv
    chosen = list(found) if names is None else a_list(f"{where}, actuated", names, "names of joints")
    for name in chosen:
        if name not in found:
            fix = did_you_mean(name, found)
            raise UnknownNameError(message(f"{where}, actuated", "no such joint", shown(name), "names of joints", fix))
    return [place for name in chosen for place in found[name]]


def _rows(where: str, system: System, q: Array, v: Array, contacts: Any) -> tuple[np.ndarray, int]:
    """The rows (..., k + 3 c, n) of constraints and contacts, and k."""
    n, rows = system.model.joint_velocities, []
    if system.model.constraints:
        rows.append(np.asarray(system.constraint_rows(q, v).A)[..., :n])
    k = rows[0].shape[-2] if rows else 0
    for contact in a_list(f"{where}, contacts", contacts, "names of bodies or frames, or pairs (name, point)"):
        body, point = (contact, (0.0, 0.0, 0.0)) if isinstance(contact, str) else _pair(where, contact)
        rows.append(np.asarray(system.jacobian(q, body, point))[..., :3, :n])
    if not rows:
        return np.zeros((0, n)), 0
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in rows))
    return np.concatenate([np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in rows], axis=-2), k


def _pair(where: str, contact: Any) -> tuple[str, Any]:
    if not isinstance(contact, (tuple, list)) or len(contact) != 2:
        expected = "the name of a body or frame, or a pair (name, point)"
        raise InputError(message(f"{where}, contacts", "not a contact", shown(contact), expected))
    return contact[0], contact[1]
