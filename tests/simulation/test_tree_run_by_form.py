"""Machines by any form of `ph.forms`: every body in (p, ṗ), joints as constraints, against the tree's own run."""

from functools import cache

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from polhode.kernel import evaluate, trace
from polhode.scalar import Vec
from polhode.simulation.by_form import form_run as module
from polhode.simulation.by_form.tree_run_by_form import TreeRunByForm, _place

ROD = {"mass": 1.2, "inertia": (0.1, 0.12, 0.03), "center": (0.02, 0.01, -0.5)}
OTHER = ("state", "angles", "angle state")


def chain(first, **axis):
    """Two rods, their mass centres off the axes."""
    elbow = ph.Joint("elbow", "revolute", "upper", "lower", position=(0, 0, -1), axis=(0.6, 0.8, 0))
    joints = [ph.Joint("shoulder", first, "world", "upper", **axis), elbow]
    return ph.Model(f"{first} arm", bodies=[ph.Body("upper", **ROD), ph.Body("lower", **ROD)], joints=joints)


DOUBLE = chain("revolute", axis=(0, 1, 0))
ARM = chain("spherical")
SPEEDS = [1.0, 2.0, 3.0, -1.0]


@cache
def tree_with_every_joint():
    rng = np.random.default_rng(1)

    def joint(name, kind, parent, **data):
        p = rng.normal(size=4)
        at = {"position": tuple(0.3 * rng.normal(size=3)), "orientation": tuple(p / np.linalg.norm(p))}
        return ph.Joint(name, kind, parent, f"of {name}", **at, **data)

    joints = [
        joint("ball", "spherical", "world"),
        joint("hinge", "revolute", "of ball", axis=(0, 0.6, 0.8)),
        joint("slide", "prismatic", "of hinge", axis=(0.6, 0, 0.8)),
        joint("cross", "universal", "of ball", axis=(0, 0, 1), axis2=(0, 1, 0)),
        joint("sleeve", "cylindrical", "of cross", axis=(1, 0, 0)),
        joint("thread", "screw", "of cross", axis=(0, 1, 0), pitch=0.2),
        joint("table", "planar", "world"),
        joint("glue", "fixed", "of table"),
        joint("flight", "free", "of glue"),
    ]
    data = [(rng.uniform(0.5, 2), rng.uniform(0.1, 0.15, 3), 0.3 * rng.normal(size=3)) for _ in joints]
    bodies = [
        ph.Body(j.child, float(mass), tuple(moments), center=tuple(c))
        for j, (mass, moments, c) in zip(joints, data, strict=True)
    ]
    model = ph.Model("every joint", bodies=bodies[::-1], joints=joints)
    return model, rng.normal(size=model.nv)


def errors(model, v, form, steps, norm="none", duration=1.0):
    """Largest differences of q, v from the tree's own run, of joints and of lengths, for each step."""
    exact = ph.simulate(model, v=v, duration=duration, tolerance=1e-12, samples=6)
    found = []
    for step in steps:
        run = ph.simulate(model, v=v, duration=duration, form=form, norm=norm, step=step, samples=6)
        assert run.attrs["form"] == form
        off = [abs(run[name].values - exact[name].values).max() for name in ("q", "v")]
        found.append([*off, run["joint_residual"].values.max(), abs(run["quaternion_norm"].values - 1).max()])
    return np.array(found)


@pytest.mark.parametrize(
    ("model", "v", "form", "norm"),
    [
        (DOUBLE, [0.5, 2.5], "sherif-29", "none"),
        (ARM, SPEEDS, "udwadia-29", "none"),
        (*tree_with_every_joint(), "udwadia-45", "state"),
    ],
    ids=["double pendulum", "arm", "every joint"],
)
def test_machines_by_a_form_converge_to_the_run_of_the_tree_at_order_four(model, v, form, norm):
    coarse, fine = errors(model, v, form, [0.01, 0.005], norm, 0.5)
    assert fine[0] < 1e-8
    ratios = coarse[:3] / fine[:3]  # of q, v and the residuals of joints
    assert np.all((ratios > 13) & (ratios < 20)), ratios
    if norm == "state":
        assert fine[3] < 1e-15
    else:
        assert 10 < coarse[3] / fine[3] < 40


