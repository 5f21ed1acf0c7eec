"""The inertia of a beam element beyond that of its nodes: consistent mass, which couples both."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

from polhode.model.forces.base import ForceElement
from polhode.model.forces.two_frames import FRAMES, check_two_bodies, is_between_bodies, reflected_ends
from polhode.model.keys import AT_LEAST_ZERO, POSITIVE, Key
from polhode.model.numbers import short
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.quaternion import rotation_matrix_homogeneous, skew
from polhode.scalar import Scalar, Vec, cross, identity

HERMITE = ((156, 22, 54, -13), (22, 4, 13, -3), (54, 13, 156, -22), (-13, -3, -22, 4))
"""420/m times ∫NᵀN of the cubic Hermite polynomials of the ends and of the directions there, times l."""

NODES = ((210, 35, 0, 0), (35, 17.5, 0, 0), (0, 0, 210, -35), (0, 0, -35, 17.5))
"""The same of the bodies at the nodes: masses m/2 with their centres a sixth of the length inside, so that mass, first
moment and weight of both are one, and m l²/24 about the ends."""


@dataclass(frozen=True)
class BeamInertia(ForceElement):
    """The difference between the consistent inertia of a beam element and that of the bodies at its ends.

    The axis of the element is the cubic through both ends along the x axes d of their frames, y = (x_a, d_a, x_b, d_b):

        T = ½ ẏᵀ M_c ẏ,   ḋ = ω × d                                                            FLEXIBLE §3

    less that of a body of mass/2 at each end, its centre length/6 inside, with mass length²/24 about the end across the
    beam. `ph.Beam(…, mass="consistent")` makes both. It has no weight: the bodies have all of it.

    point_a, orientation_a, …  the frames at the ends, in body axes: origins, m, and unit quaternions; x along the beam
    length  m
    mass    of the element, kg
    """

    name: str
    body_a: str
    body_b: str
    length: Scalar
    mass: Scalar = 0.0
    point_a: Any = (0.0, 0.0, 0.0)
    point_b: Any = (0.0, 0.0, 0.0)
    orientation_a: Any = (1.0, 0.0, 0.0, 0.0)
    orientation_b: Any = (1.0, 0.0, 0.0, 0.0)

    kind = "beam-inertia"
    keys: ClassVar = {
        "body_a": Key("body", "a body, or world", needed=True),
        "body_b": Key("body", "another body, or world", needed=True),
        "length": Key("number", "without strain, m", unit="m", letter="l_0", needed=True, range=POSITIVE),
        "mass": Key("number", "of the element, kg", unit="kg", letter="m", range=AT_LEAST_ZERO),
        **FRAMES,
    }

    def check(self, where: str) -> None:
        """Refuse an element within one body."""
        check_two_bodies(where, self.body_a, self.body_b)

    @property
    def inertia_bodies(self) -> Sequence[str]:
        """Its two bodies."""
        return (self.body_a, self.body_b)

    def _arms(self, state: MachineState) -> tuple[Vec, Vec, Vec, Vec]:
        """What turns with the bodies, world axes: from the origin of each to its end, and the direction d there."""
        sides = (self.body_a, self.point_a, self.orientation_a), (self.body_b, self.point_b, self.orientation_b)
        r_a, d_a, r_b, d_b = (
            state.frame(body).R @ arm
            for body, point, turn in sides
            for arm in (Vec(point), Vec([row[0] for row in rotation_matrix_homogeneous(Vec(turn))]))
        )
        return r_a, d_a, r_b, d_b

    def _matrix(self) -> list[list[Scalar]]:
        """M_c less that of the nodes, (4, 4)."""
        sizes = (1.0, self.length, 1.0, self.length)
        return [
            [self.mass * ((HERMITE[i][j] - NODES[i][j]) / 420) * sizes[i] * sizes[j] for j in range(4)]
            for i in range(4)
        ]

    def inertia(self, state: MachineState) -> Vec:
        """GᵀM_cG (12, 12), ẏ = G V: ends move by ẋ − r̃ω, directions by −d̃ω."""
        M, turns = self._matrix(), [-skew(arm) for arm in self._arms(state)]
        none, one = 0.0 * identity(3), identity(3)
        maps = [(one if i % 2 == 0 else none, turns[i]) for i in range(4)]
        found: list[list[Scalar]] = [[0.0] * 12 for _ in range(12)]
        for i, j in product(range(4), repeat=2):
            for p, q in product(range(2), repeat=2):
                block = M[i][j] * (maps[i][p].T @ maps[j][q])
                for r, c in product(range(3), repeat=2):
                    row, column = 6 * (i // 2) + 3 * p + r, 6 * (j // 2) + 3 * q + c
                    found[row][column] = found[row][column] + block[r][c]
        return Vec([Vec(row) for row in found])

    def inertia_bias(self, state: MachineState) -> Vec:
        """GᵀM_c ÿ₀, ÿ₀ = ω × (ω × arm) of each: Newton's law of constant masses, projected."""
        M, arms = Vec([Vec(row) for row in self._matrix()]), self._arms(state)
        turns = [state.twist(body).angular for body in (self.body_a, self.body_a, self.body_b, self.body_b)]
        forces = M @ Vec([cross(w, cross(w, arm)) for w, arm in zip(turns, arms, strict=True)])
        couples = [cross(arm, f) for arm, f in zip(arms, forces, strict=True)]
        return Vec((*forces[0], *(couples[0] + couples[1]), *forces[2], *(couples[2] + couples[3])))

    @property
    def is_internal(self) -> bool:
        """Between two bodies it is, not to the world."""
        return is_between_bodies(self.body_a, self.body_b)

    def summary(self) -> str:
        """Its ends and its mass."""
        return f"inertia of a beam element, {self.body_a} – {self.body_b}, {short(self.mass)} kg"

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Its frames."""
        return reflected_ends(self, mirror)
