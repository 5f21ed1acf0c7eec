"""All engines find one motion and one total force, on every bundled model under constraints."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from machines import random_model, random_q
from polhode.formats import library

OTHERS = ["multipliers", "null-space", "absolute"]
LONG = pytest.mark.long
SLOW = ["bicycle", "stewart-platform", "n-four-bar-12", "closed-chain-30", "n-four-bar-40"]
LARGE = ["andrews", "bricard", "closed-chain-4", "slider-crank-3d"]
"""Models whose bodies in absolute coordinates take seconds to compile."""
CLOSED = [name for name in library.names() if "constraints:" in library.text_of(name)] + [
    "n-four-bar",
    "closed-chain-4",
]
CASES = [
    pytest.param(name, engine, marks=LONG if name in SLOW or (engine == "absolute" and name in LARGE) else ())
    for name in [*(name for name in CLOSED if name not in SLOW), *SLOW]
    for engine in OTHERS
    if (name, engine) != ("n-four-bar-40", "absolute")  # 1253 unknowns in one system
]
EPSILON = 1e-9


def states(model, count=3):
    """Random consistent states near the start; where a machine has no other, along its motion."""
    rng = np.random.default_rng(17)
    system = ph.compile(model)
    start, _ = (np.array(x, dtype=float) for x in ph.consistent_start(model)[:2])
    for size in np.linspace(0.02, 0.2, count):
        while True:
            moved = system.integrate(start, size * rng.normal(size=model.nv))
            try:
                found = ph.consistent_start(model, moved, rng.normal(size=model.nv))
            except ph.PolhodeError:
                continue
            yield found.q, found.v, rng.normal(size=model.nv)
            break


def condition(system, q, v):
    """How much rounding may grow: of the mass matrix in units of its own, and of the independent rows in its metric."""
    M, A = system.mass_matrix(q), system.constraint_rows(q, v).A
    size = np.sqrt(np.diag(M))
    K = np.linalg.cholesky(M / np.outer(size, size))
    B = np.linalg.solve(K, (A / size).T)
    sigma = np.linalg.svd(B, compute_uv=False)
    kept = sigma[sigma > 1e-9 * sigma[0]]
    return np.linalg.cond(K) ** 2 * kept[0] / kept[-1]


@pytest.mark.parametrize(("name", "engine"), CASES)
def test_engines_agree_in_accelerations_and_in_the_force_of_constraints(name, engine):
    model = ph.load(name)
    base, system = ph.compile(model), ph.compile(model, engine=engine)
    for q, v, tau in states(model):
        expected, forces = base.forward_dynamics(q, v, tau), base.constraint_forces(q, v, tau)
        found, other = system.forward_dynamics(q, v, tau), system.constraint_forces(q, v, tau)
        bound = EPSILON * condition(base, q, v)
        size = np.sqrt(np.diag(base.mass_matrix(q)))
        scale = np.max(abs(size * expected)) + np.max(abs(forces.generalized / size))
        assert np.max(abs(size * (found - expected))) <= bound * scale
        assert np.max(abs((other.generalized - forces.generalized) / size)) <= bound * scale
        assert other.rank == forces.rank


@pytest.mark.parametrize("engine", OTHERS[1:])
def test_derivatives_do_not_depend_on_the_engine(engine):
    model = ph.load("slider-crank-3d")
    q, v, tau = next(states(model, 1))
    expected = ph.compile(model).forward_dynamics_derivatives(q, v, tau)
    found = ph.compile(model, engine=engine).forward_dynamics_derivatives(q, v, tau)
    for a, b in zip(found, expected, strict=True):
        assert np.max(abs(a - b)) < 1e-10 * np.max(abs(b))


@pytest.mark.parametrize("engine", [OTHERS[0], *(pytest.param(engine, marks=LONG) for engine in OTHERS[1:])])
def test_runs_by_other_engines_are_the_same_runs(engine):
    model, options = ph.load("four-bar"), {"duration": 0.5, "tolerance": 1e-10, "samples": 3}
    base, run = ph.simulate(model, **options), ph.simulate(model, engine=engine, **options)
    assert np.max(abs(run["q"].values - base["q"].values)) < 1e-9
    assert (run.attrs["engine"], base.attrs["engine"]) == (engine, "fundamental")
    assert run.attrs["rank_tolerance"] == 1e-10


@pytest.mark.parametrize("engine", ["fundamental", *OTHERS])
def test_the_rank_tolerance_is_settable(engine):
    """Near the flat configuration two rows are nearly dependent: how nearly is for the user to say."""
    model, angle = ph.load("n-four-bar"), 1e-6
    q, v = [angle] * 3 + [-angle] * 2, [0.0] * 5
    ranks = [
        ph.compile(model, engine=engine, rank_tolerance=tolerance).constraint_forces(q, v, v).rank
        for tolerance in (1e-10, 1e-4)
    ]
    assert ranks == [4, 2]
    assert [ph.diagnose(model, q, v, rank_tolerance=tolerance).rank for tolerance in (1e-10, 1e-4)] == [4, 2]
    assert "rows count as dependent below 0.0001 of their size" in str(ph.diagnose(model, q, v, rank_tolerance=1e-4))


@pytest.mark.parametrize("engine", OTHERS)
def test_a_body_without_inertia_moves_where_constraints_determine_it(engine):
    arm = ph.Body("ball", 1.0, (0, 0, 0), (1, 0, 0))
    hinge = ph.Constraint("hinge", "revolute", {"body_b": "ball", "axis_a": (0, 1, 0), "axis_b": (0, 1, 0)})
    model = ph.Model("A01", bodies=[arm], joints=[ph.Joint("j", "free", "world", "ball")], constraints=[hinge])
    q, v, tau = [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 2.0, 0], np.zeros(6)
    found = ph.compile(model, engine=engine).forward_dynamics(q, v, tau)
    np.testing.assert_allclose(found, [0, 0, 0, 0, 9.81, 0], atol=1e-12)
    np.testing.assert_allclose(ph.compile(model).forward_dynamics(q, v, tau), found, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"engine": "newton"}, "no such engine"),
        ({"rank_tolerance": 0.5}, "out of range"),
        ({"rank_tolerance": True}, "out of range"),
    ],
)
def test_wrong_choices_are_told(options, what):
    model = ph.load("four-bar")
    for call in (ph.compile, ph.simulate):
        with pytest.raises(ph.PolhodeError, match=what):
            call(model, **options)


KINDS = ["revolute", "prismatic", "screw", "cylindrical", "universal", "planar", "spherical", "free", "fixed"]


@pytest.mark.parametrize("first", range(0, 9, 3))
def test_absolute_coordinates_give_the_motion_of_a_tree(first):
    """All kinds of joints with armature, dampers and springs between bodies; against articulated bodies."""
    kinds = [*KINDS[first : first + 3], "revolute"]
    springs = [ph.Spring("s", "b0", "b2", (0.1, 0, 0.2), (0, 0.3, 0), stiffness=3.0, damping=0.5, rest=0.2)]
    model = random_model(kinds, 5 + first, forces=springs)
    model = replace(model, joints=[replace(joint, damping=0.3) for joint in model.joints])
    rng = np.random.default_rng(first)
    q, v, tau = random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    wrench = {"b1": (rng.normal(size=3), rng.normal(size=3))}
    expected = ph.compile(model).forward_dynamics(q, v, tau, wrench=wrench)
    found = ph.compile(model, engine="absolute").forward_dynamics(q, v, tau, wrench=wrench)
    assert np.max(abs(found - expected)) < 1e-11 * np.max(abs(expected))


def test_conditions_on_coordinates_hold_in_absolute_coordinates_too():
    """A gear and a given motion, on an arm of two hinges with a slider."""
    bodies = [ph.Body(name, 1.0, (0.1, 0.2, 0.15), (0.1, 0.2, 0.3)) for name in "abc"]
    kinds = [("a", "world", "revolute"), ("b", "a", "revolute"), ("c", "b", "prismatic")]
    joints = [
        ph.Joint(f"j{name}", kind, parent, name, axis=(0.3, -0.8, -0.5), position=(0.2, 0.1, 0.3), armature=0.1)
        for name, parent, kind in kinds
    ]
    constraints = [
        ph.Constraint("gear", "gear", {"joint": "jb", "source": "ja", "multiplier": 1.7, "offset": 0.1}),
        ph.Constraint("given", "prescribed", {"joint": "jc", "value": lambda t: 0.3 * ph.sin(2 * t)}),
    ]
    model = ph.Model("arm", bodies=bodies, joints=joints, constraints=constraints)
    q, v, tau = [0.4, 0.78, 0.3 * np.sin(0.6)], [1.1, 1.87, 0.6 * np.cos(0.6)], [0.3, 0.2, 0.1]
    one, other = (ph.compile(model, engine=engine) for engine in ("fundamental", "absolute"))
    np.testing.assert_allclose(
        other.forward_dynamics(q, v, tau, t=0.3), one.forward_dynamics(q, v, tau, t=0.3), atol=1e-11
    )
    a, b = (system.constraint_forces(q, v, tau, t=0.3) for system in (one, other))
    np.testing.assert_allclose(b.multipliers, a.multipliers, atol=1e-10)
    assert b.rank == a.rank == 2


def test_a_tree_runs_in_absolute_coordinates():
    model, options = ph.load("heavy-top"), {"duration": 0.1, "tolerance": 1e-10, "samples": 3}
    base, run = ph.simulate(model, **options), ph.simulate(model, engine="absolute", **options)
    assert np.max(abs(run["v"].values - base["v"].values)) < 1e-6 * np.max(abs(base["v"].values))


@pytest.mark.parametrize(
    "name",
    ["four-bar", "andrews", "n-four-bar-9", *(pytest.param(x, marks=LONG) for x in ("closed-chain-30", *SLOW[:2]))],
)
def test_pivots_are_those_of_an_elimination_of_the_scaled_rows(name):
    """Their product is the volume of the rows that they are of; as many are left as the rank."""
    model = ph.load(name)
    system = ph.compile(model)
    start = system.project(model.start.q, np.zeros(model.nv)).q
    A, M = system.constraint_rows(start, np.zeros(model.nv)).A, system.mass_matrix(start)
    B = np.linalg.solve(np.linalg.cholesky(M), A.T).T / np.array(system.conditions.sizes)[:, None]
    singular = np.linalg.svd(B, compute_uv=False)
    found = system.constraint_pivots(start)
    assert found.shape == (len(A),)
    left = found[found > 0]
    assert len(left) == np.sum(singular > 1e-9)
    assert np.min(left) >= 0.999 * singular[len(left) - 1]  # of a row beside the others, never below σ
    present = B[np.any(abs(B) > 1e-12, axis=1)]
    if len(present) == len(left):
        assert np.sum(np.log(left)) == pytest.approx(np.linalg.slogdet(present @ present.T)[1] / 2, abs=1e-9)


def test_a_pivot_passes_through_zero_where_rank_is_lost():
    model = ph.load("n-four-bar-1")
    system = ph.compile(model)
    angle = np.array([-1e-3, -1e-6, 0.0, 1e-6, 1e-3])  # of the rods, from where they lie flat
    q = np.outer(angle, np.sign(model.start.q))
    weakest = np.sort(system.constraint_pivots(q), axis=1)[:, -2]
    assert weakest[2] == 0.0
    assert weakest[[0, 4]] == pytest.approx(1e3 * weakest[[1, 3]], rel=1e-3)