def test_a_closed_loop_converges_to_its_own_run():
    coarse, fine = errors(ph.load("four-bar"), None, "sherif-38", [0.004, 0.002], "state", 0.4)
    assert fine[0] < 1e-6
    assert np.all(coarse[:3] / fine[:3] > 11)


SOLUTIONS = {form.solution: name for name, form in ph.forms.items() if form.solution not in OTHER}
FEW = ("augmented", "unit inverse", "explicit", "projected inverse")


@pytest.mark.parametrize("ways", [FEW, pytest.param(tuple(SOLUTIONS), marks=pytest.mark.long)], ids=["few", "all"])
def test_forms_agree_to_the_error_of_the_step(ways):
    """One form of each way of solving; they differ among each other no more than from the motion."""
    exact = ph.simulate(ARM, v=SPEEDS, duration=1.0, tolerance=1e-12, samples=2)["q"].values[-1]
    ends = {}
    for name in map(SOLUTIONS.__getitem__, ways):
        run = ph.simulate(ARM, v=SPEEDS, duration=1.0, form=name, norm="none", step=0.01, samples=2)
        ends[name] = run["q"].values[-1]
        assert 1e-9 < abs(ends[name] - exact).max() < 5e-7, name
        if "norm_multiplier" in run:
            off = abs(run["norm_multiplier"] - run["norm_multiplier_predicted"]).max()
            assert off < 1e-7, name
    assert all(abs(end - ends["schwab-23"]).max() < 5e-7 for end in ends.values())


def test_what_holds_the_norm_in_accelerations_alone_lets_it_go():
    """Off the sphere N = p·p obeys N̈ = 0 where p·p̈ = −ṗ·ṗ holds; of explicit forms N̈ = 2 ṗ·ṗ (1 − N).

    Sherif (34) and (38), Udwadia (42)
    """
    off = {}
    for name in ("sherif-23", "sherif-29", "udwadia-45", "sherif-38", "udwadia-29"):
        run = ph.simulate(ARM, v=SPEEDS, duration=10.0, form=name, norm="none", step=0.02, samples=3)
        off[name] = abs(run["quaternion_norm"].values[-1] - 1)
    held = np.array([off[name] for name in ("sherif-23", "sherif-29", "udwadia-45")])
    pulled = np.array([off[name] for name in ("sherif-38", "udwadia-29")])
    assert held.min() > 10 * pulled.max()


def test_one_body_that_flies_is_that_of_the_form_alone(monkeypatch):
    body = ph.Body("b", 2.0, (0.2, 0.3, 0.4), center=(0.1, -0.2, 0.3))
    flight = ph.Joint("flight", "free", "world", "b", orientation=(0.5, 0.5, -0.5, 0.5))
    model = ph.Model("thrown", bodies=[body], joints=[flight])
    given = {"v": [1.0, 2.0, 3.0, 0.5, -1.0, 2.0], "duration": 1.0, "step": 1e-2, "every": 20, "norm": "state"}
    alone = ph.simulate(model, form="sherif-29", **given)
    monkeypatch.setattr(module, "is_single", lambda model: False)
    machine = ph.simulate(model, form="sherif-29", **given)
    assert_close(machine["q"], alone["q"].values, 100)
    assert_close(machine["v"], alone["v"].values, 100)
    assert_close(machine["norm_multiplier"][:, 0], alone["multiplier"].values, 100)


def test_whole_turns_are_counted():
    """A wheel that turns by more than half a turn between samples, on a rod that swings."""
    wheel = ph.Body("wheel", 0.5, (0.02, 0.03, 0.02))
    joints = [
        ph.Joint("pin", "revolute", "world", "rod", axis=(0, 1, 0)),
        ph.Joint("axle", "revolute", "rod", "wheel", position=(0, 0, -1), axis=(0, 1, 0)),
    ]
    model = ph.Model("wheel", bodies=[ph.Body("rod", **ROD), wheel], joints=joints)
    off = errors(model, [1.0, 25.0], "sherif-38", [0.002], "state", 1.0)
    assert off[0, 0] < 1e-5


