"""What keeps a run where its constraints hold: projection, Baumgarte, index 2, index 3; each with its order."""

import numpy as np
import pytest

import polhode as ph

LONG = pytest.mark.long
KEPT = {
    "index-3": ("generalized-alpha", 2),
    "ggl by two stages": ("radau2", 3),
    "ggl by three stages": ("radau3", 5),
}


def heavy_top():
    """The top of Brüls and Cardona in absolute coordinates: it flies, and a ball joint holds its tip."""
    body = ph.Body("top", 15.0, (0.234375, 0.46875, 0.234375), (0, 1, 0))
    tip = ph.Constraint("tip", "spherical", {"body_b": "top"})
    return ph.Model(
        "top", bodies=[body], joints=[ph.Joint("j", "free", "world", "top")], constraints=[tip],
        start=ph.Start(q=(0, 0, 0, 1, 0, 0, 0), v=(0, 0, 0, 0, 15.0, -4.61538), duration=0.5),
    )  # fmt: skip


def errors(model, way, duration, steps):
    """How far two runs are from the motion, with one step and half of it; the finer run."""
    method, _ = KEPT[way]
    exact = ph.simulate(model, duration=duration, tolerance=1e-13, samples=2)
    found = []
    for count in (steps, 2 * steps):
        options = {"constraints": way.partition(" ")[0], "method": method, "step": duration / count}
        run = ph.simulate(model, duration=duration, samples=2, **options)
        assert run.attrs["status"] == "finished", run.attrs["reason"]
        found.append(max(np.max(abs(run[x].values[-1] - exact[x].values[-1])) for x in "qv"))
    return found, run


CASES = [("four-bar", 0.4, 40), ("rolling-disk", 0.4, 20), pytest.param("slider-crank-3d", 0.4, 80, marks=LONG)]
CASES += [pytest.param("bricard", 0.4, 10, marks=LONG), ("n-four-bar-1", 0.2, 20)]
"""Among them two whose conditions are redundant."""


@pytest.mark.parametrize(("name", "duration", "steps"), CASES)
@pytest.mark.parametrize("way", [*list(KEPT)[:2], pytest.param("ggl by three stages", marks=LONG)])
def test_steps_that_solve_for_multipliers_have_their_order(name, duration, steps, way):
    (coarse, fine), run = errors(ph.load(name), way, duration, steps)
    assert np.log2(coarse / fine) == pytest.approx(KEPT[way][1], abs=0.35)
    assert np.nanmax(abs(run["constraint_residual"].values)) < 1e-12
    if way.startswith("ggl"):
        assert np.max(abs(run["constraint_rate"].values)) < 1e-12
    assert run.attrs["constraint_policy"] == way.partition(" ")[0]


@pytest.mark.parametrize("way", list(KEPT)[:2])
def test_on_quaternions_they_have_their_order_too(way):
    (coarse, fine), run = errors(heavy_top(), way, 0.1, 50)
    assert np.log2(coarse / fine) == pytest.approx(KEPT[way][1], abs=0.3)
    assert np.linalg.norm(run["q"].values[-1, 3:]) == pytest.approx(1, abs=1e-14)
    assert run.attrs["norm_policy"] == "Lie group"


def drift(**options):
    run = ph.simulate(ph.load("four-bar"), duration=10, tolerance=1e-7, samples=101, **options)
    return np.nanmax(abs(run["constraint_residual"].values[-20:])), run


def test_without_anything_a_run_drifts_and_with_baumgarte_it_stays():
    (free, one), (pulled, other), (kept, _) = (drift(constraints=way) for way in ("none", "baumgarte", "project"))
    assert kept < 1e-12
    assert 1e-9 < pulled < free / 10
    assert (one.attrs["constraint_policy"], other.attrs["constraint_policy"]) == ("none", "baumgarte 5 5")


@pytest.mark.parametrize("damping", [(3.0, 3.0), (2.0, 6.0)])
def test_baumgarte_violations_obey_their_equation(damping):
    """φ̈ + 2α φ̇ + β² φ = 0, from the System's own rows: A v̇ − b = φ̈."""
    from polhode.system.system import System

    alpha, beta = damping
    model = ph.load("slider-crank-3d")
    q, v = np.array(model.start.q), np.array(model.start.v)
    q, v = q + 1e-3, v + 1e-2
    plain, pulled = System(model), System(model, baumgarte=damping)
    A, b = plain.constraint_rows(q, v)
    phi, rate = plain.constraint_residuals(q, v)
    left = A @ pulled.forward_dynamics(q, v, np.zeros(model.nv)) - b + 2 * alpha * rate + beta**2 * phi
    kept = plain.constraint_forces(q, v, np.zeros(model.nv)).dependent == 0
    assert np.max(abs(left[kept])) < 1e-10


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"constraints": "glue"}, "no such policy"),
        ({"baumgarte": (1, 1)}, "has no effect"),
        ({"constraints": "baumgarte", "baumgarte": (1,)}, "not two numbers"),
        ({"constraints": "baumgarte", "baumgarte": (-1, 1)}, "out of range"),
        ({"constraints": "ggl", "method": "rk4", "step": 0.1}, "is a matter of its method"),
        ({"constraints": "index-3"}, "takes equal steps"),
        ({"constraints": "ggl", "step": 0.1, "sensitivities": ["gravity"]}, "no derivatives of such a run"),
    ],
)
def test_wrong_choices_are_told(options, what):
    with pytest.raises(ph.PolhodeError, match=what):
        ph.simulate(ph.load("four-bar"), **options)


def test_a_tree_has_nothing_to_keep():
    with pytest.raises(ph.PolhodeError, match="the model has no constraints"):
        ph.simulate(ph.load("pendulum"), constraints="none")


def test_index_2_refuses_a_body_without_inertia():
    arm = ph.Body("ball", 1.0, (0, 0, 0), (1, 0, 0))
    hinge = ph.Constraint("hinge", "revolute", {"body_b": "ball", "axis_a": (0, 1, 0), "axis_b": (0, 1, 0)})
    model = ph.Model("A01", bodies=[arm], joints=[ph.Joint("j", "free", "world", "ball")], constraints=[hinge])
    with pytest.raises(ph.PolhodeError, match="needs M⁻¹"):
        ph.simulate(model, constraints="ggl", step=0.01)
