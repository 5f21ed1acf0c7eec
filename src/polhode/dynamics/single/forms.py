"""Every published form of the rotational equations of one body, as a table.

A form is four choices: gyroscopic term × load variant × solution × constraint gradient. All
forms give one acceleration; they differ in the multiplier λ, in cost, and off the unit sphere.
The multiplier stands on the left, "… + g p λ = Q_p", with the gradient g p of the constraint.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from polhode import euler
from polhode.dynamics import fundamental
from polhode.dynamics.single.angles import angle_accelerations, angle_state_rates, state_rates
from polhode.dynamics.single.loads import Loads, body_torque, generalized_force, radial_part
from polhode.dynamics.single.terms import (
    augmented_inverse,
    augmented_matrix,
    gyroscopic_23,
    gyroscopic_29,
    gyroscopic_schwab,
    gyroscopic_udwadia,
    mass_matrix_udwadia,
    mass_matrix_udwadia_inverse,
)
from polhode.errors import InputError, UnknownNameError, did_you_mean, message, warn_caller
from polhode.linalg.elimination import solve_by_rows
from polhode.quaternion import L, angular_velocity, second_rate
from polhode.scalar import Scalar, Vec, cross, dot, inverse3, square


class Answer(NamedTuple):
    """What a solution gives: p̈, the multiplier if it has one, and the form's own acceleration."""

    pddot: Vec
    multiplier: Scalar | None = None
    own: Vec | None = None


class Problem(NamedTuple):
    """One body at one instant, on generic scalars."""

    p: Vec
    pdot: Vec
    J: Vec
    loads: Loads
    J0: Scalar
    sequence: str


@dataclass(frozen=True)
class Form:
    """One published form of the rotational equations of motion."""

    name: str
    """"<paper>-<number>", with a suffix for variants, as in "sherif-29+q2"."""
    citation: str
    """Paper and equation numbers."""
    gyroscopic: str
    """The velocity terms: a key of `GYROSCOPIC`, or "none" for forms with three equations."""
    load: str
    """How a force becomes a generalised force: a key of `loads.OF_FORCE`, or "torque"."""
    solution: str
    """How the acceleration is found: a key of `SOLUTIONS`."""
    gradient: float = 1.0
    """1 for the constraint gradient p, 2 for 2p (which halves the multiplier)."""

    @property
    def way(self) -> str:
        """`solution`, by the name it had before."""
        warn_caller("form.way is now form.solution", DeprecationWarning)
        return self.solution

    @property
    def has_multiplier(self) -> bool:
        """Whether the form contains a multiplier at all."""
        return self.solution not in ("three equations", "explicit", "state", "angles", "angle state")

    @property
    def multiplier_text(self) -> str:
        """The predicted multiplier in words."""
        if not self.has_multiplier:
            return "–"
        parts = ["4T"] if self.gyroscopic != "23" else []
        parts += {"gh": ["2f·Au"], "q2-reduced": ["2f·Au"], "q2": ["2f·(A+I)u"]}.get(self.load, [])
        text = " + ".join(parts) or "0"
        if self.gradient == 1 or text == "0":
            return text
        return "2T" if text == "4T" else f"({text})/2"

    def __str__(self) -> str:
        return f"{self.name}: {self.citation}; {self.solution}; multiplier {self.multiplier_text}"

    def on_scalars(self, problem: Problem) -> Answer:
        """The acceleration of a problem by this form, on any scalars."""
        return SOLUTIONS[self.solution](self, problem)

    def predicted(self, problem: Problem) -> Scalar | None:
        """The multiplier that theory gives, for p·ṗ = 0.

        λ = (gyroscopic part + p·Q_p)/(g ‖p‖²);  gyroscopic part 0 or 2 ω·J ω = 4T
        """
        if not self.has_multiplier:
            return None
        p, pdot, J = problem.p, problem.pdot, problem.J
        omega = angular_velocity(p, pdot)
        total = 2 * dot(omega, J @ omega) if self.gyroscopic != "23" else 0.0
        if self.load != "torque":
            total = total + radial_part(p, problem.loads, self.load)
        size = 1.0 if self.solution in ("unit inverse", "sherif explicit") else square(p)
        return total / (self.gradient * size)