def test_a_machine_that_leaves_the_numbers_is_a_result():
    run = ph.simulate(ARM, v=SPEEDS, form="sherif-29", norm="none", duration=40.0, step=0.4)
    assert run.attrs["status"] == "failed"
    assert "beyond all bounds" in run.attrs["reason"]
    assert np.all(np.isfinite(run["joint_residual"]))


@pytest.mark.parametrize("name", [name for name, form in ph.forms.items() if form.solution in OTHER])
def test_forms_in_other_variables_are_refused_by_name(name):
    with pytest.raises(ph.InputError, match=f"(?s)in \\(p, ṗ\\).*'{name}'"):
        ph.simulate(ARM, form=name, step=0.01)


def test_forces_are_refused():
    pull = ph.Force("pull", "lower", force=(1, 0, 0))
    model = ph.Model("pulled", bodies=ARM.bodies, joints=ARM.joints, forces=[pull])
    with pytest.raises(ph.InputError, match="'pull'"):
        ph.simulate(model, form="sherif-29", step=0.01)


@pytest.mark.parametrize("norm", ["none", "p", "state"])
def test_the_norm_policy_is_that_of_every_body(norm):
    """Of a state off the sphere: p alone leaves ṗ; the whole state keeps the angular velocity of the attitude."""
    machine = TreeRunByForm(ARM, "sherif-29", norm, *map(np.array, ([1.0, 0, 0, 0, 0.3], SPEEDS)))
    x = np.random.default_rng(2).normal(size=28)
    before, after = (y.reshape(2, 14) for y in (x, np.array(machine.projected(Vec(x.tolist())))))
    places = [[_place(part, Vec(y[k])) for k, part in enumerate(machine.parts)] for y in (before, after)]
    moved = [not np.array_equal(a, b) for a, b in zip(before, after, strict=True)]
    assert moved == [norm != "none"] * 2
    assert_close(after[:, [0, 1, 2, 7, 8, 9]], before[:, [0, 1, 2, 7, 8, 9]], 1)
    if norm != "none":
        assert_close(np.linalg.norm(after[:, 3:7], axis=1), np.ones(2), 4)
    if norm == "p":
        assert_close(after[:, 10:], before[:, 10:], 1)
    if norm == "state":
        assert_close(np.sum(after[:, 3:7] * after[:, 10:], axis=1), np.zeros(2), 10, scale=1.0)
        for one, other in zip(*places, strict=True):
            assert_close(np.array(other.omega), np.array(one.omega), 100)


def test_a_run_keeps_its_norm_policy():
    for norm in ("p", "state"):
        run = ph.simulate(ARM, v=SPEEDS, duration=1.0, form="sherif-29", norm=norm, step=0.02, samples=6)
        assert abs(run["quaternion_norm"] - 1).max() < 1e-15
        assert run.attrs["norm_policy"] == norm


@pytest.mark.parametrize("form", ["sherif-29", "sherif-36", "udwadia-22"])
def test_a_joint_holds_in_accelerations_off_the_sphere(form):
    """ṙ = 0 along the motion, by differences of r, at a p of length 1.3 with p·ṗ ≠ 0."""
    hinge = ph.Joint("hinge", "revolute", "world", "rod", axis=(0.6, 0.8, 0))
    model = ph.Model("pendulum", bodies=[ph.Body("rod", **ROD)], joints=[hinge])
    machine = TreeRunByForm(model, form, "none", np.array([0.4]), np.array([2.0]))
    x = machine.start()
    x[3:7] *= 1.3
    x[10:14] += 0.7 * x[3:7]
    found = evaluate(trace(machine.rates, x=(14,)), x=x)
    system = ph.compile(machine.absolute.model)

    def slope_of_rates(xd, h=1e-5):
        ahead, behind = (system.constraint_rates(*machine._absolute_state((x + s * xd)[None]))[0] for s in (h, -h))
        return abs(ahead - behind).max() / (2 * h)

    xd = np.array(found, dtype=float).ravel()
    assert slope_of_rates(xd) < 1e-8
    assert slope_of_rates(np.concatenate([xd[:7], np.zeros(7)])) > 0.1  # without accelerations it does not hold
