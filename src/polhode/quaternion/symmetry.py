"""Attitudes of symmetric bodies: finite groups of rotations, smallest equivalent rotations, angles up to symmetry."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, UnknownNameError, message
from polhode.quaternion.algebra import conjugate, product
from polhode.quaternion.rotation import axis_angle
from polhode.quaternion.signs import canonical
from polhode.scalar import Array, batch_shape, checked_real, shown

ALIKE = 1e-9
"""1 − |p·q| up to which two quaternions count as one member of a group: 9e-5 rad."""

LARGEST = 720
"""Members of a group at most: to see that it is one takes the cube of their number."""

IDENTITIES = np.array([[1.0, 0.0, 0.0, 0.0]])
"""The group of no symmetry."""

GOLDEN = (1 + sqrt(5)) / 2

GENERATORS = {
    "T": ((0.0, 0.0, 0.0, 1.0), (0.5, 0.5, 0.5, 0.5)),
    "O": ((sqrt(0.5), 0.0, 0.0, sqrt(0.5)), (0.5, 0.5, 0.5, 0.5)),
    "I": ((0.0, 0.5, 0.5 / GOLDEN, 0.5 * GOLDEN), (0.5, 0.5, 0.5, 0.5)),
}
"""Of the rotations of tetrahedron (12), octahedron and cube (24), icosahedron and dodecahedron (60)."""


def symmetry_group(name: str, axis: int = 3) -> np.ndarray:
    """The rotations that take a body to itself: a finite group, as unit quaternions.

    name  "C4": a fourth of a turn about the axis and its multiples; "D4": with half turns about axes across it;
          "T", "O", "I": those of tetrahedron, octahedron, icosahedron, the coordinate axes among their axes
    axis  1, 2 or 3, of "C…" and "D…"
    ->    (order, 4)  the identity first, signs of `canonical`

    >>> import polhode as ph
    >>> [len(ph.quaternion.symmetry_group(name)) for name in ("C4", "D4", "T", "O", "I")]
    [4, 8, 12, 24, 60]
    """
    where = "quaternion.symmetry_group"
    if not isinstance(axis, int) or isinstance(axis, bool) or axis not in (1, 2, 3):
        raise InputError(message(f"{where}, argument axis", "no such axis", shown(axis), "1, 2 or 3"))
    if isinstance(name, str) and name in GENERATORS:
        return _generated(GENERATORS[name]).copy()
    found = re.fullmatch(r"([CD])([1-9]\d{0,2})", name) if isinstance(name, str) else None
    if not found or int(found[2]) > LARGEST // 2:
        expected = f"'T', 'O', 'I', or 'C' or 'D' with a number from 1 to {LARGEST // 2}, as 'C4'"
        raise UnknownNameError(message(f"{where}, argument name", "no such group", shown(name), expected))
    n = int(found[2])
    half = np.pi * np.arange(n) / n
    along, across = axis, axis % 3 + 1
    turns = np.zeros((n, 4))
    turns[:, 0], turns[:, along] = np.cos(half), np.sin(half)
    if found[1] == "C":
        return _tidy(turns)
    flips = np.zeros((n, 4))
    flips[:, across], flips[:, across % 3 + 1] = np.cos(half), np.sin(half)
    return _tidy(np.concatenate([turns, flips]))


def _tidy(members: np.ndarray) -> np.ndarray:
    """With canonical signs, and zeros where rounding left a little."""
    return canonical(np.where(abs(members) < 1e-15, 0.0, members))


@cache
def _generated(generators: Sequence[tuple[float, ...]]) -> np.ndarray:
    """The group of products of its generators."""
    members = IDENTITIES
    while True:
        products = product(members[:, None], np.array(generators)[None]).reshape(-1, 4)
        products = products / np.sqrt(np.sum(products * products, axis=-1, keepdims=True))
        known = len(members)
        for p in products:
            if np.max(abs(members @ p)) < 1 - ALIKE:
                members = np.concatenate([members, p[None]])
        if len(members) == known:
            return _tidy(members)


class Reduction(NamedTuple):
    """The smallest equivalent rotation (..., 4), and the places (...) in their lists of what led to it."""

    attitude: np.ndarray
    body: np.ndarray
    space: np.ndarray


def reduced(p: Array, body: Array | None = None, space: Array | None = None) -> Reduction:
    """The smallest of the equivalent rotations s∘p∘b: that with the largest scalar part, which is ≥ 0.

    p      (..., 4)
    body   (m, 4)  rotations b of the body that change nothing; None: the identity alone
    space  (k, 4)  rotations s of space that change nothing
    ->     attitude (..., 4), body (...), space (...)

    >>> import polhode as ph
    >>> abs(ph.quaternion.reduced([0, 0, 0, 1], body=ph.quaternion.symmetry_group("C4")).attitude).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    where = "quaternion.reduced"
    x = checked_real(f"{where}, argument p", p, "unit quaternion")
    lists = _members(f"{where}, argument body", body), _members(f"{where}, argument space", space)
    return _smallest(x, *lists)


