"""Methods of integration: what one is, what it sees of a machine, and rules for plain vectors.

A method is a pure function step(machine, t, q, v, h) -> Step on generic scalars. A rule for vectors,
step(rhs, t, x, h) -> VectorStep, sees a right-hand side only; `chart.py` makes a method of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from polhode.linalg.sparse_loops import StiffMatrices
from polhode.scalar import Loops, Scalar, Vec

Rhs = Callable[[Scalar, Vec], Vec]
"""ẋ = rhs(t, x)"""


class VectorStep(NamedTuple):
    """The vector after a step, and the rule's estimates of its error."""

    x: Vec
    errors: tuple[Vec, ...] = ()


Rule = Callable[[Rhs, Scalar, Vec, Scalar], VectorStep]
Project = Callable[[Vec], Vec]
"""A projection of a state onto where it belongs (the unit sphere, a constraint)."""


def fixed_step(rule: Rule, rhs: Rhs, x: Vec, h: float, steps: int, project: Project | None = None) -> list[Vec]:
    """The states at t = 0, h, 2h, …, `steps` h, projected after each step if `project` is given."""
    states = [x]
    for k in range(steps):
        x = rule(rhs, k * h, x, h).x
        if project:
            x = project(x)
        states.append(x)
    return states


class StepConstraints(NamedTuple):
    """What methods see of the constraints of a machine, where multipliers are unknowns of the step."""

    positions: int
    """Rows of positions, the first ones"""
    residuals: Callable[[Scalar, Vec, Vec], tuple[Vec, Vec]]
    """φ of positions and r of all rates, of (t, q, v)"""
    required_force: Callable[[Scalar, Vec, Vec, Vec], Vec]
    """M v̇ + bias − τ of (t, q, v, v̇): the force that constraints have to make"""
    rows: Callable[[Scalar, Vec], Vec]
    """A of (t, q), by rows"""
    force: Callable[[Scalar, Vec, Vec], Vec]
    """Aᵀλ of (t, q, λ)"""
    dependent: Callable[[Scalar, Vec, Vec], Vec]
    """1 for each row that others imply, of (t, q, v)"""
    velocity: Callable[[Scalar, Vec, Vec], Vec]
    """v + M⁻¹Aᵀμ of (t, q, v) with r = 0: the nearest velocity that the constraints allow"""


class Machine(NamedTuple):
    """What methods see of a machine: functions on generic scalars; p = M v is the momentum dual to v."""

    nq: int
    nv: int
    rotations: tuple[tuple[int, int, int], ...]
    """Where v holds the body-axis angular velocity of a quaternion; all other velocities are rates of coordinates."""
    acceleration: Callable[[Scalar, Vec, Vec], Vec]
    """v̇ of (t, q, v)"""
    damped_acceleration: Callable[[Scalar, Vec, Vec, Scalar], Vec]
    """a of (t, q, v, h) with joints damped by the velocities v + h a"""
    rate: Callable[[Vec, Vec], Vec]
    """q̇ of (q, v)"""
    retract: Callable[[Vec, Vec], Vec]
    """q ⊕ d"""
    normalized: Callable[[Vec], Vec]
    """q with its quaternions at unit length"""
    momentum: Callable[[Vec, Vec], Vec]
    """p = M v of (q, v)"""
    velocity: Callable[[Vec, Vec], Vec]
    """v = M⁻¹p of (q, p)"""
    gradient: Callable[[Vec, Vec], Vec]
    """X L of (q, v), L = T − V: derivatives along the unit velocities, the components of v held fixed"""
    energy: Callable[[Vec, Vec], Scalar]
    """T + V of (q, v)"""
    forces: Callable[[Scalar, Vec, Vec], Vec]
    """Generalised forces of (t, q, v) that V does not hold"""
    tangent: Callable[[Scalar, Vec, Vec, list[Vec]], list[Vec]] | None = None
    """Of small changes of the state (t, q, v) the parts along constraints, where a projection removes the others"""
    is_large: bool = False
    """Whether the stages of a step are compiled as a loop"""
    written_out: bool = False
    """Whether steps that go in loops are written out where they can be: derivatives go back through them"""
    constraints: StepConstraints | None = None
    """The constraints, for methods whose steps meet them themselves"""
    integrands: Callable[[Scalar, Vec, Vec, Vec], Vec] | None = None
    """Functions of (t, q, v, v̇) that are integrated along steps"""
    integrals: int = 0
    """How many of them there are"""
    stored: Callable[[Vec], Vec] | None = None
    """What they grow by besides, by its change along a step: functions of q"""
    stiff_matrices: Callable[[Loops, Scalar, Vec, Vec, Vec], StiffMatrices] | None = None
    """The matrices of the machine at (t, q, v), and at other coordinates near q, of which elements have their stresses,
    for iterations of implicit methods; None: unit masses"""
    carried: tuple[tuple[int, ...], ...] = ()
    """Where v holds the velocities of bodies, along three fixed axes, or two, whose stiff forces turn with them"""
    turning: Callable[[Vec, Vec], Vec] | None = None
    """The angular velocities of these bodies along the same axes, three numbers each, one across two, of (q, v)"""
    tolerance: Scalar | None = None
    """What a step may err by, relative and absolute; None: as little as can be"""
    error_lengths: tuple[tuple[int, int, Scalar], ...] = ()
    """Ways whose errors count in parts of a length, and not of 1 + |q|: places in q and in v, and the length"""


