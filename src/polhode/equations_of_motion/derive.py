"""The physics of a model on symbols: every quantity is traced as kernels are, then written as formulas."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import sympy

from polhode.dynamics import constraints, covariant, energy, forces, inertia, inverse
from polhode.equations_of_motion.angles import ParallelTurn
from polhode.equations_of_motion.polynomial import TooLarge, polynomials
from polhode.equations_of_motion.vocabulary import Vocabulary
from polhode.equations_of_motion.writing import Writer
from polhode.kernel import Graph, trace
from polhode.model import Model, Tree, make_tree
from polhode.model.constraints.base import ConstraintCondition
from polhode.model.tree import GROUND
from polhode.scalar import Scalar, Vec, dot
from polhode.spatial import ORIGIN
from polhode.system.constrained_model import constrained_dynamics

MOST = 2000
"""Terms of all components together up to which they are put into their shortest form."""


class SymbolicState(NamedTuple):
    """A tree and its motion, on generic scalars."""

    tree: Tree
    t: Scalar
    q: Vec
    v: Vec
    vd: Vec
    conditions: list[ConstraintCondition]

    @property
    def still(self) -> Vec:
        """No velocity."""
        return Vec([0.0] * self.tree.nv)


def metric(x: SymbolicState) -> Vec:
    """The metric tensor.                                                          Zoric (97)–(100)"""
    return inertia.mass_matrix(x.tree, x.q)


def christoffel(x: SymbolicState) -> Vec:
    """Γ[a, b, g].                                                                  Zoric (110), (129)"""
    return covariant.christoffel(x.tree, x.q)


def velocity_terms(x: SymbolicState) -> Vec:
    """Σ Γ[a, b, g] v_a v_b.                                                          Zoric (109)"""
    return inverse.inverse_dynamics(x.tree, x.q, x.v, x.still, gravity=ORIGIN)


def gravity_terms(x: SymbolicState) -> Vec:
    """Generalised forces that balance gravity, on the left-hand side."""
    return inverse.inverse_dynamics(x.tree, x.q, x.still, x.still)


def other_forces(x: SymbolicState) -> Vec:
    """Springs, dampers and given forces, dual to v, on the right-hand side."""
    found = forces.acting(x.tree, x.t, x.q, x.v)
    if not found.wrenches:
        return found.generalized
    against = inverse.inverse_dynamics(x.tree, x.q, x.still, x.still, ORIGIN, found.wrenches)
    return found.generalized - against


def kinetic_energy(x: SymbolicState) -> Vec:
    """T = ½ v·(M v), M v being what the acceleration v would need from rest.            Zoric (85)–(91)"""
    own = x.tree.own_places  # states of elements have no energy
    v = Vec([0.0 * value if k in own else value for k, value in enumerate(x.v)]) if own else x.v
    momentum = inverse.inverse_dynamics(x.tree, x.q, x.still, v, gravity=ORIGIN)
    return Vec([dot(v, momentum) / 2])


def potential_energy(x: SymbolicState) -> Vec:
    """V of gravity and springs."""
    return Vec([energy.energy(x.tree, x.q, x.v).potential])


def residuals(x: SymbolicState) -> Vec:
    """φ of positions, then r of velocities that are conditions themselves."""
    held = constraints.positions(x.tree, x.conditions, x.t, x.q)
    rates = constraints.speeds(x.tree, x.conditions, x.t, x.q, x.v)
    return Vec((*held, *rates[len(held) :]))


def second_order(x: SymbolicState) -> tuple[Vec, Vec]:
    """A and b of A v̇ = b.                                                          Udwadia (3)–(5)"""
    rows = constraints.rows(x.tree, x.conditions, x.t, x.q, x.v)
    return rows.A, rows.b


class Derivation:
    """The formulas of one model."""

    def __init__(self, model: Model, words: Vocabulary) -> None:
        self.model, self.words = model, words
        self.symbols = {
            "q": [c.symbol for c in words.q],
            "v": [c.symbol for c in words.v],
            "vd": [c.symbol for c in words.vd],
            "letters": [letter.symbol for letter in words.letters],
            "t": [words.t],
        }
        bound = constrained_dynamics(model)
        self.conditions = list(bound.conditions) if bound else []
        self.rates = {c.symbol for c in (*words.v, *words.vd)}
        kinds = ("mass", "inertia", "armature")
        paths = [path for path in words.numbers if any(part in kinds for part in path.split(".")[2:3])]
        self.inertial = {s for path in paths for s in words.numbers[path].free_symbols if words.numbers[path].is_Symbol}
        self.groups = parallel_turns(make_tree(model), self.symbols["q"])
        self.quaternions = [[self.symbols["q"][k] for k in e.q] for e in make_tree(model).elements if e.kind.quaternion]

    def graph(self, quantity: Callable[[SymbolicState], Any]) -> Graph:
        """The graph of a quantity."""

        def traced(q: Vec, v: Vec, vd: Vec, letters: Vec, t: Scalar) -> Any:
            return quantity(self.state(q, v, vd, letters, t))

        shapes = {name: (len(symbols),) for name, symbols in self.symbols.items()} | {"t": ()}
        return trace(traced, **shapes)

    def state(self, q: Vec, v: Vec, vd: Vec, letters: Vec, t: Scalar) -> SymbolicState:
        """The model at a state, with numbers made of letters."""
        values = dict(zip(self.symbols["letters"], letters, strict=True))
        numbers = {path: on_scalars(x, values) for path, x in self.words.numbers.items()}
        return SymbolicState(make_tree(self.model, numbers), t, q, v, vd, self.conditions)

    def formulas(self, graph: Graph) -> list[list[sympy.Expr]]:
        """The outputs of a graph, each with its components in order; TooLarge if there is too much to read."""
        alphabet, found = polynomials(graph, self.symbols, self.quaternions)
        if sum(map(len, {x for output in found for x in output})) > MOST:
            raise TooLarge
        writer = Writer(alphabet, self.groups, self.rates, self.inertial)
        return [[writer.expression(x) for x in output] for output in found]

    def terms(self, graph: Graph) -> int:
        """How many terms the outputs of a graph have, equal ones once; TooLarge if there are too many to count."""
        _, found = polynomials(graph, self.symbols, self.quaternions)
        return sum(map(len, {x for output in found for x in output}))

    def written_out(self, graph: Graph) -> int:
        """How many operations the outputs of a graph take when nothing is shared."""
        counts: list[int] = []
        for node in graph.nodes:
            own = 1 if node.args and node.op != "part" else 0
            counts.append(own + sum(counts[a] for a in node.args))
        return sum(counts[k] for port in graph.outputs for k in port.nodes)


def on_scalars(x: sympy.Expr, values: Mapping[sympy.Symbol, Scalar]) -> Scalar:
    """A formula of letters on generic scalars."""
    if x.is_Symbol:
        return values[x]
    if x.is_Rational:
        return int(x.p) / int(x.q)
    if isinstance(x, sympy.Add):
        parts = [on_scalars(part, values) for part in x.args]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total
    if isinstance(x, sympy.Mul):
        product: Scalar = 1.0
        for part in x.args:
            product = product * on_scalars(part, values)
        return product
    base, exponent = x.as_base_exp()
    if exponent.is_Integer:
        return on_scalars(base, values) ** int(exponent)
    return float(x)


SAME_AXIS = 1e-12


def parallel_turns(tree: Tree, q: Sequence[sympy.Symbol]) -> list[list[ParallelTurn]]:
    """The turns of a tree in groups of parallel axes: those that carry each other, or that one frame carries."""
    groups: list[list[ParallelTurn]] = []
    roots: list[tuple[int, int, np.ndarray]] = []  # group, the element it stands on, the axis there
    place: dict[int, tuple[int, int]] = {}  # element: its group, its place there
    for i, e in enumerate(tree.elements):
        if not e.kind.turns_about_axis:
            continue
        base, axis = _base(tree, i)
        if base != GROUND and tree.elements[base].kind.turns_about_axis:
            along = float(axis @ np.array(tree.elements[base].axis, dtype=float))
            if abs(abs(along) - 1) < SAME_AXIS:
                g, k = place[base]
                place[i] = g, len(groups[g])
                groups[g].append(ParallelTurn(q[e.q[0]], k, round(along) * groups[g][k].sense))
                continue
        same = [g for g, b, other in roots if b == base and abs(abs(float(axis @ other)) - 1) < SAME_AXIS]
        if not same:
            same = [len(groups)]
            groups.append([])
            roots.append((same[0], base, axis))
        place[i] = same[0], len(groups[same[0]])
        groups[same[0]].append(ParallelTurn(q[e.q[0]], None, 1))
    return groups


def _base(tree: Tree, i: int) -> tuple[int, np.ndarray]:
    """The nearest element above that turns, or the ground, and the axis of an element in its frame."""
    e = tree.elements[i]
    axis = np.array(e.axis, dtype=float)
    while True:
        C0, C1, _ = e.turning
        axis = np.array(C0 + C1, dtype=float) @ axis
        i = e.parent
        if i == GROUND or tree.elements[i].kind.turns:
            return i, axis
        e = tree.elements[i]
