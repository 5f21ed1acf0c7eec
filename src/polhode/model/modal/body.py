"""A flexible body by its modes, and the bodies and joints that it is made of."""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from polhode.errors import ModelError, PolhodeWarning, check_name, did_you_mean, message, warn_caller
from polhode.model.modal.invariants import invariants, points
from polhode.model.modal.matrices import (
    FiniteElements,
    check_rigid,
    finite_elements,
    interface_nodes,
    mass_properties,
    rigid_motions,
)
from polhode.model.modal.reduction import craig_bampton, displacements, interfaces_of
from polhode.model.numbers import assign, numbers
from polhode.model.parts import Body, Joint
from polhode.scalar import is_list, shown

MOST_MODES = 60
"""Modal coordinates of a body at most: the operations of its dynamics grow with their square."""

SPEEDS = (0.05, 5e4)
"""ω₁ × size of bodies of real materials, m/s: slender ones have little, none more than some speeds of sound."""

NO_INERTIA = 1e-9
"""The least principal moment, of the largest, of a body that can float: other turns have no inertia."""

GIVEN = 0.01
"""The part by which a mass that is told may differ from that of the mass matrix."""


class ModalInterface(NamedTuple):
    """A node, or several, of a modal body to which joints, forces and constraints attach."""

    position: tuple[float, ...]
    """In body axes without load, m."""
    shape: tuple[tuple[float, ...], ...]
    """(3, k)  displacement for each modal coordinate"""
    turn: tuple[tuple[float, ...], ...]
    """(3, k)  rotation for each modal coordinate, rad/m"""


