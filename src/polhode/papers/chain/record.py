"""What a chain is: axes, kinds of joints, link vectors, masses, inertias; and arrays of its states.

Body i hangs on body i − 1 by joint i, with one axis and one coordinate. Frame 0 is space; frame i is
fixed in body i. Arrays hold body or joint i of the equations at index i − 1.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.quaternion import IDENTITY
from polhode.scalar import Array, Vec, as_array, batch_shape, checked, split, stack, vec
from polhode.spatial import planar_inertia

ZERO = vec(0.0, 0.0, 0.0)

KINDS = ("revolute", "prismatic")
"""The joints of this paper; its "cylindrical" joint is the revolute one."""

ROUNDING = 1e-9
"""How far an inertia may be from symmetric and from that of a real body, relative to its size."""


@dataclass(frozen=True)
class Chain:
    """An open chain of n bodies. `Chain.make` checks arrays; the fields may also hold symbols.

    Zoric measures ρ_i from the end of the link, so ρ_kk = links[k], ρ_i = centers[i] − links[i].
    With a mounting c_j, joint j turns or slides from c_j instead of from the frame before: e_j is
    the same in frame j and in the frame of the mounting, and p_{0,j−1} becomes p_{0,j−1}∘c_j.
    """

    kinds: tuple[str, ...]
    """Of each joint: "revolute" or "prismatic"."""
    axes: Vec
    """e_j in frame j, unit (n, 3)."""
    links: Vec
    """From joint k to joint k + 1, frame k (n, 3), m; the last one ends where you like."""
    centers: Vec
    """From joint k to the mass centre, frame k (n, 3), m."""
    masses: Vec
    """(n), kg."""
    inertias: Vec
    """About the mass centres, body axes (n, 3, 3), kg m²."""
    base_position: Vec = ZERO
    """Of joint 1 in space (3), m."""
    base_attitude: Vec = IDENTITY
    """Of what joint 1 is mounted on (4)."""
    mountings: Vec | None = None
    """c_j: attitude of frame j in frame j − 1 at q = 0, unit (n, 4); None: frames parallel there, as in Zoric (24)."""

    def __post_init__(self) -> None:
        _check_kinds("Chain, argument kinds", self.kinds)
        for name in ("axes", "links", "centers", "masses", "inertias", "mountings"):
            value = getattr(self, name)
            if value is not None and len(value) != self.n:
                where, expected = f"Chain, argument {name}", f"{self.n}, one for each joint"
                raise InputError(message(where, "wrong length", f"{len(value)}", expected))

    @property
    def n(self) -> int:
        """Number of bodies, of joints, of coordinates."""
        return len(self.kinds)

    @property
    def xi(self) -> tuple[int, ...]:
        """ξ_j: 1 for a prismatic joint, else 0."""
        return tuple(int(kind == "prismatic") for kind in self.kinds)

    @property
    def xi_bar(self) -> tuple[int, ...]:
        """ξ̄_j = 1 − ξ_j: 1 for a revolute joint, else 0."""
        return tuple(int(kind == "revolute") for kind in self.kinds)

    def __str__(self) -> str:
        bodies = "one body" if self.n == 1 else f"{self.n} bodies"
        return f"chain of {bodies}: {', '.join(self.kinds)}"

    @staticmethod
    def make(
        kinds: Sequence[str],
        axes: Array,
        links: Array,
        centers: Array,
        masses: Array,
        inertias: Array,
        *,
        base_position: Array = ZERO,
        base_attitude: Array = IDENTITY,
        mountings: Array | None = None,
        physical: bool = True,
    ) -> Chain:
        """A chain from arrays, checked.

        kinds          n words, "revolute" or "prismatic"
        axes           (n, 3)     directions, normalised here
        links          (n, 3)     d_k, from joint k to joint k + 1
        centers        (n, 3)     c_k, from joint k to the mass centre
        masses         (n)        ≥ 0
        inertias       (n, 3, 3)  about the mass centres; or (n, 3), principal moments
        base_position  (3)
        base_attitude  (4)        unit
        mountings      (n, 4)     unit
        physical                  False leaves out the checks that a body with such an inertia exists
        """
        place, n = "Chain.make, argument ", len(kinds)
        _check_kinds(place + "kinds", kinds)
        if mountings is None:
            mountings = [IDENTITY] * n
        e = _of_shape(place + "axes", checked(place + "axes", axes, "direction"), (n, 3))
        m = _of_shape(place + "masses", masses, (n,))
        if np.any(m < 0):
            raise InputError(message(place + "masses", "negative", f"{m}", "masses ≥ 0"))
        return Chain(
            kinds=tuple(kinds),
            axes=split(e / np.linalg.norm(e, axis=-1, keepdims=True), 2),
            links=split(_of_shape(place + "links", links, (n, 3)), 2),
            centers=split(_of_shape(place + "centers", centers, (n, 3)), 2),
            masses=split(m, 1),
            inertias=split(_inertias(place + "inertias", inertias, n, physical), 3),
            base_position=split(_of_shape(place + "base_position", base_position, (3,)), 1),
            base_attitude=split(_rotations(place + "base_attitude", base_attitude, (4,)), 1),
            mountings=split(_rotations(place + "mountings", mountings, (n, 4)), 2),
        )


def _check_kinds(where: str, kinds: Sequence[str]) -> None:
    if not kinds or isinstance(kinds, str) or not set(kinds) <= set(KINDS):
        expected = "a word for each joint, " + " or ".join(KINDS)
        raise InputError(message(where, "not the joints of a chain", f"{kinds!r}", expected))


def _of_shape(where: str, value: Array, shape: tuple[int, ...]) -> np.ndarray:
    """Real numbers of exactly this shape."""
    array = as_array(where, value, shape)
    if array.ndim != len(shape) or array.dtype.kind != "f":
        found = f"{array.shape} of {array.dtype}"
        raise InputError(message(where, "not the numbers of one chain", found, f"{shape} of float64"))
    return array


def _rotations(where: str, value: Array, shape: tuple[int, ...]) -> np.ndarray:
    return _of_shape(where, checked(where, value, "unit quaternion"), shape)


def _inertias(where: str, value: Array, n: int, physical: bool) -> np.ndarray:
    """Symmetric, and unless told otherwise with a planar inertia ∫ρρᵀdm ≥ 0: rods and points are fine."""
    J = as_array(where, value, ())
    if J.shape == (n, 3):
        J = J[..., None] * np.eye(3)
    J = _of_shape(where, J, (n, 3, 3))
    for i, J_i in enumerate(J):
        size = np.max(abs(J_i))
        if np.max(abs(J_i - J_i.T)) > ROUNDING * size:
            found = f"a difference of {np.max(abs(J_i - J_i.T)):.3g} across the diagonal"
            raise InputError(message(f"{where}, index {i}", "inertia is not symmetric", found, "none"))
        if physical and np.linalg.eigvalsh(planar_inertia(J_i))[0] < -ROUNDING * size:
            shown = ", ".join(f"{x:.6g}" for x in np.linalg.eigvalsh(J_i))
            raise InputError(
                message(
                    f"{where}, index {i}",
                    "inertia is not that of a real body",
                    f"principal moments {shown} kg m²",
                    "a largest one of at most the sum of the others",
                    "Was it given about the joint instead of the centre of mass? physical=False leaves this check out.",
                )
            )
    return J


class Selectors(NamedTuple):
    """ξ and ξ̄ of all joints, each (n)."""

    prismatic: Vec
    revolute: Vec


def selectors(chain: Chain) -> Selectors:
    """Which joints slide and which turn.

    ξ_j = 1, ξ̄_j = 0 if prismatic;  ξ_j = 0, ξ̄_j = 1 if revolute             Zoric (22), (23)
    """
    return Selectors(Vec([float(x) for x in chain.xi]), Vec([float(x) for x in chain.xi_bar]))


def on_states(**shapes: tuple[int | str, ...]) -> Callable[[Callable], Callable]:
    """Let a function on a chain and `Vec` also take arrays with any leading batch axes, as `on_arrays` does.

        @on_states(q=("n",), vectors=("n", 3))
        def carried_derivatives(chain, q, vectors): ...

    "n" is the number of joints of the chain; any other letter is found from the arrays.
    """

    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)
        label = f"chain.{function.__name__}"

        @wraps(function)
        def wrapper(*args: Any, **options: Any) -> Any:
            given = signature.bind(*args, **options).arguments
            if any(isinstance(given.get(name), Vec) for name in shapes):
                return function(*args, **options)
            sizes = {"n": given["chain"].n} if "chain" in given else {}
            arrays = {}
            for name, axes in shapes.items():
                if given.get(name) is None:
                    continue
                where = f"{label}, argument {name}"
                array = as_array(where, given[name], ())
                for axis, size in zip(reversed(axes), reversed(array.shape), strict=False):
                    if isinstance(axis, str):
                        sizes.setdefault(axis, size)
                shape = tuple(sizes.get(axis, 1) if isinstance(axis, str) else axis for axis in axes)
                arrays[name] = as_array(where, array, shape)
            batch = batch_shape(label, {name: x.shape[: x.ndim - len(shapes[name])] for name, x in arrays.items()})
            given.update({name: split(x, len(shapes[name])) for name, x in arrays.items()})
            return stack(function(**given), batch)

        return wrapper

    return decorate