# the velocity terms, on the left-hand side
GYROSCOPIC: dict[str, Callable[[Problem], Vec]] = {
    "23": lambda x: gyroscopic_23(x.p, x.pdot, x.J),
    "29": lambda x: gyroscopic_29(x.p, x.pdot, x.J),
    "schwab": lambda x: gyroscopic_schwab(x.p, x.pdot, x.J),
    "udwadia": lambda x: gyroscopic_udwadia(x.p, x.pdot, x.J, x.J0),
}


def _load(form: Form, x: Problem) -> Vec:
    """Q_p of everything that acts; forms for a torque take only the part orthogonal to p."""
    if form.load == "torque":
        return 2 * (L(x.p).T @ body_torque(x.p, x.loads))
    return generalized_force(x.p, x.loads, form.load)


def _right_side(form: Form, x: Problem) -> Vec:
    """Q_p minus the velocity terms, and the right-hand side −g ṗ·ṗ of the constraint."""
    rest = _load(form, x) - GYROSCOPIC[form.gyroscopic](x)
    return Vec((*rest, -form.gradient * square(x.pdot)))


def _augmented(form: Form, x: Problem) -> Answer:
    """Solve [4LᵀJL, g p; g pᵀ, 0][p̈; λ] = [Q_p − …; −g ṗ·ṗ].        Sherif (34), (39), (83); Schwab (23)"""
    solution = solve_by_rows(augmented_matrix(x.p, x.J, form.gradient), _right_side(form, x))
    return Answer(Vec(solution[:4]), solution[4])


def _inverse(form: Form, x: Problem) -> Answer:
    """Multiply by the closed inverse, right for any ‖p‖.                        Sherif (35)"""
    solution = augmented_inverse(x.p, x.J) @ _right_side(form, x)
    return Answer(Vec(solution[:4]), solution[4])


def _unit_inverse(form: Form, x: Problem) -> Answer:
    """Multiply by the closed inverse of a unit p, written out.         Sherif (36), (40), (84)"""
    *rest, last = _right_side(form, x)
    right = Vec(rest)
    side = L(x.p).T @ (inverse3(x.J) @ (L(x.p) @ right))
    return Answer(side / 4 + last * x.p, dot(x.p, right))


def _sherif_explicit(form: Form, x: Problem) -> Answer:
    """p̈ = −2 Lᵀ J⁻¹ L L̇ᵀ J L ṗ + ½ Lᵀ J⁻¹ n − p (ṗ·ṗ), with the λ of (37).      Sherif (38)"""
    p, pdot, J = x.p, x.pdot, x.J
    torque = body_torque(p, x.loads) / 2 - 2 * (L(p) @ (L(pdot).T @ (J @ (L(p) @ pdot))))
    pddot = L(p).T @ (inverse3(J) @ torque) - square(pdot) * p
    return Answer(pddot, dot(p, Vec(_right_side(form, x)[:4])))


def _three_equations(form: Form, x: Problem) -> Answer:
    """Solve 4 J L p̈ + 8 L L̇ᵀ J L ṗ = 2 n together with p·p̈ = −ṗ·ṗ.         Sherif (25), (31), (33)"""
    p, pdot, J = x.p, x.pdot, x.J
    matrix = Vec((*(4 * (J @ L(p))), p))
    right = 2 * body_torque(p, x.loads) - 8 * (L(p) @ (L(pdot).T @ (J @ (L(p) @ pdot))))
    return Answer(solve_by_rows(matrix, Vec((*right, -square(pdot)))))


def _explicit(form: Form, x: Problem) -> Answer:
    """p̈ = −½ Lᵀ J⁻¹ ω̃ J ω − N(ṗ) p + ½ Lᵀ J⁻¹ n.                               Udwadia (29), (42)"""
    omega = angular_velocity(x.p, x.pdot)
    torque = body_torque(x.p, x.loads) - cross(omega, x.J @ omega)
    return Answer(L(x.p).T @ (inverse3(x.J) @ torque) / 2 - square(x.pdot) * x.p)


def _fundamental(form: Form, x: Problem) -> Answer:
    """Solve M_u p̈ = Q with p·p̈ = −N(ṗ) by the fundamental equation.       Udwadia (12), (45)"""
    *rest, b = _right_side(form, x)
    answer = fundamental.constrained(mass_matrix_udwadia(x.p, x.J, x.J0), Vec(rest), Vec((x.p,)), Vec((b,)))
    return Answer(answer.acceleration, -dot(x.p, answer.force) / square(x.p))