@dataclass(frozen=True)
class ModalBody:
    """A flexible body: a frame that floats with it, and modes of small deformation against that frame.

        ph.ModalBody.from_matrices("bracket", M, K, nodes, interfaces={"bolt": 12, "pin": 340}, modes=12)

    In a model it is a body of its name, whose frame has the axes of the nodes, and one body without mass for each
    interface, "bracket-bolt", …: joints, forces and constraints attach to these as to any other. Its coordinates are
    the largest displacement of each mode, m.

    mass, center, inertia   without deformation: kg; m; (3, 3) about the centre, kg m²
    frequencies, damping    of the modes, rad/s; ratios to critical damping
    masses       modal masses, kg
    points       the mass that moves with the modes: see `polhode.model.modal.invariants`
    interfaces   by name
    size         largest distance of nodes along an axis, m
    frame        the interface that the frame is fixed to, with its origin there; "": it floats, with the origin of the
                 nodes
    is_exact     whether the inertia invariants are those of the mass matrix to the last: of one with rotations, those
                 that are not exact at rest are of its displacements alone
    nodes, shapes   (n, 3), m, in body axes; (n, 3, k), displacements of the nodes in the modes
    """

    name: str
    mass: float
    center: Any
    inertia: Any
    frequencies: Any
    damping: Any
    masses: Any
    points: Any
    interfaces: Mapping[str, ModalInterface]
    size: float
    frame: str = ""
    is_exact: bool = True
    nodes: Any = field(default=None, compare=False, repr=False)
    shapes: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check everything that is not the work of `from_matrices`."""
        check_name("modal body", "modal body", self.name)
        where = f"modal body '{self.name}'"
        k = len(self.frequencies)
        if k > MOST_MODES:
            fix = "Take fewer modes, or fewer interfaces: each adds six."
            raise ModelError(message(where, "too many modes", f"{k}", f"at most {MOST_MODES}", fix))
        ratios = self.damping if is_list(self.damping) else [self.damping] * k
        ratios = numbers(where, "damping_ratio", ratios, k)
        if any(not 0 <= float(x) < 1 for x in ratios):
            raise ModelError(message(f"{where}, damping_ratio", "out of range", shown(self.damping), "0 ≤ ζ < 1"))
        assign(self, damping=tuple(map(float, ratios)))

    @classmethod
    def from_matrices(
        cls,
        name: str,
        M: Any,
        K: Any,
        nodes: Any,
        interfaces: Mapping[str, Any],
        modes: int = 12,
        damping_ratio: Any = 0.0,
        *,
        frame: str = "",
        freedoms: Any = None,
        labels: Any = None,
        units: str = "m, kg, s",
        mass: float | None = None,
    ) -> Self:
        """A modal body of finite-element matrices, reduced after Craig and Bampton.

        M, K        (n, n)  mass and stiffness, dense or sparse, of the free body
        nodes       (nodes, 3)  places of the nodes
        interfaces  node, or nodes that move as one rigid piece, by name; see `labels`
        modes       with the interfaces held; the modes of the interfaces come on top, 6 for each but one
        damping_ratio   of all modes, or one each
        frame       an interface that the frame is fixed to: joints may then carry the body there; "": it floats
        freedoms    (n, 2)  row of `nodes` and direction (0–2, rotations 3–5) of each row of M and K; unless given,
                    three or six at each node, in their order
        labels      (nodes,)  the numbers by which nodes are called; unless given, 0, 1, …
        units       of M, K and nodes, as "mm, t, s"
        mass        that it should have, kg; told where M has another
        """
        check_name("modal body", "modal body", name)
        where = f"modal body '{name}'"
        if isinstance(modes, bool) or not isinstance(modes, (int, np.integer)) or modes < 0:
            raise ModelError(message(f"{where}, modes", "not a count", shown(modes), "0, 1, 2, …"))
        fe = finite_elements(where, M, K, nodes, freedoms, labels, units)
        return cls._of(where, name, fe, interfaces, int(modes), damping_ratio, frame, mass)

    @classmethod
    def _of(
        cls,
        where: str,
        name: str,
        fe: FiniteElements,
        interfaces: Mapping[str, Any],
        modes: int,
        damping: Any,
        frame: str,
        mass: float | None,
    ) -> Self:
        R = rigid_motions(fe)
        check_rigid(where, fe, R)
        m, center, about_origin = mass_properties(where, fe, R)
        if mass is not None and not abs(m - mass) <= GIVEN * abs(mass):
            fix = "Are units those of the matrices? Write units='mm, t, s' or what they are."
            raise ModelError(message(f"{where}, mass", "not that of the matrix", f"{m:.6g} kg", f"{mass:g} kg", fix))
        found = interface_nodes(where, fe, interfaces)
        for each in found:
            check_name(where, "interface", each)
        if frame and frame not in found:
            expected, fix = ", ".join(found), did_you_mean(frame, found)
            raise ModelError(message(f"{where}, frame", "no such interface", shown(frame), expected, fix))
        ends = interfaces_of(where, fe, found)
        if frame and not next(x for x in ends if x.name == frame).turns:
            fix = "Give this interface several nodes, or let the frame float."
            raise ModelError(message(f"{where}, frame", "a node without rotations", f"'{frame}'", "six motions", fix))
        about_center = about_origin - m * (center @ center * np.eye(3) - np.outer(center, center))
        moments = np.linalg.eigvalsh((about_center + about_center.T) / 2)
        if moments[0] < NO_INERTIA * moments[-1] and not frame:
            found_, fix = f"principal moments {', '.join(f'{x:.3g}' for x in moments)} kg m²", "Fix the frame: frame=…"
            raise ModelError(message(f"{where}, M", "no inertia about an axis", found_, "all above 0", fix))
        reduced = craig_bampton(where, fe, ends, modes, frame)
        origin = reduced.places[frame] if frame else np.zeros(3)
        extent = float(np.max(np.ptp(fe.nodes, axis=0)))
        k = len(reduced.frequencies)
        moving = invariants(fe, R, reduced.modes, origin)
        body = cls(
            name,
            m,
            _tuple(center - origin),
            _tuple((about_center + about_center.T) / 2),
            _tuple(reduced.frequencies),
            damping,
            _tuple(reduced.masses),
            _tuple(points(moving, m, extent)) if k else (),
            {
                each: ModalInterface(
                    _tuple(reduced.places[each] - origin), _tuple(reduced.shapes[each]), _tuple(reduced.turns[each])
                )
                for each in found
            },
            extent,
            frame,
            moving.is_exact,
            fe.nodes - origin,
            displacements(fe, reduced.modes),
        )
        body._tell_units(where)
        return body

    def _tell_units(self, where: str) -> None:
        """Warn of a frequency that no real body of its size has."""
        if self.frequencies and not SPEEDS[0] < self.frequencies[0] * self.size < SPEEDS[1]:
            found = f"ω₁ = {self.frequencies[0]:.3g} rad/s of a body of {self.size:.3g} m and {self.mass:.3g} kg"
            fix = "Are units mixed? Write units='mm, t, s' or what those of M, K and nodes are."
            warn_caller(message(where, "a frequency of no known material", found, "ω₁ × size of 0.05 to 5e4 m/s", fix))

    @property
    def bodies(self) -> dict[str, str]:
        """The bodies of its interfaces, by interface."""
        return {name: f"{self.name}-{name}" for name in self.interfaces}

    def displacements(self, q: Any) -> np.ndarray:
        """Displacements (..., nodes, 3) of the nodes in body axes, m.  q: modal coordinates (..., k)"""
        return np.einsum("adi,...i->...ad", self.shapes, np.asarray(q, dtype=float))

    def __str__(self) -> str:
        """What a reader checks first."""
        x, y, z = self.center
        moments = np.linalg.eigvalsh(np.array(self.inertia))
        frame = f"fixed to '{self.frame}'" if self.frame else "floating"
        told = ", ".join(f"{f / (2 * math.pi):.4g}" for f in self.frequencies[:6])
        lines = [
            f"{self.name}: {len(self.frequencies)} modes, frame {frame}",
            f"  mass {self.mass:.6g} kg, centre ({x:.6g}, {y:.6g}, {z:.6g}) m, size {self.size:.4g} m",
            f"  principal moments {', '.join(f'{x:.6g}' for x in moments)} kg m²",
            f"  frequencies {told}{', …' * (len(self.frequencies) > 6)} Hz",
            f"  interfaces {', '.join(self.interfaces)}",
        ]
        lines += [] if self.is_exact else ["  rotations have mass: terms of second order are of displacements alone"]
        return "\n".join(lines)


def _tuple(x: np.ndarray) -> Any:
    return tuple(map(_tuple, x)) if x.ndim > 1 else tuple((x + 0.0).tolist())


class ModalParts(NamedTuple):
    """What modal bodies add to a model."""

    bodies: list[Body]
    joints: list[Joint]


def modal_parts(modal: Iterable[ModalBody]) -> ModalParts:
    """The bodies and joints of modal bodies. The joint that carries each is the user's."""
    found = ModalParts([], [])
    if not is_list(modal):
        raise ModelError(message("modal", "not a list", shown(modal), "a list of ModalBody"))
    for body in modal:
        if not isinstance(body, ModalBody):
            raise ModelError(message("modal", "not a modal body", shown(body), "a list of ModalBody"))
        _add(found, body)
    return found


