"""A quantity as a recursion: short steps with named intermediate quantities, body by body, from the traced graph.

What is too large to write out is still short in steps: each uses those before it, and nothing is computed twice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

import sympy

from polhode.dynamics import forces, inertia
from polhode.dynamics.inverse import ground, handed, outward
from polhode.dynamics.kinematics import joint_force, placement
from polhode.equations_of_motion.derive import Derivation, SymbolicState, second_order
from polhode.equations_of_motion.letters import symbol_latex
from polhode.equations_of_motion.polynomial import FUNCTIONS, RELATIONS, SHORTEST, short_fraction
from polhode.errors import InputError, message
from polhode.kernel import Graph
from polhode.kernel.graph import Node
from polhode.kernel.operations import MEANING
from polhode.model import make_tree
from polhode.model.tree import GROUND
from polhode.scalar import Vec

AXES = "xyz"
RESULT = "result"

LONGEST = 12
"""Operations after which a step is cut: what it is made of gets a name."""


class ProgramStep(NamedTuple):
    """One step: what it defines, by what, and the heading it stands under."""

    symbol: sympy.Symbol
    value: sympy.Expr
    heading: str


@dataclass(frozen=True)
class Program:
    """Steps in the order in which they are taken, and the results in their terms."""

    title: str
    steps: tuple[ProgramStep, ...]
    results: tuple[sympy.Expr, ...]
    shape: tuple[int, ...]
    operations: int
    latex: Mapping[sympy.Symbol, str]
    inputs: tuple[sympy.Symbol, ...]

    def __str__(self) -> str:
        lines = [f"{self.title}: {len(self.steps)} steps, {self.operations} operations"]
        return "\n".join([*lines, *(f"  {step.symbol} = {step.value}" for step in self.steps)])

    @cached_property
    def function(self) -> Callable[..., list[Any]]:
        """The results as a function of the inputs, step by step."""
        return compiled(self.inputs, self.results, [(step.symbol, step.value) for step in self.steps])

    def written_out(self) -> list[sympy.Expr]:
        """The results in terms of the inputs alone; for small programs."""
        known: dict[sympy.Symbol, sympy.Expr] = {}
        for step in self.steps:
            known[step.symbol] = step.value.xreplace(known)
        return [result.xreplace(known) for result in self.results]


def compiled(
    inputs: Sequence[sympy.Symbol],
    results: Sequence[sympy.Expr],
    steps: Sequence[tuple[sympy.Symbol, sympy.Expr]] | None = None,
) -> Callable[..., list[Any]]:
    """Formulas as a function of NumPy's; symbols are renamed first: a name of a model is no code."""
    known = [*inputs, *(symbol for symbol, _ in steps or ())]
    plain = {symbol: sympy.Symbol(f"x{k}") for k, symbol in enumerate(known)}
    found = [sympy.sympify(x).xreplace(plain) for x in results]
    pairs = [(plain[symbol], value.xreplace(plain)) for symbol, value in steps or ()]
    shared = True if steps is None else lambda _: (pairs, found)
    return sympy.lambdify([plain[s] for s in inputs], found, modules="numpy", cse=shared)


def newton_euler(x: SymbolicState) -> dict[str, Any]:
    """The recursion of Newton and Euler with all it meets on the way.                   Zoric (104), (109)

    ω, α, a of every frame (a: of its origin, against gravity), then f, n that each body and all it carries need.
    """
    acting = forces.acting(x.tree, x.t, x.q, x.v)
    found: dict[str, Any] = {}
    at: list[Any] = []
    moving: list[Any] = []
    force: list[Any] = []
    for i, e in enumerate(x.tree.elements):
        parent = moving[e.parent] if e.parent != GROUND else ground(x.tree.gravity)
        own = outward(e, x.q, x.v, x.vd, parent, acting.wrenches.get(i))
        for rows, value in zip((at, moving, force), own, strict=True):
            rows.append(value)
        found |= {f"omega.{i}": own[1].omega, f"alpha.{i}": own[1].alpha, f"a.{i}": own[1].a}
    tau: list[Any] = [0.0] * x.tree.nv
    for i in reversed(range(len(x.tree.elements))):
        e, (f, n) = x.tree.elements[i], force[i]
        found |= {f"f.{i}": f, f"n.{i}": n}
        for a, value, armature in zip(e.v, joint_force(e, x.q, f, n), e.armature, strict=True):
            tau[a] = tau[a] + value + armature * x.vd[a]
        if e.parent != GROUND:
            F, N = force[e.parent]
            f_p, n_p = handed(at[i], f, n)
            force[e.parent] = F + f_p, N + n_p
    return {**found, RESULT: Vec(tau) - acting.generalized}