def _udwadia_right_side(form: Form, x: Problem) -> Vec:
    """(I − p pᵀ) Γ_u − 2 (ω·J ω) p minus the velocity terms.                   Udwadia (19), (20), (40)"""
    p = x.p
    omega = angular_velocity(p, x.pdot)
    load = _load(form, x)
    if form.load != "torque":
        load = load - dot(p, load) * p
    return load - 2 * dot(omega, x.J @ omega) * p - GYROSCOPIC["udwadia"](x)


def _multiplier_of(form: Form, x: Problem, pddot: Vec) -> Scalar:
    """λ from what an acceleration leaves over along p in M_u p̈ + … + p λ = Q_p."""
    rest = _load(form, x) - GYROSCOPIC["udwadia"](x) - mass_matrix_udwadia(x.p, x.J, x.J0) @ pddot
    return dot(x.p, rest) / square(x.p)


def _projected(form: Form, x: Problem) -> Answer:
    """Solve M_u p̈ = the projected right side.                                 Udwadia (19), (20), (40)"""
    pddot = solve_by_rows(mass_matrix_udwadia(x.p, x.J, x.J0), _udwadia_right_side(form, x))
    return Answer(pddot, _multiplier_of(form, x, pddot))


def _projected_inverse(form: Form, x: Problem) -> Answer:
    """Multiply the projected right side by ¼ Eᵀ J4⁻¹ E.                                Udwadia (22)"""
    pddot = mass_matrix_udwadia_inverse(x.p, x.J, x.J0) @ _udwadia_right_side(form, x) / 4
    return Answer(pddot, _multiplier_of(form, x, pddot))


def _state(form: Form, x: Problem) -> Answer:
    """Newton–Euler with ṗ = ½ Q (0, ω).                                 Schwab-Meijaard (45), (46)"""
    omega = angular_velocity(x.p, x.pdot)
    alpha = state_rates(x.p, omega, x.J, body_torque(x.p, x.loads)).alpha
    return Answer(second_rate(x.p, omega, alpha), own=alpha)


def _angles(form: Form, x: Problem) -> Answer:
    """Lagrange's equations in Euler angles u.                            Schwab-Meijaard (18), (19)"""
    omega = angular_velocity(x.p, x.pdot)
    u = euler.from_quaternion(x.sequence, x.p)
    udot = euler.rates(x.sequence, u, omega)
    uddot = angle_accelerations(x.sequence, u, udot, x.J, body_torque(x.p, x.loads))
    alpha = euler.angular_acceleration(x.sequence, u, udot, uddot)
    return Answer(second_rate(x.p, omega, alpha), own=uddot)


def _angle_state(form: Form, x: Problem) -> Answer:
    """Newton–Euler with u̇ = B⁻¹ ω, Euler angles u.                      Schwab-Meijaard (20), (21)"""
    u = euler.from_quaternion(x.sequence, x.p)
    omega = angular_velocity(x.p, x.pdot)
    udot, alpha = angle_state_rates(x.sequence, u, omega, x.J, body_torque(x.p, x.loads))
    return Answer(second_rate(x.p, euler.angular_velocity(x.sequence, u, udot), alpha), own=alpha)


SOLUTIONS: dict[str, Callable[[Form, Problem], Answer]] = {
    "augmented": _augmented,
    "inverse": _inverse,
    "unit inverse": _unit_inverse,
    "sherif explicit": _sherif_explicit,
    "three equations": _three_equations,
    "explicit": _explicit,
    "fundamental": _fundamental,
    "projected": _projected,
    "projected inverse": _projected_inverse,
    "state": _state,
    "angles": _angles,
    "angle state": _angle_state,
}

