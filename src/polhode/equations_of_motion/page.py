"""The page of a model's equations, in an order that can be taught from."""

from collections.abc import Sequence

from polhode import __version__
from polhode.dynamics.single import forms
from polhode.equations_of_motion.blocks import Block, Given, display, say, table, title, words
from polhode.equations_of_motion.mathematics import equation, joined, latex, with_factor
from polhode.equations_of_motion.notation import notation
from polhode.equations_of_motion.program import Program
from polhode.equations_of_motion.record import DerivedEquations
from polhode.equations_of_motion.sections import WrittenSections, index, row
from polhode.equations_of_motion.single import FormEquations

MADE = f"""Derived by Polhode {__version__} from the model, by the same functions that its kernels are compiled from. SI
units, radians, right-handed axes."""

NEWTON_EULER = r"""Body by body, in the axes of each, at its origin: the angular velocity $\omega_i$, the angular
acceleration $\alpha_i$ and the acceleration $a_i$ of the origin, less gravity; then from the last body to the first the
force $f_i$ and the moment $n_i$ that the body and all it carries need, and from these $\tau$, Zoric (104). Components
that are zero, or that have a name already, are left out."""

COMPOSITES = r"""From the last body to the first: mass $m_i$, first moment $h_i$ and second moment
$\Sigma_i = \int \rho\rho^{T}\,dm$ of all that a joint carries, about its origin, in its axes; then the entries of
$M$, Zoric (97)–(100)."""

CONSTRAINTS = r"""Differentiated until accelerations appear, the conditions are linear in these:
$A(q)\,\dot v = b(q, v)$, Udwadia (3)–(5). Their forces $A^{T}\lambda$ stand on the right-hand side of the equations of
motion, $M\dot v + \dots = \tau + A^{T}\lambda$, so that $\lambda_r$ is a force (or moment) along the condition $r$."""

PARTS = r"""the matrix in front of $x$ is $W$, the velocity terms are $h$ and the load is $Q$:"""

SOURCES = "Zoric (97)–(100) metric tensor, (104) and (109) equations of motion, (110) and (129) Christoffel symbols"
LIST = "The list of all equations, with the function and the test of each: docs/equations.md of Polhode."


def page(eq: DerivedEquations) -> list[Block]:
    """The blocks of the page: notation, equations, constraints, forms, sources."""
    found: list[Block] = [title(1, "Equations of motion of “", Given(eq.model.name), "”"), say(MADE), *notation(eq)]
    if eq.readable and not eq.factored:
        found += [*WrittenSections(eq).blocks(), *_newton_euler(eq)]
    else:
        found += _recursion(eq)
    found += _constraints(eq) if eq.model.constraints else []
    for form in eq.forms:
        found += _form(form)
    sources = SOURCES + ("; Udwadia (3)–(5) constraints of second order" if eq.model.constraints else "")
    return [*found, title(2, "Sources"), say(f"{sources}. {LIST}")]


def _newton_euler(eq: DerivedEquations) -> list[Block]:
    head: list[Block] = [title(2, "Newton–Euler form"), say(NEWTON_EULER)]
    return [*head, *_steps(eq.newton_euler, [tau.latex for tau in eq.words.tau])]


def _recursion(eq: DerivedEquations) -> list[Block]:
    """The recursions, and why they stand here."""
    found: list[Block] = [title(2, "Equations of motion")]
    if not eq.readable:
        found.append(
            say(
                f"Written out, these equations take {eq.operations:,} operations: too many to read (the limit is "
                f"{eq.limit}). As a recursion with named intermediate quantities they take "
                f"{eq.newton_euler.operations}, and are given so below. Fewer letters (symbolic=…) or a higher limit "
                "(limit=…) write out more."
            )
        )
    found.append(display([r"\sum_i M_{ki}\,\dot v_i + \sum_{i,j} \Gamma_{ij,k}\,v_i v_j + G_k - F_k = \tau_k"]))
    found += [*_newton_euler(eq), title(2, "Metric tensor by composite bodies"), say(COMPOSITES)]
    n = eq.model.nv
    labels = [f"M_{{{index(i, j)}}}" if j >= i else "" for i in range(n) for j in range(n)]
    return [*found, *_steps(eq.composite_bodies, labels)]