class MotionState(NamedTuple):
    """Coordinates and velocities."""

    q: Vec
    v: Vec


class Step(NamedTuple):
    """The state after a step.

    errors  estimates of the error of (q, v), nq + nv numbers each: one for most pairs, two for dop853
    memory  what the next step is to be given, for the methods that carry something on
    integrals  of the machine's integrands over the step; see `integrals.advanced`
    growth  the largest factor by which the next step may differ in size for the sake of an iteration; None: any
    """

    q: Vec
    v: Vec
    errors: tuple[Vec, ...] = ()
    memory: Vec | None = None
    integrals: Vec = Vec()
    growth: Scalar | None = None


class Interpolant(NamedTuple):
    """The motion within a step: Σ coefficients[k] θᵏ, 0 ≤ θ ≤ 1, in some chart, and the state it stands for."""

    coefficients: tuple[Vec, ...]
    state: Callable[[Vec], MotionState]

    def at(self, theta: Scalar) -> MotionState:
        """The state at t + θ h."""
        x = self.coefficients[-1]
        for row in reversed(self.coefficients[:-1]):
            x = row + theta * x
        return self.state(x)


class WithinStep(NamedTuple):
    """The polynomial of a step by its factors F; how far (q, v) are from one of lower order at some instants.

    x(θ) = x + θ (F₀ + (1−θ)(F₁ + θ (F₂ + (1−θ)(F₃ + …))))                Hairer, Nørsett, Wanner (1993) §II.6
    """

    factors: tuple[Vec, ...]
    differences: tuple[Vec, ...]


class StepExtension(Protocol):
    """The motion within a step with the error of the step itself, O(h^(order+1)), for samples; see `extension.py`."""

    @property
    def count(self) -> int:
        """Factors of the polynomial."""

    def size(self, machine: Machine, q: Vec, v: Vec) -> int:
        """Numbers of each factor."""

    def within(self, machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> WithinStep:
        """The polynomial of the step from a state: its stages are found again."""

    def state(self, machine: Machine, q: Vec, v: Vec, factors: tuple[Vec, ...], theta: Scalar) -> MotionState:
        """The state at the part θ of a step that began at a state."""


Advance = Callable[..., Step]
"""step(machine, t, q, v, h), and memory last for the methods that carry one on"""

Start = Callable[[Machine, Scalar, Vec, Vec, Scalar], Vec]
"""The memory that the first step of (machine, t, q, v, h) is given"""

Dense = Callable[..., Interpolant]
"""dense(machine, t, q, v, h) with the arguments of the step: stages are found again"""


@dataclass(frozen=True)
class Method:
    """A named method: its step, its order, and the motion within a step, to the same order."""

    name: str
    family: str
    order: int
    step: Advance
    dense: Dense
    source: str
    error_order: int | None = None
    """Order of the embedded rule that the error is estimated with; None: no estimate, fixed steps."""
    start: Start | None = None
    """The memory of the first step, for methods whose steps hand one to the next."""
    recalls: Callable[[Machine], int] | None = None
    """How many numbers a controlled step hands to the next, for its guess; zeros at first. Results do not depend on
    them but for what the iteration leaves."""
    extension: StepExtension | None = None
    """The motion within a step as exact as the step, where the method has one."""
    on_group: bool = False
    """Whether quaternions are turned, never added, so that the method itself keeps their length."""
    meets_constraints: bool = False
    """Whether multipliers of constraints are unknowns of its step; else it sees them through v̇ alone."""
    damps: bool = False
    """Whether it damps oscillations that are faster than its steps, though they last."""

    damps_ahead: bool = False
    """Whether it takes the damping of joints by the velocities after its steps."""

    with_routine: "Callable[[Method, Machine], Method] | None" = None
    """The same with the step of a machine as one routine, which all parts of compiled code share; of steps in loops."""

    @property
    def in_loops(self) -> bool:
        """Whether its step goes in loops."""
        return self.with_routine is not None

    @property
    def adaptive(self) -> bool:
        """Whether its step can be controlled by its own error."""
        return self.error_order is not None

    def __str__(self) -> str:
        pair = f", error estimate of order {self.error_order}" if self.adaptive else ""
        return f"{self.name}: {self.family}, order {self.order}{pair}. {self.source}"
