"""Integrals of functions of the state along the steps of a method, as exact as the motion is."""

from polhode.integrate.chart import interpolated
from polhode.integrate.method import Interpolant, Machine, Method, MotionState, Step, WithinStep
from polhode.scalar import Scalar, Vec

FAMILIES = ("explicit", "Lie group")
"""Families whose methods take the integrals as further velocities: their stages are the quadrature."""

NODES = ((0.5 - 15**0.5 / 10, 5 / 18), (0.5, 4 / 9), (0.5 + 15**0.5 / 10, 5 / 18))
"""Gauss's quadrature with three nodes, of order 6: instants of a step, and weights."""


def advanced(method: Method, machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar, *memory: Vec) -> Step:
    """A step of a method, with the integrals of the machine's `integrands` over it.

    Explicit methods integrate them with the motion; for the others, whose equations they would enlarge, they are a
    quadrature over the motion within the step.
    """
    if machine.integrands is None:
        return method.step(machine, t, q, v, h, *memory)
    if method.family in FAMILIES and not memory:
        n = machine.nv
        end = method.step(with_integrals(machine), t, q, Vec((*v, *[0.0] * machine.integrals)), h)
        errors = tuple(Vec(error[: machine.nq + n]) for error in end.errors)
        end = Step(end.q, Vec(end.v[:n]), errors, end.memory, Vec(end.v[n:]))
    else:
        end = method.step(machine, t, q, v, h, *memory)
        if not method.in_loops:  # of those the stages are the quadrature
            motion = interpolated(machine, t, q, v, h, end, method.order)
            end = end._replace(integrals=_quadrature(machine, motion, t, h))
    return end._replace(integrals=_with_stored(machine, end.integrals, q, end.q))


def _with_stored(machine: Machine, integrals: Vec, q: Vec, end: Vec) -> Vec:
    """Integrals from one position to another, with what they grow by besides."""
    return integrals if machine.stored is None else integrals + machine.stored(end) - machine.stored(q)


def dense_with_integrals(
    method: Method, machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar, theta: Scalar, *memory: Vec
) -> tuple[MotionState, Vec]:
    """The state within a step, at its part θ, and the integrals up to there."""
    if method.in_loops:  # a polynomial through rates at both ends would magnify what is stiff
        end = method.step(machine, t, q, v, theta * h, *memory)
        return MotionState(end.q, end.v), _with_stored(machine, end.integrals, q, end.q)
    if machine.integrands is None:
        return method.dense(machine, t, q, v, h, *memory).at(theta), Vec()
    if method.family in FAMILIES and not memory:
        n = machine.nv
        found = method.dense(with_integrals(machine), t, q, Vec((*v, *[0.0] * machine.integrals)), h).at(theta)
        return MotionState(found.q, Vec(found.v[:n])), _with_stored(machine, Vec(found.v[n:]), q, found.q)
    motion = method.dense(machine, t, q, v, h, *memory)
    state = motion.at(theta)
    return state, _with_stored(machine, _quadrature(machine, motion, t, h, theta), q, state.q)


def motion_within(method: Method, machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> WithinStep:
    """The polynomial of a step with the integrals as further velocities, and its differences of (q, v)."""
    assert method.extension
    found = method.extension.within(*_further(machine, t, q, v), h)
    differences = tuple(Vec(x[: machine.nq + machine.nv]) for x in found.differences)
    return WithinStep(found.factors, differences)


def factor_size(method: Method, machine: Machine, q: Vec, v: Vec) -> int:
    """Numbers of each factor of the polynomial of a step, with those of the integrals."""
    assert method.extension
    whole, _, q, v = _further(machine, 0.0, q, v)
    return method.extension.size(whole, q, v)


def state_within(
    method: Method, machine: Machine, q: Vec, v: Vec, factors: tuple[Vec, ...], theta: Scalar
) -> tuple[MotionState, Vec]:
    """The state at the part θ of a step whose polynomial is known, and the integrals up to there."""
    assert method.extension
    whole, _, q, v = _further(machine, 0.0, q, v)
    found = method.extension.state(whole, q, v, factors, theta)
    integrals = _with_stored(machine, Vec(found.v[machine.nv :]), q, found.q)
    return MotionState(found.q, Vec(found.v[: machine.nv])), integrals


def _further(machine: Machine, t: Scalar, q: Vec, v: Vec) -> tuple[Machine, Scalar, Vec, Vec]:
    """Machine and state with the integrals as further velocities, where there are any."""
    if machine.integrands is None:
        return machine, t, q, v
    return with_integrals(machine), t, q, Vec((*v, *[0.0] * machine.integrals))


def _quadrature(machine: Machine, motion: Interpolant, t: Scalar, h: Scalar, part: Scalar = 1.0) -> Vec:
    """∫ integrands dt over the first part of a step."""
    assert machine.integrands
    total: Vec | None = None
    for node, weight in NODES:
        at, time = motion.at(part * node), t + part * node * h
        found = machine.integrands(time, *at, machine.acceleration(time, *at))
        total = weight * found if total is None else total + weight * found
    assert total is not None
    return part * h * total


def with_integrals(machine: Machine) -> Machine:
    """The machine with further velocities, whose rates are its integrands; nothing moves with them."""
    n, integrands = machine.nv, machine.integrands
    assert integrands

    def acceleration(t: Scalar, q: Vec, v: Vec) -> Vec:
        v = Vec(v[:n])
        vd = machine.acceleration(t, q, v)
        return Vec((*vd, *integrands(t, q, v, vd)))

    def damped(t: Scalar, q: Vec, v: Vec, h: Scalar) -> Vec:
        a = machine.damped_acceleration(t, q, Vec(v[:n]), h)
        return Vec((*a, *integrands(t, q, Vec(v[:n]) + h * a, a)))

    return machine._replace(
        nv=n + machine.integrals,
        acceleration=acceleration,
        damped_acceleration=damped,
        rate=lambda q, v: machine.rate(q, Vec(v[:n])),
        retract=lambda q, d: machine.retract(q, Vec(d[:n])),
        integrands=None,
        stored=None,
    )