def _steps(program: Program, labels: Sequence[str]) -> list[Block]:
    """The steps of a program under their headings, then its results."""
    found: list[Block] = []
    heading, lines = "", list[str]()
    for step in program.steps:
        if step.heading != heading:
            found += [display(lines)] if lines else []
            heading, lines = step.heading, []
            found += [title(3, Given(heading))] if heading else []
        lines += equation(program.latex[step.symbol], latex(step.value, program.latex))
    found += [display(lines)] if lines else []
    results = [
        line
        for label, value in zip(labels, program.results, strict=True)
        if label and value != 0
        for line in equation(label, latex(value, program.latex))
    ]
    return [*found, title(3, f"Result ({program.operations} operations in all)"), display(results or ["0 &= 0"])]


def _constraints(eq: DerivedEquations) -> list[Block]:
    """Conditions, and what they ask of accelerations."""
    count = len(eq.model.constraints)
    many = f"The machine has {count} constraint{'s' if count > 1 else ''}. "
    found: list[Block] = [title(2, "Constraints"), say(many + CONSTRAINTS)]
    if eq.factored or not eq.constraints_readable:
        if not eq.factored:
            size = f"{eq.constraint_operations:,} operations"
            found.append(say(f"Written out these rows are too long to read ({size}); step by step they are:"))
        k, n = eq.constraint_steps.shape
        labels = [f"A_{{{index(i, j)}}}" if j < n - 1 else f"b_{{{i + 1}}}" for i in range(k) for j in range(n)]
        return [*found, *_steps(eq.constraint_steps, labels)]
    c, written = eq.conditions, WrittenSections(eq)
    assert c is not None
    found.append(
        table(("row", "condition"), [(words(str(k)), words(Given(name))) for k, name in enumerate(c.names, 1)])
    )
    if c.empty:
        idle = "These rows hold by themselves, whatever the motion, and are left out: "
        found.append(say(idle, Given(", ".join(c.empty)), "."))
    lines = []
    for k in range(len(c.names)):
        left = [with_factor(c.A[k, i], eq.words.vd[i].latex, written.names) for i in range(eq.model.nv)]
        lines += row(joined(left), written.tex(c.b[k]))
    held = [line for x in c.residuals for line in equation("0", written.tex(x))]
    return [
        *found,
        say("Conditions of positions and of velocities:"),
        display(held),
        say("and of accelerations:"),
        display(lines),
    ]


def _form(form: FormEquations) -> list[Block]:
    """One body by one form."""
    names, (rows, columns) = form.latex, form.mass.shape
    square = rows == columns
    unknown = ", ".join(names.get(x, x.name) for x in form.unknown)
    lines = [
        line
        for i in range(rows)
        for j in range(i if square else 0, columns)
        if form.mass[i, j] != 0
        for line in equation(f"W_{{{index(i, j)}}}", latex(form.mass[i, j], names))
    ]
    for letter, column in (("h", form.velocity_terms), ("Q", form.load)):
        for i, value in enumerate(column, 1):
            lines += equation(f"{letter}_{{{i}}}", latex(value, names))
    found: list[Block] = [
        title(2, f"Form {form.name}"),
        say(f"{form.citation}:"),
        display([form.statement]),
        say(f"With the unknowns $x = ({unknown})$, {PARTS}"),
        display(lines),
    ]
    if square:
        found.append(say("$W$ is symmetric."))
    if form.multiplier is not None and form.gradient is not None:
        gradient = ", ".join(latex(x, names) for x in form.gradient)
        stands = (
            f"The multiplier stands on the left, “… + p λ = Q”, with the gradient $({gradient})$ of the constraint; "
        )
        text = forms[form.name].multiplier_text
        value = f"along a motion it is $\\lambda$ = {text}, that is, with $\\omega = 2L\\dot p$,"
        found += [say(stands + value), display(equation(r"\lambda", latex(form.multiplier, names)))]
    return found
