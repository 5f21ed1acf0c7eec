"""The motion of one body by any form: which variables a form integrates, and how its norm is kept."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from polhode import euler
from polhode.dynamics.single import Form, Loads, Problem, forms
from polhode.dynamics.single.angles import angle_accelerations, angle_state_rates, state_rates
from polhode.dynamics.single.loads import body_torque
from polhode.dynamics.single.terms import default_J0
from polhode.errors import InputError, IntegrationError, UnknownNameError, message
from polhode.integrate.adaptive import dop853
from polhode.integrate.explicit import rk4
from polhode.integrate.lie import in_chart
from polhode.integrate.method import fixed_step
from polhode.quaternion import (
    angular_velocity,
    exp,
    normalise,
    product,
    project,
    rate,
    rotation_vector_rate,
)
from polhode.scalar import Array, Count, Scalar, Vec, checked, split, square
from polhode.spatial import as_inertia

NORMS = {
    "none": "p is left as the integrator gives it",
    "p": "p ← p/‖p‖ after each step, ṗ left: turns ω into ‖p‖ω at each step of a second-order form",
    "state": "p ← p/‖p‖ and ṗ ← (I − p pᵀ)ṗ/‖p‖ after each step",
    "lie": "p is moved by the exponential of a rotation vector: it never leaves the sphere",
}
"""The norm policies."""


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


class Motion(NamedTuple):
    """t (n,), p (n, 4) with ‖p‖ as computed, ω (n, 3) of the attitude p/‖p‖ in body axes."""

    t: np.ndarray
    p: np.ndarray
    omega: np.ndarray


def variables(form: Form, J: Vec, loads: Loads, J0: Scalar | None = None, sequence: str = "313") -> Variables:
    """The variables that a form integrates: (p, ṗ), (p, ω), (u, u̇) or (u, ω)."""
    J0 = default_J0(J) if J0 is None else J0
    if form.way == "state":
        return _state_variables(J, loads)
    if form.way in ("angles", "angle state"):
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


def _state_variables(J: Vec, loads: Loads) -> Variables:
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

    second = form.way == "angles"

    def start(p: Vec, omega: Vec) -> Vec:
        u = euler.from_quaternion(sequence, p)
        return Vec((*u, *(euler.rates(sequence, u, omega) if second else omega)))

    def end(x: Vec) -> tuple[Vec, Vec]:
        u, last = Vec(x[:3]), Vec(x[3:])
        omega = euler.angular_velocity(sequence, u, last) if second else last
        return euler.to_quaternion(sequence, u), omega

    return Variables(second_order if second else first_order, start, end, {"none": None})


MOST_STEPS = 1e7
"""Steps of the motion of one body by a form: all of them are kept."""


def check_times(duration: float, step: float) -> None:
    """Refuse a duration or a step that is not positive and finite."""
    if not (0 < duration < np.inf and 0 < step < np.inf):
        raise InputError(message("motion", "no time to go through", f"duration {duration}, step {step}", "both > 0"))
    if not duration <= MOST_STEPS * step:
        found = f"{duration:g} s in steps of {step:g} s"
        raise InputError(message("motion", "too many steps", found, f"at most {MOST_STEPS:g} steps"))


def motion(
    form: str | Form,
    body: SingleBody,
    duration: float,
    step: float,
    norm: str = "none",
    J0: float | None = None,
    sequence: str = "313",
) -> Motion:
    """The motion of a body by one form: RK4 with fixed steps, and a norm policy of `NORMS`.

    The last step is at `duration` exactly: the step is shown so that a whole number fits.
    """
    chosen = form if isinstance(form, Form) else forms[form]
    if norm not in NORMS:
        raise UnknownNameError(message("motion", "unknown norm policy", repr(norm), f"one of {', '.join(NORMS)}"))
    check_times(duration, step)
    steps = int(np.ceil(duration / step - 1e-9))
    h = duration / steps
    J, p, omega = split(body.inertia, 2), split(body.p, 1), split(body.omega, 1)
    if chosen.way in ("angles", "angle state"):
        euler.from_quaternion(sequence, body.p)  # raises at gimbal lock
    chart = variables(chosen, J, body.loads, J0, sequence)
    if norm not in chart.norms and not (norm == "lie" and "state" in chart.norms):
        expected = ", ".join(chart.norms)
        raise InputError(message(f"motion by {chosen.name}", "norm policy does not apply", repr(norm), expected))
    try:
        if norm == "lie":
            pairs = _lie_motion(chosen, chart, p, omega, h, steps)
        else:
            states = fixed_step(rk4, chart.rhs, chart.start(p, omega), h, steps, chart.norms[norm])
            pairs = [chart.end(x) for x in states]
    except ArithmeticError:
        pairs = [(Vec([np.nan] * 4), Vec([np.nan] * 3))]
    found = Motion(h * np.arange(len(pairs)), np.array([p for p, _ in pairs]), np.array([w for _, w in pairs]))
    if not np.all(np.isfinite(found.p[-1])):
        raise IntegrationError(
            message(
                f"motion by {chosen.name}",
                f"left the numbers before t = {duration:g} s",
                f"a state that is not finite, with step {h:g} s",
                "finite numbers",
                "Take a smaller step.",
            )
        )
    return found._replace(t=np.linspace(0.0, duration, steps + 1))


def _lie_motion(form: Form, chart: Variables, p: Vec, omega: Vec, h: float, steps: int) -> list[tuple[Vec, Vec]]:
    """RK4 in the chart (r, ω) around the present attitude, p∘exp(r/2); ω̇ from the form's own p̈."""

    def at(x: Vec, y: Vec) -> Vec:
        return product(Vec(x[:4]), exp(Vec(y[:3]) / 2))

    def rhs(t: Scalar, x: Vec, y: Vec) -> Vec:
        p, omega = at(x, y), Vec(y[3:])
        rates = chart.rhs(t, chart.start(p, omega))
        alpha = Vec(rates[4:]) if form.way == "state" else angular_velocity(p, Vec(rates[4:]))  # ω̇ = 2 L p̈
        return Vec((*rotation_vector_rate(Vec(y[:3]), omega), *alpha))

    rule = in_chart(rk4, lambda x: Vec((0.0, 0.0, 0.0, *x[4:])), lambda x, y: Vec((*at(x, y), *y[3:])))
    states = fixed_step(rule, rhs, Vec((*p, *omega)), h, steps)  # type: ignore[arg-type]
    return [(Vec(x[:4]), Vec(x[4:])) for x in states]


def reference(body: SingleBody, times: np.ndarray) -> Motion:
    """The motion to compare with: closed form for a free body, else DOP853 on the state form at 1e-13."""
    if body.free:
        from polhode import exact

        found = exact.free_body(body.inertia, body.omega, times, p=body.p)
        return Motion(times, found.p, found.omega)
    chart = _state_variables(split(body.inertia, 2), body.loads)
    x = dop853(chart.rhs, Vec((*body.p.tolist(), *body.omega.tolist())), times, 1e-13)
    return Motion(times, x[:, :4], x[:, 4:])


def operations(form: Form, body: SingleBody, sequence: str = "313") -> Counter:
    """Operations of one evaluation of p̈, counted by running it; constants of the body are folded."""
    tally: Counter = Counter()

    def count(x: np.ndarray) -> Vec:
        return Vec([Count(value, tally) for value in x.tolist()])

    J = split(body.inertia, 2)
    chart = variables(form, J, body.loads, None, sequence)
    start = np.array(chart.start(split(body.p, 1), split(body.omega, 1)))
    chart.rhs(0.0, count(start))
    return tally