def composite_bodies(x: SymbolicState) -> dict[str, Any]:
    """The metric tensor by composite bodies: m, h, Σ of all that a joint carries.        BEYOND §1, Zoric (97)–(100)"""
    at = [placement(e, x.q) for e in x.tree.elements]
    found: dict[str, Any] = {}
    for i, whole in reversed(list(enumerate(inertia.composites(x.tree, at)))):
        upper = Vec([whole.second[r][c] for r in range(3) for c in range(r, 3)])
        found |= {f"m.{i}": whole.mass, f"h.{i}": whole.first, f"S.{i}": upper}
    return {**found, RESULT: inertia.mass_matrix(x.tree, x.q)}


def accelerations_bound(x: SymbolicState) -> dict[str, Any]:
    """A and b of the constraints, b as a last column.                                     Udwadia (3)–(5)"""
    A, b = second_order(x)
    return {RESULT: Vec([Vec((*row, right)) for row, right in zip(A, b, strict=True)])}


LETTERS = {"omega": "omega", "alpha": "alpha", "a": "a", "f": "f", "n": "n", "m": "m", "h": "h", "S": "Sigma"}


def program(derivation: Derivation, quantity: Callable[[SymbolicState], dict[str, Any]], title: str) -> Program:
    """The steps of a quantity whose intermediate results have names."""
    return _StepReader(derivation, derivation.graph(quantity), title).read()


