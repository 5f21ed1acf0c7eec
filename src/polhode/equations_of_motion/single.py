"""One body on a spherical or free joint by any form of `ph.forms`: its equations and its multiplier, written out.

Rotation about the point that a spherical joint holds, or about the mass centre of a free body; p is the
quaternion, ṗ its rate, τ a couple in body axes. The multiplier stands on the left, "… + g p λ = Q_p".
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import sympy

from polhode import euler
from polhode.dynamics.single import Form, Loads, Problem, forms
from polhode.dynamics.single.forms import GYROSCOPIC
from polhode.dynamics.single.loads import body_torque, generalized_force
from polhode.dynamics.single.terms import mass_matrix, mass_matrix_udwadia
from polhode.equations_of_motion.derive import Derivation, on_scalars
from polhode.equations_of_motion.polynomial import polynomials
from polhode.equations_of_motion.writing import Writer
from polhode.errors import InputError, message
from polhode.kernel import trace
from polhode.model import WORLD, Model, make_tree
from polhode.quaternion import L, rate
from polhode.scalar import Scalar, Vec, cross, identity, trace as sum_of_diagonal

SEQUENCE = "313"
"""The Euler angles of forms in angles."""


class FormEquations(NamedTuple):
    """A form written out: mass · unknown + velocity terms + gradient λ = load.

    unknown     p̈, or what the form solves for: ω̇, or the second rates of Euler angles
    gradient    of the constraint, None for a form without a multiplier
    multiplier  λ along a motion, as theory gives it, in terms of p and ω
    statement   the form in matrices, as LaTeX
    """

    name: str
    citation: str
    statement: str
    unknown: tuple[sympy.Symbol, ...]
    mass: sympy.ImmutableMatrix
    velocity_terms: sympy.ImmutableMatrix
    gradient: sympy.ImmutableMatrix | None
    load: sympy.ImmutableMatrix
    multiplier: sympy.Expr | None
    latex: dict[sympy.Symbol, str]


class _One(NamedTuple):
    """One body on scalars."""

    J: Vec
    loads: Loads
    J0: Scalar


def form_equations(derivation: Derivation, name: str) -> FormEquations:
    """The equations of a model's one body by a form."""
    form, model = forms[name], derivation.model
    _check(model, name)
    return _FormWriter(derivation, form).found()


def _check(model: Model, name: str) -> None:
    moving = [joint for joint in model.joints if joint.nv]
    if len(model.bodies) != 1 or len(moving) != 1 or not moving[0].kind.has_quaternion:
        found = f"{len(model.bodies)} bodies; joints " + ", ".join(joint.type for joint in model.joints)
        expected = "one body on a spherical or free joint to the world"
        fix = "Forms are of one body; leave forms=… out for the equations of a machine."
        raise InputError(message(f"equations, form '{name}'", "no single body", found, expected, fix))
    assert moving[0].parent == WORLD