def symmetric_angle(p: Array, q: Array, body: Array | None = None, space: Array | None = None) -> np.ndarray:
    """The smallest angle between attitudes that look like p and like q: their distance up to symmetry.

        smallest angle of p*∘s∘q∘b, b and s from the groups of body and space

    p, q   (..., 4)
    body   (m, 4)  rotations of the body that change nothing, a group, as `symmetry_group` gives; None: none
    space  (k, 4)  those of space, a group
    ->     (...)  rad

    >>> import polhode as ph
    >>> float(ph.quaternion.symmetric_angle([1, 0, 0, 0], [0, 0, 0, 1], body=ph.quaternion.symmetry_group("C2")))
    0.0
    """
    where = "quaternion.symmetric_angle"
    a, b = (checked_real(f"{where}, argument {n}", x, "unit quaternion") for n, x in (("p", p), ("q", q)))
    batch_shape(where, {"p": a.shape[:-1], "q": b.shape[:-1]})
    of_body, of_space = _group(f"{where}, argument body", body), _group(f"{where}, argument space", space)
    found = None
    for s in of_space:
        r = _smallest(product(conjugate(a), product(s, b)), of_body, IDENTITIES).attitude
        found = r if found is None else np.where(r[..., :1] > found[..., :1], r, found)
    return axis_angle(found).angle


def _smallest(p: np.ndarray, body: np.ndarray, space: np.ndarray) -> Reduction:
    best, of_body, of_space = np.full(p.shape, -1.0), *np.zeros((2, *p.shape[:-1]), dtype=int)
    for k, s in enumerate(space):
        turned = product(s, p)
        chosen = np.argmax(abs(turned @ conjugate(body).T), axis=-1)
        found = product(turned, body[chosen])
        found = np.where(found[..., :1] < 0, -found, found)
        smaller = found[..., 0] > best[..., 0]
        best = np.where(smaller[..., None], found, best)
        of_body, of_space = np.where(smaller, chosen, of_body), np.where(smaller, k, of_space)
    return Reduction(best, of_body, of_space)


def _members(where: str, members: Any) -> np.ndarray:
    """Unit quaternions (m, 4), or an InputError."""
    if members is None:
        return IDENTITIES
    found = checked_real(where, members, "unit quaternion")
    if found.ndim != 2 or not 1 <= len(found) <= LARGEST:
        fix = "quaternion.symmetry_group gives the usual ones."
        raise InputError(message(where, "not a list", f"shape {found.shape}", f"(m, 4), m from 1 to {LARGEST}", fix))
    return found


def _group(where: str, members: Any) -> np.ndarray:
    """Unit quaternions (m, 4) that form a group, or an InputError."""
    group = _members(where, members)
    if pair := _open_pair(group.tobytes()):
        found = " times ".join(str(group[k].round(6).tolist()) for k in pair)
        fix = "quaternion.symmetry_group gives the usual ones."
        raise InputError(message(where, "not a group", found, "a member for each product of two", fix))
    return group


@lru_cache(maxsize=16)
def _open_pair(data: bytes) -> tuple[int, int] | None:
    """The places of two members whose product is none; None of a group."""
    group = np.frombuffer(data).reshape(-1, 4)
    for k, a in enumerate(group):
        near = np.max(abs(product(a, group) @ group.T), axis=-1)
        if np.min(near) < 1 - ALIKE:
            return k, int(np.argmin(near))
    return None
