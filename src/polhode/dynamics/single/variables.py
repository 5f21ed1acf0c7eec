"""One body with its loads, and the variables that a form of its equations integrates."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from polhode import euler
from polhode.dynamics.single.angles import angle_accelerations, angle_state_rates, state_rates
from polhode.dynamics.single.forms import Form, Problem
from polhode.dynamics.single.loads import Loads, body_torque
from polhode.dynamics.single.terms import default_J0
from polhode.errors import InputError, message
from polhode.quaternion import angular_velocity, normalise, project, rate
from polhode.scalar import Array, Scalar, Vec, checked, split, square
from polhode.spatial import as_inertia


@dataclass(frozen=True)
class SingleBody:
    """One body, its start and its loads (constant), checked."""

    inertia: np.ndarray
    p: np.ndarray
    omega: np.ndarray
    loads: Loads = field(default_factory=Loads)

    @classmethod
    def make(cls, inertia: Array, omega: Array, p: Array = (1.0, 0.0, 0.0, 0.0), **loads: Array) -> "SingleBody":
        """Check everything at the border.

        inertia  (3,) or (3, 3)  kg m², body axes
        omega    (3,)            rad/s, body axes
        p        (4,)            attitude
        loads    torque, space_torque, force and point, as in `ph.acceleration`
        """
        arrays = {name: checked(f"body, {name}", x, "vector") for name, x in loads.items() if x is not None}
        for name, array in arrays.items():
            if array.shape != (3,):
                raise InputError(message(f"body, {name}", "wrong shape", str(array.shape), "(3,)"))
        if ("force" in arrays) != ("point" in arrays):
            found = ", ".join(arrays)
            raise InputError(message("body", "a force and its point go together", f"only {found}", "force and point"))
        start = checked("body, p", p, "unit quaternion"), checked("body, omega", omega, "vector")
        return cls(as_inertia("body, inertia", inertia), *start, Loads(**{n: split(a, 1) for n, a in arrays.items()}))

    @property
    def free(self) -> bool:
        """Whether nothing acts."""
        return all(load is None or not any(load) for load in (self.loads.torque, self.loads.space_torque)) and (
            self.loads.force is None
        )


class Variables(NamedTuple):
    """How a form is integrated: ẋ = rhs(t, x), x from (p, ω) and back, and its projections."""

    rhs: Callable[[Scalar, Vec], Vec]
    start: Callable[[Vec, Vec], Vec]
    end: Callable[[Vec], tuple[Vec, Vec]]
    norms: dict[str, Callable[[Vec], Vec] | None]


def variables(form: Form, J: Vec, loads: Loads, J0: Scalar | None = None, sequence: str = "313") -> Variables:
    """The variables that a form integrates: (p, ṗ), (p, ω), (u, u̇) or (u, ω)."""
    J0 = default_J0(J) if J0 is None else J0
    if form.solution == "state":
        return state_variables(J, loads)
    if form.solution in ("angles", "angle state"):
        return _angle_variables(form, J, loads, sequence)

    def rhs(t: Scalar, x: Vec) -> Vec:
        p, pdot = Vec(x[:4]), Vec(x[4:])
        return Vec((*pdot, *form.on_scalars(Problem(p, pdot, J, loads, J0, sequence)).pddot))

    def flat(p: Vec, pdot: Vec) -> Vec:
        return Vec((*p, *pdot))

    return Variables(
        rhs,
        start=lambda p, omega: flat(p, rate(p, omega)),
        end=lambda x: (Vec(x[:4]), angular_velocity(Vec(x[:4]), Vec(x[4:])) / square(Vec(x[:4]))),
        norms={
            "none": None,
            "p": lambda x: flat(normalise(Vec(x[:4])), Vec(x[4:])),
            "state": lambda x: flat(*project(Vec(x[:4]), Vec(x[4:]))),
        },
    )


def state_variables(J: Vec, loads: Loads) -> Variables:
    """(p, ω), by Euler's equations."""

    def rhs(t: Scalar, x: Vec) -> Vec:
        p, omega = Vec(x[:4]), Vec(x[4:])
        rates = state_rates(p, omega, J, body_torque(p, loads))
        return Vec((*rates.pdot, *rates.alpha))

    def projected(x: Vec) -> Vec:
        return Vec((*normalise(Vec(x[:4])), *x[4:]))

    return Variables(
        rhs,
        start=lambda p, omega: Vec((*p, *omega)),
        end=lambda x: (Vec(x[:4]), Vec(x[4:])),
        norms={"none": None, "p": projected, "state": projected},
    )


def _angle_variables(form: Form, J: Vec, loads: Loads, sequence: str) -> Variables:
    def torque(u: Vec) -> Vec:
        return body_torque(euler.to_quaternion(sequence, u), loads)

    def second_order(t: Scalar, x: Vec) -> Vec:
        u, udot = Vec(x[:3]), Vec(x[3:])
        return Vec((*udot, *angle_accelerations(sequence, u, udot, J, torque(u))))

    def first_order(t: Scalar, x: Vec) -> Vec:
        u, omega = Vec(x[:3]), Vec(x[3:])
        rates = angle_state_rates(sequence, u, omega, J, torque(u))
        return Vec((*rates.udot, *rates.alpha))

    second = form.solution == "angles"

    def start(p: Vec, omega: Vec) -> Vec:
        u = euler.from_quaternion(sequence, p)
        return Vec((*u, *(euler.rates(sequence, u, omega) if second else omega)))

    def end(x: Vec) -> tuple[Vec, Vec]:
        u, last = Vec(x[:3]), Vec(x[3:])
        omega = euler.angular_velocity(sequence, u, last) if second else last
        return euler.to_quaternion(sequence, u), omega

    return Variables(second_order if second else first_order, start, end, {"none": None})