class _StepReader:
    """Turns one graph into steps."""

    def __init__(self, derivation: Derivation, graph: Graph, title: str) -> None:
        self.d, self.graph, self.title = derivation, graph, title
        self.latex = dict(derivation.words.latex)
        self.taken = {s.name for s in self.latex}
        self.uses = [0] * len(graph.nodes)
        for node in graph.nodes:
            for a in node.args:
                self.uses[a] += 1
        self.opposite: set[int] = set()
        """Nodes whose negative has the name."""
        self.names, self.headings = self._named()
        self.fresh = count(1)

    def _named(self) -> tuple[dict[int, tuple[str, str]], dict[int, str]]:
        """Name and LaTeX of the nodes that have one, and the heading of each."""
        names: dict[int, tuple[str, str]] = {}
        headings: dict[int, str] = {}
        elements = self._elements()
        for port in self.graph.outputs:
            if port.name == RESULT:
                continue
            kind, _, number = port.name.partition(".")
            title, tail = elements[int(number)]
            parts = (
                [""] if not port.shape else list(AXES) if port.shape == (3,) else ["xx", "xy", "xz", "yy", "yz", "zz"]
            )
            for part, k in zip(parts, port.nodes, strict=True):
                if self.graph.nodes[k].op in ("input", "constant") or k in names:
                    continue
                letter = LETTERS[kind]
                opposite = self.graph.nodes[k].op == "neg" and self.graph.nodes[k].args[0] not in names
                at = self.graph.nodes[k].args[0] if opposite else k
                if self.graph.nodes[at].op == "input":
                    continue
                names[at] = f"{letter}{tail}{part}", symbol_latex(f"{letter}_{tail}{part}")
                headings[at] = f"{title}: forces and moments" if kind in ("f", "n") else title
                if opposite:
                    names[k] = names[at]
                    self.opposite.add(at)
        return names, headings

    def _elements(self) -> tuple[tuple[str, str], ...]:
        """For each element its heading and its number."""
        found = []
        for i, e in enumerate(make_tree(self.d.model).elements, 1):
            carried = f"body '{e.body}'" if e.body else "between two motions of one joint"
            found.append((f"Frame {i}: joint '{e.name}', {carried}", str(i)))
        return tuple(found)

    def read(self) -> Program:
        """The program."""
        graph, symbols = self.graph, self.d.symbols
        values: list[Any] = [None] * len(graph.nodes)
        steps: list[ProgramStep] = []
        for port in graph.inputs:
            for k, symbol in zip(port.nodes, symbols[port.name], strict=True):
                values[k] = symbol
        results = next(port for port in graph.outputs if port.name == RESULT)
        for k, node in enumerate(graph.nodes):
            if node.op == "input":
                continue
            value = number(node.value) if node.op == "constant" else self._value(node, [values[a] for a in node.args])
            if self._has_own_line(k, node, value):
                sign = -1 if k in self.opposite else 1
                symbol = self._symbol(k, node, value)
                steps.append(ProgramStep(symbol, sign * value, self.headings.get(k, "")))
                value = sign * symbol
            values[k] = value
        inputs = tuple(dict.fromkeys(s for port in graph.inputs for s in symbols[port.name]))
        return Program(
            self.title,
            tuple(_headed(steps)),
            tuple(sympy.sympify(values[k]) for k in results.nodes),
            results.shape,
            graph.operations.total(),
            self.latex,
            inputs,
        )

    def _has_own_line(self, k: int, node: Node, value: Any) -> bool:
        if node.op == "constant" or not isinstance(value, sympy.Expr) or value.is_Atom or (-value).is_Atom:
            return False
        if k in self.names or node.op in ("sin", "cos"):
            return True
        return (self.uses[k] > 1 and node.op != "neg") or value.count_ops() > LONGEST

    def _symbol(self, k: int, node: Node, value: sympy.Expr) -> sympy.Symbol:
        if k in self.names:
            name, latex = self.names[k]
        elif node.op in ("sin", "cos") and value.args[0].is_Symbol:
            angle = value.args[0]
            name, latex = (
                f"{node.op[0]}_{angle.name}",
                rf"\mathrm{{{node.op[0]}}}_{{{self.latex.get(angle, angle.name)}}}",
            )
        else:
            n = next(self.fresh)
            name, latex = f"u{n}", f"u_{{{n}}}"
        while name in self.taken:
            name += "'"
            latex = f"{{{latex}}}'"
        self.taken.add(name)
        symbol = sympy.Symbol(name, real=True)
        self.latex[symbol] = latex
        return symbol

    def _value(self, node: Node, x: list[Any]) -> Any:
        if node.op in RELATIONS:
            return RELATIONS[node.op](*x)
        if node.op == "select" and any(x[k].is_Number and 0 < abs(x[k]) < SHORTEST for k in (1, 2)):
            return x[2] if x[1].is_Number else x[1]  # max(length, 1e-150) guards a division
        if node.op in ARITHMETIC:
            return ARITHMETIC[node.op](*x)
        if node.op not in FUNCTIONS:
            raise InputError(message("equations", "a step with no formula", repr(node.op), "arithmetic and functions"))
        return FUNCTIONS[node.op](*x)


ARITHMETIC = {op: MEANING[op] for op in ("add", "sub", "mul", "div", "neg", "fma")}


def number(value: Any) -> Any:
    """A constant as SymPy's: a short fraction, a multiple of √2 or √3, or the number itself."""
    if isinstance(value, bool):
        return sympy.true if value else sympy.false
    exact = short_fraction(value)
    if exact is not None:
        return sympy.Rational(exact.numerator, exact.denominator)
    for n in (2, 3):
        part = short_fraction(value / n**0.5)
        if part is not None and part.denominator <= 12:
            return sympy.Rational(part.numerator, part.denominator) * sympy.sqrt(n)
    return sympy.Float(value, 17)


def _headed(steps: list[ProgramStep]) -> list[ProgramStep]:
    """Steps without a heading stand under that of the next named one."""
    heading = ""
    found = []
    for step in reversed(steps):
        heading = step.heading or heading
        found.append(step._replace(heading=heading))
    return found[::-1]