class _FormWriter:
    """The graph of one form, and its formulas."""

    def __init__(self, derivation: Derivation, form: Form) -> None:
        self.d, self.form = derivation, form
        self.p = derivation.symbols["q"][-4:]
        real = {"real": True}
        self.pdot = [sympy.Symbol(f"edot_{k}", **real) for k in range(4)]
        self.pddot = [sympy.Symbol(f"eddot_{k}", **real) for k in range(4)]
        self.omega, self.couple = derivation.symbols["v"][-3:], [c.symbol for c in derivation.words.tau[-3:]]
        self.u = [sympy.Symbol(f"u_{k + 1}", **real) for k in range(3)]
        self.udot = [sympy.Symbol(f"udot_{k + 1}", **real) for k in range(3)]
        self.uddot = [sympy.Symbol(f"uddot_{k + 1}", **real) for k in range(3)]
        self.J0 = sympy.Symbol("J_0", positive=True)
        latex = dict(derivation.words.latex) | {self.J0: "J_0"}
        for k, (dot, ddot) in enumerate(zip(self.pdot, self.pddot, strict=True)):
            latex |= {dot: rf"\dot{{e}}_{{{k}}}", ddot: rf"\ddot{{e}}_{{{k}}}"}
        for k, (u, dot, ddot) in enumerate(zip(self.u, self.udot, self.uddot, strict=True), 1):
            latex |= {u: f"u_{{{k}}}", dot: rf"\dot{{u}}_{{{k}}}", ddot: rf"\ddot{{u}}_{{{k}}}"}
        self.latex = latex

    def found(self) -> FormEquations:
        """The equations of the form."""
        solution = self.form.solution
        if solution in ("angles", "angle state"):
            return self._of(ANGLES[solution], self._angles if solution == "angles" else self._angle_state)
        if solution == "state":
            return self._of(
                r"J\,\dot\omega + \omega\times J\omega = n,\qquad \dot p = \tfrac12\,p\circ(0,\omega)", self._state
            )
        if not self.form.has_multiplier:
            return self._of(
                r"4JL\,\ddot p + 8L\dot L^{T}JL\,\dot p = 2n,\qquad p\cdot\ddot p = -\dot p\cdot\dot p", self._three
            )
        return self._of(STATEMENTS[self.form.gyroscopic].format(g="" if self.form.gradient == 1 else "2"), self._four)

    def _one(self, letters: Vec, couple: Vec, J0: Scalar) -> _One:
        """The body, from the letters of the model."""
        values = dict(zip(self.d.symbols["letters"], letters, strict=True))
        numbers = {path: on_scalars(x, values) for path, x in self.d.words.numbers.items()}
        model = self.d.model
        tree = make_tree(model, numbers)
        element = next(e for e in tree.elements if e.kind.quaternion)
        m, h, S = element.inertia
        body = model.bodies[0]
        c = Vec([numbers.get(f"bodies.{body.name}.center.{k}", _plain(body.center[k])) for k in range(3)])
        first = next(e for e in tree.elements if e.joint == element.joint)
        force = m * (tree.placed(first_index(tree, first)).R.T @ tree.gravity)
        if first is element:  # about the fixed point
            J = sum_of_diagonal(S) * identity(3) - S
            loads = Loads(torque=couple, force=force, point=c)
        else:  # about the mass centre: gravity has no moment
            own = S - Vec([Vec([h[i] * c[j] for j in range(3)]) for i in range(3)])
            J, loads = sum_of_diagonal(own) * identity(3) - own, Loads(torque=couple)
        return _One(J, loads, J0)

    def _of(self, statement: str, quantity: Callable[..., dict[str, Any]]) -> FormEquations:
        given = {
            "p": self.p, "pdot": self.pdot, "omega": self.omega, "couple": self.couple, "u": self.u, "udot": self.udot,
            "letters": self.d.symbols["letters"], "J0": [self.J0],
        }  # fmt: skip

        def traced(letters: Vec, couple: Vec, J0: Scalar, **state: Vec) -> dict[str, Any]:
            return quantity(self._one(letters, couple, J0), **state)

        shapes: dict[str, tuple[int, ...]] = {name: (len(symbols),) for name, symbols in given.items()} | {"J0": ()}
        graph = trace(traced_with(traced, shapes), **shapes)
        alphabet, outputs = polynomials(graph, given, [self.p])
        rates = {*self.pdot, *self.omega, *self.udot}
        writer = Writer(alphabet, [], rates)
        parts = {
            port.name: sympy.ImmutableMatrix(
                *(port.shape if len(port.shape) == 2 else (len(port.nodes), 1)), [writer.expression(x) for x in own]
            )
            for port, own in zip(graph.outputs, outputs, strict=True)
        }
        unknown = {"angles": self.uddot}.get(
            self.form.solution,
            self.pddot
            if "gradient" in parts or self.form.solution not in ("state", "angle state")
            else [c.symbol for c in self.d.words.vd[-3:]],
        )
        multiplier = parts["multiplier"][0] if "multiplier" in parts else None
        return FormEquations(
            self.form.name, self.form.citation, statement, tuple(unknown), parts["mass"], parts["velocity_terms"],
            parts.get("gradient"), parts["load"], multiplier, self.latex,
        )  # fmt: skip

    def _problem(self, one: _One, p: Vec, pdot: Vec) -> Problem:
        return Problem(p, pdot, one.J, one.loads, one.J0, SEQUENCE)

    def _four(self, one: _One, p: Vec, pdot: Vec, omega: Vec, **_: Vec) -> dict[str, Any]:
        form, x = self.form, self._problem(one, p, pdot)
        mass = mass_matrix_udwadia(p, one.J, one.J0) if form.gyroscopic == "udwadia" else mass_matrix(p, one.J)
        load = (
            2 * (L(p).T @ body_torque(p, one.loads))
            if form.load == "torque"
            else generalized_force(p, one.loads, form.load)
        )
        return {
            "mass": mass,
            "velocity_terms": GYROSCOPIC[form.gyroscopic](x),
            "gradient": form.gradient * p,
            "load": load,
            "multiplier": Vec([form.predicted(self._problem(one, p, rate(p, omega)))]),
        }

    def _three(self, one: _One, p: Vec, pdot: Vec, **_: Vec) -> dict[str, Any]:
        velocity = 8 * (L(p) @ (L(pdot).T @ (one.J @ (L(p) @ pdot))))
        return {"mass": 4 * (one.J @ L(p)), "velocity_terms": velocity, "load": 2 * body_torque(p, one.loads)}

    def _state(self, one: _One, p: Vec, omega: Vec, **_: Vec) -> dict[str, Any]:
        return {"mass": one.J, "velocity_terms": cross(omega, one.J @ omega), "load": body_torque(p, one.loads)}

    def _angles(self, one: _One, u: Vec, udot: Vec, **_: Vec) -> dict[str, Any]:
        B, Bdot = euler.body_rate_matrix(SEQUENCE, u), euler.body_rate_matrix_rate(SEQUENCE, u, udot)
        omega = B @ udot
        velocity = B.T @ (cross(omega, one.J @ omega) + one.J @ (Bdot @ udot))
        return {"mass": B.T @ one.J @ B, "velocity_terms": velocity, "load": B.T @ self._moment(one, u)}

    def _angle_state(self, one: _One, u: Vec, omega: Vec, **_: Vec) -> dict[str, Any]:
        return {"mass": one.J, "velocity_terms": cross(omega, one.J @ omega), "load": self._moment(one, u)}

    def _moment(self, one: _One, u: Vec) -> Vec:
        """The moment of gravity and the couple in body axes, from Euler angles."""
        assert one.loads.torque is not None
        if one.loads.force is None or one.loads.point is None:
            return one.loads.torque
        R = euler.matrix(SEQUENCE, u)
        return one.loads.torque + cross(one.loads.point, R.T @ one.loads.force)