TABLE = [
    # name, citation, gyroscopic, load, solution
    Form("sherif-23", "Sherif (23), (24)", "23", "q1", "augmented"),
    Form("sherif-23+gh", "Sherif (82)", "23", "gh", "augmented"),
    Form("sherif-23+q2", "Sherif (62), text at (84)", "23", "q2", "augmented"),
    Form("sherif-23+q2-reduced", "Sherif (69), (70)", "23", "q2-reduced", "augmented"),
    Form("sherif-25", "Sherif (25), (31), (33)", "none", "torque", "three equations"),
    Form("sherif-29", "Sherif (29), (30)", "29", "q1", "augmented"),
    Form("sherif-29+q1", "Sherif (29), (60)", "29", "b1", "augmented"),
    Form("sherif-29+gh", "Sherif (29), (82)", "29", "gh", "augmented"),
    Form("sherif-29+q2", "Sherif (29), (62)", "29", "q2", "augmented"),
    Form("sherif-29+q2-reduced", "Sherif (29), (69), (70)", "29", "q2-reduced", "augmented"),
    Form("sherif-29+2p", "Sherif (29), gradient 2p", "29", "q1", "augmented", 2.0),
    Form("sherif-34", "Sherif (34)", "23", "q1", "augmented"),
    Form("sherif-35", "Sherif (34), (35)", "23", "q1", "inverse"),
    Form("sherif-36", "Sherif (36)", "23", "q1", "unit inverse"),
    Form("sherif-37", "Sherif (36), (37)", "23", "q1", "unit inverse"),
    Form("sherif-38", "Sherif (37), (38)", "23", "q1", "sherif explicit"),
    Form("sherif-39", "Sherif (39)", "29", "q1", "augmented"),
    Form("sherif-40", "Sherif (35), (40)", "29", "q1", "unit inverse"),
    Form("sherif-79", "Sherif (79)", "23", "b1", "augmented"),
    Form("sherif-82", "Sherif (82)", "23", "gh", "augmented"),
    Form("sherif-83", "Sherif (83)", "23", "gh", "augmented"),
    Form("sherif-84", "Sherif (35), (84)", "23", "gh", "unit inverse"),
    Form("udwadia-12", "Udwadia (10)–(12)", "udwadia", "q1", "fundamental"),
    Form("udwadia-19", "Udwadia (19)", "udwadia", "q1", "projected"),
    Form("udwadia-20", "Udwadia (20)", "udwadia", "q1", "projected"),
    Form("udwadia-22", "Udwadia (22)", "udwadia", "q1", "projected inverse"),
    Form("udwadia-29", "Udwadia (29)", "none", "torque", "explicit"),
    Form("udwadia-40", "Udwadia (40)", "udwadia", "torque", "projected"),
    Form("udwadia-42", "Udwadia (42)", "none", "torque", "explicit"),
    Form("udwadia-45", "Udwadia (43)–(45)", "udwadia", "torque", "fundamental"),
    Form("schwab-meijaard-19", "Schwab-Meijaard (18), (19)", "none", "torque", "angles"),
    Form("schwab-meijaard-20", "Schwab-Meijaard (20), (21)", "none", "torque", "angle state"),
    Form("schwab-meijaard-42", "Schwab-Meijaard (42), (43)", "schwab", "q1", "augmented", 2.0),
    Form("schwab-meijaard-45", "Schwab-Meijaard (45), (46)", "none", "torque", "state"),
    Form("schwab-23", "Schwab (23), (24)", "schwab", "q1", "augmented", 2.0),
]


class Forms(Mapping[str, Form]):
    """The forms by name; an unknown name is answered with the nearest known ones."""

    def __init__(self, table: list[Form]) -> None:
        self._forms = {form.name: form for form in table}

    def __getitem__(self, name: str) -> Form:
        if isinstance(name, str) and name in self._forms:
            return self._forms[name]
        if isinstance(name, str) and name == "sherif-32":
            fix = "Use sherif-23 (with its multiplier) or sherif-25 (with the constraint (33))."
            what = "form sherif-32 alone has no unique acceleration"
            raise InputError(message("forms", what, "a matrix of rank 3", "rank 4", fix))
        fix = did_you_mean(name, self._forms, "list(ph.forms) gives all names.", most=3)
        expected = f"one of {len(self._forms)} names such as 'sherif-29', 'udwadia-45', 'schwab-meijaard-42'"
        raise UnknownNameError(message("forms", "unknown form", repr(name), expected, fix))

    def __iter__(self) -> Iterator[str]:
        return iter(self._forms)

    def __len__(self) -> int:
        return len(self._forms)

    def __repr__(self) -> str:
        return f"<{len(self)} forms: {', '.join(self)}>"


forms = Forms(TABLE)
"""Every published form, by name."""
