"""Paths of loads past limit points: the truss of von Mises by springs, by beams and with constraints, an arch."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph

SPAN = 1.0


def truss(height, stiffness, *, beams=False, constrained=False, push=1.0):
    """Two bars from (±1, 0, 0) to an apex that a force pushes down."""
    rest = np.hypot(SPAN, height)
    apex = ph.Body("apex", 1.0, (1, 1, 1))
    rail = ph.Joint("rail", "prismatic", "world", "apex", axis=(0, 0, 1), position=(0, 0, height))
    held = []
    if constrained:
        rail = ph.Joint("rail", "free", "world", "apex", position=(0, 0, height))
        held = [ph.Constraint("rail", "prismatic", {"body_a": "world", "body_b": "apex", "position_a": (0, 0, height)})]
    load, parts = ph.Force("push", "apex", force=(0, 0, -push)), {}
    if beams:
        stiff = ph.Section(axial=stiffness * rest, torsion=1e4, bending_y=1e3, bending_z=1e3, mass=1, inertia_y=1e-2,
                           inertia_z=1e-2)  # fmt: skip
        hinge = lambda body, x: ph.BeamEnd(body, (x, 0, 0), "revolute", (0, 1, 0))
        parts["beams"] = [
            ph.Beam(name, stiff, start=hinge("world", x), end=hinge("apex", 0), elements=1)
            for name, x in (("left", -SPAN), ("right", SPAN))
        ]
        springs = []
    else:
        springs = [
            ph.Spring(name, "world", "apex", (x, 0, 0), stiffness=stiffness, rest=rest)
            for name, x in (("left", -SPAN), ("right", SPAN))
        ]
    return ph.Model("truss", (0, 0, 0), [apex], [rail], [*springs, load], held, **parts)


def closed_form(height, stiffness, z):
    """The load that holds the apex at height z, N."""
    rest, length = np.hypot(SPAN, height), np.hypot(SPAN, z)
    return 2 * stiffness * (rest - length) * z / length


def limit(height, stiffness):
    """The largest of it: where the bars are (a² l₀)^(1/3) long."""
    length = (SPAN**2 * np.hypot(SPAN, height)) ** (1 / 3)
    return closed_form(height, stiffness, np.sqrt(length**2 - SPAN**2))


@pytest.mark.parametrize(
    ("height", "stiffness", "push", "how"),
    [
        (0.5, 1.0, 0.2, {}),
        pytest.param(0.1, 1e3, 2.0, {"beams": True}, marks=pytest.mark.long),
        pytest.param(0.5, 1.0, 0.2, {"constrained": True}, marks=pytest.mark.long),
    ],
    ids=["springs", "beams", "a constraint"],
)
def test_a_truss_snaps_through(height, stiffness, push, how):
    model = truss(height, stiffness, push=push, **how)
    found = ph.load_path(model, "push")
    system = ph.compile(model, target="python")
    z = np.array([system.pose(q, "apex").position[2] for q in found.q])
    np.testing.assert_allclose(found.factors * push, closed_form(height, stiffness, z), atol=1e-9 * push)
    top, bottom = found.limits
    assert top.factor * push == pytest.approx(limit(height, stiffness), rel=1e-9)
    assert bottom.factor * push == pytest.approx(-limit(height, stiffness), rel=1e-9)
    assert found.reached
    assert found.factors[-1] == 1
    assert z[-1] < -height
    falling = abs(z) < abs(system.pose(top.q, "apex").position[2])
    np.testing.assert_array_equal(found.unstable, falling.astype(int))


def test_a_load_below_the_limit_ends_before_it():
    push = 0.5 * limit(0.5, 1.0)
    found = ph.load_path(truss(0.5, 1.0, push=push), "push")
    assert not found.limits
    assert found.reached
    np.testing.assert_allclose(found.q[-1], ph.equilibrium(truss(0.5, 1.0, push=push)).q, atol=1e-9)


@pytest.mark.long
def test_a_clamped_arch_is_at_rest_all_the_way():
    """Two inclined beams of two elements, rigidly joined: each point of the path is a rest under its load."""
    section = ph.Section(axial=1e4, torsion=1.0, bending_y=0.3, bending_z=3.0, mass=1, inertia_y=1e-3, inertia_z=1e-3)
    arch = ph.Beam("a", section, start=("world", (-1, 0, 0)), end=("world", (1, 0, 0)),
                   through=[(-0.5, 0, 0.05), (0, 0, 0.1), (0.5, 0, 0.05)])  # fmt: skip
    model = ph.Model("arch", (0, 0, 0), beams=[arch], forces=[ph.Force("push", "a-2", force=(0, 0, -40.0))])
    found = ph.load_path(model, "push")
    assert found.reached
    system = ph.compile(model, target="python")
    heights = np.array([system.pose(q, "a-2").position[2] for q in found.q])
    assert np.all(np.diff(heights) < 0)
    assert len(found.limits) == 2
    for factor, q in zip(found.factors, found.q, strict=True):
        loaded = replace(
            model, forces=[replace(f, force=(0, 0, -40.0 * factor)) if f.name == "push" else f for f in model.forces]
        )
        left = ph.compile(loaded, target="python").inverse_dynamics(q, np.zeros(model.nv), np.zeros(model.nv))
        np.testing.assert_allclose(left, 0, atol=1e-6)


@pytest.mark.long
def test_a_straight_column_becomes_unstable_at_the_load_of_euler():
    section = ph.Section(axial=1e6, torsion=1.0, bending_y=1.0, bending_z=2.0, mass=1, inertia_y=1e-3, inertia_z=1e-3)
    column = ph.Beam("c", section, start=("world", (0, 0, 0)), end=(0, 0, 1), up=(1, 0, 0), elements=2)
    model = ph.Model("column", (0, 0, 0), beams=[column], forces=[ph.Force("tip", "c-2", force=(0, 0, -4.0))])
    found = ph.load_path(model, "tip")
    euler = np.pi**2 / 4 * 1.0006 / 4.0  # of two elements
    np.testing.assert_array_equal(found.unstable, (found.factors > euler).astype(int))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: ph.load_path(m, "pull"), "no such name"),
        (lambda m: ph.load_path(m, "push", to=0.0), "no load"),
        (lambda m: ph.load_path(m, "push", step=-1.0), "step"),
        (lambda m: ph.load_path(m, "push", points=1), "not a count"),
    ],
)
def test_what_is_no_path_is_told(call, said):
    with pytest.raises(ph.InputError, match=said):
        call(truss(0.5, 1.0))
