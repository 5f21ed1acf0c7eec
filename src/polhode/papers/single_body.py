"""The motion of one body by any form, with fixed steps and a norm policy; and the motion to compare it with."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from polhode import euler, exact
from polhode.dynamics.single import Form, forms
from polhode.dynamics.single.variables import SingleBody, Variables, state_variables, variables
from polhode.errors import InputError, IntegrationError, UnknownNameError, message
from polhode.integrate.adaptive import dop853
from polhode.integrate.explicit import rk4
from polhode.integrate.lie import in_chart
from polhode.integrate.method import fixed_step
from polhode.quaternion import angular_velocity, exp, product, rotation_vector_rate
from polhode.scalar import Count, Scalar, Vec, split

NORMS = {
    "none": "p is left as the integrator gives it",
    "p": "p ← p/‖p‖ after each step, ṗ left: turns ω into ‖p‖ω at each step of a second-order form",
    "state": "p ← p/‖p‖ and ṗ ← (I − p pᵀ)ṗ/‖p‖ after each step",
    "lie": "p is moved by the exponential of a rotation vector: it never leaves the sphere",
}
"""The norm policies."""


class FormMotion(NamedTuple):
    """t (n,), p (n, 4) with ‖p‖ as computed, ω (n, 3) of the attitude p/‖p‖ in body axes."""

    t: np.ndarray
    p: np.ndarray
    omega: np.ndarray


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
) -> FormMotion:
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
    if chosen.solution in ("angles", "angle state"):
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
    found = FormMotion(h * np.arange(len(pairs)), np.array([p for p, _ in pairs]), np.array([w for _, w in pairs]))
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
        alpha = Vec(rates[4:]) if form.solution == "state" else angular_velocity(p, Vec(rates[4:]))  # ω̇ = 2 L p̈
        return Vec((*rotation_vector_rate(Vec(y[:3]), omega), *alpha))

    rule = in_chart(rk4, lambda x: Vec((0.0, 0.0, 0.0, *x[4:])), lambda x, y: Vec((*at(x, y), *y[3:])))
    states = fixed_step(rule, rhs, Vec((*p, *omega)), h, steps)  # type: ignore[arg-type]
    return [(Vec(x[:4]), Vec(x[4:])) for x in states]


def reference(body: SingleBody, times: np.ndarray) -> FormMotion:
    """The motion to compare with: closed form for a free body, else DOP853 on the state form at 1e-13."""
    if body.free:
        found = exact.free_body(body.inertia, body.omega, times, p=body.p)
        return FormMotion(times, found.p, found.omega)
    chart = state_variables(split(body.inertia, 2), body.loads)
    x = dop853(chart.rhs, Vec((*body.p.tolist(), *body.omega.tolist())), times, 1e-13)
    return FormMotion(times, x[:, :4], x[:, 4:])


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
