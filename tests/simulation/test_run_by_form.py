"""One body by any form of `ph.forms`: the same motion in other variables, with the multiplier beside it."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from polhode.dynamics.single.variables import SingleBody
from polhode.papers.single_body import motion

TOP = ph.load("heavy-top")
RUNS = {"duration": 0.1, "step": 1e-3, "every": 20}
WITHOUT = {"sherif-32"}
"""Of rank 3: it determines no p̈."""
NAMES = [name for name in ph.forms if name not in WITHOUT and ph.forms[name].solution not in ("angles", "angle state")]


@pytest.mark.parametrize("name", NAMES)
def test_every_form_gives_the_motion_of_the_tree_to_the_order_of_the_step(name):
    slow = ph.simulate(TOP, v=[0.0, 5.0, -1.0], form=name, norm="none", **RUNS)
    tree = ph.simulate(TOP, v=[0.0, 5.0, -1.0], method="rkmk4", **RUNS)
    assert slow.attrs["form"] == name
    assert_close(slow["q"], tree["q"].values, 1e3)  # 100 steps of (h ω)⁵ ~ 1e-11
    assert_close(slow["v"], tree["v"].values, 1e4)


def test_compiled_steps_are_those_of_the_plain_motion():
    body, mass = TOP.bodies[0], TOP.bodies[0].mass
    c = np.array(body.center)
    J = np.diag(body.inertia) + mass * (c @ c * np.eye(3) - np.outer(c, c))
    single = SingleBody.make(J, TOP.start.v, TOP.start.q, force=mass * np.array(TOP.gravity), point=c)
    plain = motion("udwadia-45", single, 0.01, 1e-4, "state")
    run = ph.simulate(TOP, form="udwadia-45", duration=0.01, step=1e-4, every=1, norm="state")
    assert_close(run["q"], plain.p, 100)
    assert_close(run["v"], plain.omega, 100, scale=150.0)


def test_the_multiplier_is_the_one_that_is_predicted():
    run = ph.simulate(TOP, form="sherif-29", norm="state", **RUNS)
    assert run["multiplier"].attrs["units"] == "J"
    assert_close(run["multiplier"], run["multiplier_predicted"].values, 100)
    assert np.ptp(run["multiplier"].values) > 0


def test_a_free_body_flies_while_it_turns():
    inertia = (0.2, 0.3, 0.4)
    model = ph.Model(
        "thrown",
        bodies=[ph.Body("b", 2.0, inertia, center=(0.1, -0.2, 0.3))],
        joints=[ph.Joint("flight", "free", "world", "b", orientation=(0.5, 0.5, -0.5, 0.5))],
    )
    kwargs = {"v": [1.0, 2.0, 3.0, 0.5, -1.0, 2.0], "duration": 1.0, "step": 1e-3, "every": 100}
    run = ph.simulate(model, form="sherif-29", norm="state", **kwargs)
    tree = ph.simulate(model, method="rkmk4", **kwargs)
    assert_close(run["q"], tree["q"].values, 1e3)
    assert_close(run["v"], tree["v"].values, 1e3)


def test_renormalising_p_alone_harms_an_explicit_form():
    """Each projection of p alone turns ω into ‖p‖ω."""
    energies = {}
    for norm in ("none", "p", "state"):
        run = ph.simulate(ph.load("free-body"), form="sherif-38", norm=norm, duration=10, step=0.05)
        energies[norm] = float(np.max(abs(run["total_energy"] / run["total_energy"][0] - 1)))
        assert run.attrs["norm_policy"] == norm
    assert energies["p"] > 10 * energies["state"]


def test_a_run_that_leaves_the_numbers_is_a_result():
    run = ph.simulate(TOP, form="sherif-29", norm="none", duration=5.0, step=0.1)
    assert run.attrs["status"] == "failed"
    assert "beyond all bounds" in run.attrs["reason"]
    assert 0 < run["time"].values[-1] < 5


@pytest.mark.parametrize(
    ("model", "given", "words"),
    [
        ("double-pendulum", {"step": 1e-3}, "body 'upper', inertia: inertia is not positive definite"),
        ("rprr", {"step": 1e-3}, "joint 'slide': has stiffness"),
        ("bricard", {"step": 1e-3, "tau": [0, 0, 0, 0, 1]}, "no such input"),
        ("bricard", {"step": 1e-3, "norm": "lie"}, "norm policy does not apply"),
        ("heavy-top", {}, "equal steps"),
        ("heavy-top", {"step": 1e-3, "method": "dop853"}, "RK4"),
        ("heavy-top", {"step": 1e-3, "norm": "lie"}, "norm policy does not apply"),
        ("heavy-top", {"step": 1e-3, "tau": lambda t, q, v: v}, "no such input"),
        ("heavy-top", {"step": 1e-3, "sensitivities": ["gravity"]}, "not with a form"),
    ],
)
def test_what_a_form_cannot_run_is_told(model, given, words):
    with pytest.raises(ph.InputError, match=words):
        ph.simulate(ph.load(model), form="sherif-29", **given)


def test_an_unknown_form_is_told_with_those_that_are_near():
    with pytest.raises(ph.PolhodeError, match="sherif-29"):
        ph.simulate(TOP, form="sherif-2", step=1e-3)


def test_the_old_name_of_a_solution_still_works_with_a_warning():
    form = ph.forms["sherif-29"]
    with pytest.warns(DeprecationWarning, match=r"form\.way is now form\.solution"):
        assert form.way == form.solution


def test_a_free_body_that_leaves_all_bounds_ends_as_failed():
    """Its quaternions are no numbers any more, which nothing may refuse."""
    run = ph.simulate(ph.load("t-handle"), duration=2.0, form="sherif-23", step=0.02, tau=[0, 0, 0, 100.0, 0, 0])
    assert run.attrs["status"] == "failed"
    assert "beyond all bounds" in run.attrs["reason"]