def _add(found: ModalParts, body: ModalBody) -> None:
    found.bodies.append(Body(body.name, body.mass, body.inertia, body.center))
    stiffness = tuple(m * w * w for m, w in zip(body.masses, body.frequencies, strict=True))
    pairs = zip(body.masses, body.frequencies, body.damping, strict=True)
    damping = tuple(2 * zeta * m * w for m, w, zeta in pairs)
    for k, (name, interface) in enumerate(body.interfaces.items()):
        child = body.bodies[name]
        with warnings.catch_warnings():  # a frame has no mass, as it should
            warnings.simplefilter("ignore", PolhodeWarning)
            found.bodies.append(Body(child, 0.0, (0.0, 0.0, 0.0), physical=False))
        if not body.frequencies:
            found.joints.append(Joint(child, "fixed", body.name, child, position=interface.position))
            continue
        data: dict[str, Any] = {"shape": interface.shape, "turn": interface.turn}
        if k:
            joint = Joint(child, "modal-interface", body.name, child, position=interface.position, data=data)
        else:
            data |= {"points": body.points, "size": body.size}
            joint = Joint(
                child, "modal", body.name, child, position=interface.position, stiffness=stiffness, damping=damping,
                data=data,
            )  # fmt: skip
        found.joints.append(joint)


def check_modal(where: str, joints: Sequence[Joint]) -> None:
    """Raise a ModelError unless each interface finds the modal coordinates it shares."""
    leaders = dict[str, Joint]()
    for joint in joints:
        if joint.kind.shared:
            if joint.parent in leaders:
                found = f"'{leaders[joint.parent].name}' and '{joint.name}' on '{joint.parent}'"
                raise ModelError(message(where, "two sets of modes of one body", found, "one joint of type modal"))
            leaders[joint.parent] = joint
    for joint in joints:
        if not joint.kind.shares:
            continue
        place = f"{where}, joint '{joint.name}'"
        if joint.parent not in leaders:
            expected = f"a joint of type modal on '{joint.parent}'"
            raise ModelError(message(place, "no modal coordinates to share", f"parent '{joint.parent}'", expected))
        shape: Any = (joint.data or {}).get("shape", ((),))
        size, own = leaders[joint.parent].nv, len(shape[0])
        if size != own:
            raise ModelError(message(f"{place}, shape", "not of these modes", f"{own} columns", f"{size} columns"))