def traced_with(function: Callable[..., Any], shapes: dict[str, tuple[int, ...]]) -> Callable[..., Any]:
    """The function, with arguments that a tracer can see."""

    def traced(p: Vec, pdot: Vec, omega: Vec, couple: Vec, u: Vec, udot: Vec, letters: Vec, J0: Scalar) -> Any:
        return function(letters, couple, J0, p=p, pdot=pdot, omega=omega, u=u, udot=udot)

    assert len(shapes) == 8
    return traced


def first_index(tree: Any, element: Any) -> int:
    """The place of an element in its tree."""
    return next(i for i, e in enumerate(tree.elements) if e is element)


def _plain(x: Any) -> float:
    return float(getattr(x, "value", x))


STATEMENTS = {
    "23": r"4L^{{T}}JL\,\ddot p + 8L^{{T}}L\dot L^{{T}}JL\,\dot p + {g}p\,\lambda = Q_p",
    "29": r"4L^{{T}}JL\,\ddot p + 8\dot L^{{T}}JL\,\dot p + {g}p\,\lambda = Q_p",
    "schwab": r"4L^{{T}}JL\,\ddot p - 8\dot Q\,\mathrm{{diag}}(0,J)\,\dot Q^{{T}}p + {g}p\,\lambda = Q_p",
    "udwadia": r"4E^{{T}}J_4E\,\ddot p + 8\dot E^{{T}}J_4E\,\dot p + 4J_0(\dot p\cdot\dot p)\,p + {g}p\,\lambda = Q_p",
}
ANGLES = {
    "angles": r"B^{T}JB\,\ddot u + B^{T}(\omega\times J\omega + J\dot B\dot u) = B^{T}n,\qquad \omega = B\dot u",
    "angle state": r"J\,\dot\omega + \omega\times J\omega = n,\qquad \dot u = B^{-1}\omega",
}
