"""A quantity is one record: every method of System calls its own, and what the record says holds."""

import inspect

import numpy as np
import pytest

import polhode as ph
from polhode.constrain.constraint_policy import ENGINES
from polhode.scalar import Vec
from polhode.system.algorithms import candidates
from polhode.system.catalogue.registry import QUANTITIES
from polhode.system.quantity import FIELDS, Request

OTHERS = {"bound", "source", "export_c"}
"""Methods of System that are no with_forces."""


@pytest.fixture(scope="module")
def tree():
    return ph.compile(ph.load("double-pendulum"), target="python")


@pytest.fixture(scope="module")
def loop():
    return ph.compile(ph.load("four-bar"), target="python")


def call(system, name):
    """The result of a quantity at the model's zero, for a batch of 3."""
    quantity = QUANTITIES[name]
    model, rng = system.model, np.random.default_rng(3)
    q = np.tile(np.array(model.zero), (3, 1))
    values = {"q": q, "q1": q, "point": rng.normal(size=3)}
    shapes = [system._spec.shape(FIELDS[a.field]) for a in quantity.arguments]
    drawn = [0.1 * rng.uniform(size=(3, *shape)) for shape in shapes]
    given = [values.get(a.field, other) for a, other in zip(quantity.arguments, drawn, strict=True)]
    body = [model.bodies[-1].name] if quantity.of_body else []
    if quantity.of_body and quantity.arguments[-1].field == "point":
        return getattr(system, name)(*given[:-1], *body, given[-1])
    return getattr(system, name)(*given, *body)


def test_every_quantity_is_a_documented_method_of_system_and_the_other_way_round():
    methods = {n for n, m in inspect.getmembers(ph.System, inspect.isfunction) if not n.startswith("_")}
    assert methods - OTHERS == {*QUANTITIES}
    for name, quantity in QUANTITIES.items():
        method = getattr(ph.System, name)
        assert method.__doc__
        assert quantity.what
        known = ("self", "body", "options", *quantity.choices)
        taken = [n for n in inspect.signature(method).parameters if n not in known]
        assert len(taken) == len(quantity.arguments)
        assert ("body" in inspect.signature(method).parameters) == (quantity.of_body or quantity.of_subtree)
        assert all(argument.field in FIELDS for argument in quantity.arguments)


@pytest.mark.filterwarnings("ignore:System.project")  # any states: most cannot be brought to where constraints hold
@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("target", ["python", "cpu"])
def test_results_have_the_shapes_that_the_record_says(name, target, tree, loop):
    quantity = QUANTITIES[name]
    for known in (tree, loop):
        if quantity.needs_constraints and not known.model.constraints:
            with pytest.raises(ph.ModelError, match="has no constraints"):
                call(known, name)
            continue
        system = known if target == "python" else ph.compile(known.model)
        found = call(system, name)
        parts = found if quantity.record else [found]
        assert quantity.record is None or type(found) is quantity.record
        shapes = [(3, *system._spec.shape(axes)) for axes in quantity.results]
        assert [np.shape(part) for part in parts] == shapes


def test_one_algorithm_at_least_serves_every_system(tree, loop):
    free = ph.compile(tree.model, engine="absolute", target="python")
    for system in (tree, loop, free):
        for quantity in QUANTITIES.values():
            assert candidates(quantity, system._spec) or quantity.needs_constraints


@pytest.mark.parametrize("engine", ["fundamental", "multipliers", "null-space", "absolute"])
def test_generated_text_names_the_quantity_and_its_algorithm(engine):
    text = ph.compile(ph.load("four-bar"), engine=engine).source("forward_dynamics")
    assert f"The accelerations v̇, by {ENGINES[engine]}" in text


def test_all_candidates_give_one_result(tree):
    quantity, spec = QUANTITIES["forward_dynamics"], tree._spec
    assert len(candidates(quantity, spec)) == 2
    scalars = {a: Vec([0.3, -0.2]) for a in quantity.arguments}
    found = [np.array(algorithm.function(Request(spec, scalars))) for algorithm in candidates(quantity, spec)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_nothing_is_generated_where_nothing_moves():
    block = ph.Model(
        "block",
        bodies=[ph.Body("block", mass=1.0, inertia=[1, 1, 1])],
        joints=[ph.Joint("held", "fixed", "world", "block")],
    )
    for target in ("cpu", "python"):
        system = ph.compile(block, target=target)
        assert system.mass_matrix([]).shape == (0, 0)
        assert system.forward_dynamics_derivatives([], [], []).dq.shape == (0, 0)
        assert system.pose([], "block").position.shape == (3,)
        with pytest.raises(ph.CompileError, match="nothing is generated"):
            system.source("mass_matrix")
