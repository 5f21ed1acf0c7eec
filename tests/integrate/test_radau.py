"""Radau IIA under control of its error: its constants, order, damping, and machines with beams."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from polhode.integrate.radau import ALPHA, BETA, GAMMA, T_INVERSE, T
from polhode.integrate.tableaus import RADAU3


def test_the_transformation_splits_the_rule_into_one_real_and_one_complex_part():
    A = np.array([[row[j] for j in range(3)] for row in RADAU3.A])
    np.testing.assert_allclose(np.array(T) @ T_INVERSE, np.eye(3), atol=1e-15)
    expected = [[GAMMA, 0, 0], [0, ALPHA, -BETA], [0, BETA, ALPHA]]
    np.testing.assert_allclose(T_INVERSE @ np.linalg.inv(A) @ T, expected, atol=1e-14)


def tip(model, **options):
    run = ph.simulate(model, duration=0.4, samples=[0.4], verify=False, **options)
    assert run.attrs["status"] == "finished", run.attrs["reason"]
    return run.q.values[-1]


SOFT = ph.Section(
    axial=50.0, torsion=1.0, bending_y=1.0, bending_z=1.0, mass=1.0, inertia_y=1e-2, inertia_z=1e-2, height=0.1
)


@pytest.mark.parametrize("held", [(), pytest.param(("elongation",), marks=pytest.mark.long)])
def test_steps_of_beams_converge_with_order_five(held):
    """Against the explicit method; under constraints too."""
    beam = ph.Beam("b", SOFT, start=("world", (0, 0, 0)), end=(1, 0, 0), elements=2, held=held)
    model = ph.Model("soft", beams=[beam])
    best = tip(model, method="dop853", tolerance=1e-13)
    errors = [np.max(abs(tip(model, method="radau", step=h) - best)) for h in (0.02, 0.01)]
    assert errors[1] < 1e-7
    assert np.log2(errors[0] / errors[1]) > 4.2


def test_control_keeps_the_tolerance():
    beam = ph.Beam("b", SOFT, start=("world", (0, 0, 0)), end=(1, 0, 0), elements=2)
    model = ph.Model("soft", beams=[beam])
    best = tip(model, method="dop853", tolerance=1e-13)
    for tolerance in (1e-4, 1e-7):
        assert np.max(abs(tip(model, tolerance=tolerance) - best)) < 10 * tolerance


def test_a_spinning_body_has_order_five():
    """Quaternions turn, without any stiffness to know of."""
    model = ph.load("t-handle")
    ends = {h: ph.simulate(model, duration=2.0, step=h, method="radau", verify=False).q.values[-1] for h in (0.1, 0.05)}
    best = ph.simulate(model, duration=2.0, tolerance=1e-13, verify=False).q.values[-1]
    errors = [np.max(abs(x - best)) for x in ends.values()]
    assert np.log2(errors[0] / errors[1]) > 4.2


def test_what_is_stiff_is_stepped_over():
    """At the rest of a steel ruler, whose fastest vibration has a million radians a second, a few steps are enough."""
    section = ph.Section.rectangle(0.02, 0.002)
    beam = ph.Beam("b", section, start=("world", (0, 0, 0)), end=(0.5, 0, 0), elements=3, damping=1e-3)
    model = ph.Model("ruler", beams=[beam])
    run = ph.simulate(model, q=ph.equilibrium(model).q, duration=1.0, tolerance=1e-6, samples=3, verify=False)
    assert run.attrs["method"] == "radau"
    assert run.attrs["steps_taken"] < 20
    assert np.max(abs(run.v.values)) < 1e-9


def test_long_steps_are_guessed_from_the_step_before():
    """A turning beam: its stiff axis turns within a step, and steps are as long as bending allows."""
    section = ph.Section(2.8e7, 1e4, 1.4e4, 1.4e4, 1e7, 1e7, 1.2, 6e-4, 6e-4)
    hub = ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1))
    beam = ph.Beam("b", section, start=("hub", (0, 0, 0)), end=(10, 0, 0), elements=2, mass="consistent")
    model = ph.Model("spin", (0, 0, 0), bodies=[ph.Body("hub", 1.0, (1e6, 1e6, 1e6))], joints=[hub], beams=[beam])
    speed = 3.0
    v = [speed, 0, 5 * speed, 0, 0, 0, speed, 0, 10 * speed, 0, 0, 0, speed]
    run = ph.simulate(model, v=v, duration=6.0, tolerance=1e-4, samples=2, verify=False)
    assert run.attrs["steps_taken"] < 150
    momentum = run.angular_momentum.values[:, 2]
    assert abs(momentum[1] / momentum[0] - 1) < 1e-4


def test_steps_of_a_bar_that_is_nearly_rigid_are_those_of_its_turning():
    """A pendulum of a hinged bar, ten thousand times as stiff as steel: a step is accepted where its stages were found,
    and what is stiff bounds its size little."""
    steel, hinge = ph.Material(210e13, 0.3, 7850.0), ph.BeamEnd("world", (0, 0, 0), "revolute", (0, 1, 0))
    section = ph.Section.circle(0.01, steel)
    bar = ph.Beam("b", section, start=hinge, end=(1, 0, 0), elements=4, mass="consistent", plane=(0, 1, 0))
    run = ph.simulate(ph.Model("bar", beams=[bar]), duration=1.0, tolerance=1e-4, samples=11, verify=False)
    J = section.mass / 3 + section.inertia_y
    whole = ph.Body("b", section.mass, (1.0, J - section.mass / 4, 1.0), center=(0.5, 0, 0))
    rigid = ph.Model("rigid", bodies=[whole], joints=[ph.Joint("j", "revolute", "world", "b", axis=(0, 1, 0))])
    best = ph.simulate(rigid, duration=1.0, tolerance=1e-12, samples=11, verify=False).q.values[:, 0]
    tip = run.position.sel(body="b-4").values[:, [0, 2]]
    np.testing.assert_allclose(tip, np.column_stack([np.cos(best), -np.sin(best)]), atol=5e-4)
    assert run.attrs["steps_taken"] + run.attrs["steps_refused"] < 130


@pytest.mark.long
@pytest.mark.parametrize("options", [{"tolerance": 1e-9}, {"step": 0.02}])
def test_sensitivities_are_those_of_central_differences(options):
    def ended(stiffness, **more):
        section = replace(SOFT, bending_y=ph.Parameter("EI", stiffness))
        beam = ph.Beam("b", section, start=("world", (0, 0, 0)), end=(1, 0, 0), elements=2)
        model = ph.Model("soft", beams=[beam])
        return ph.simulate(model, duration=0.4, samples=[0.4], verify=False, **options, **more)

    h, places = 1e-4, [0, 1, 2, 7, 8, 9]
    ends = [ended(1.0 + x).q.values[-1][places] for x in (h, -h)]
    found = ended(1.0, sensitivities=["EI"]).sensitivity_q.sel(parameter="EI").values[-1]
    np.testing.assert_allclose(found[[0, 1, 2, 6, 7, 8]], (ends[0] - ends[1]) / (2 * h), atol=2e-6)


def test_a_gradient_backward_is_refused_by_name():
    beam = ph.Beam("b", SOFT, start=("world", (0, 0, 0)), end=(1, 0, 0), elements=2)
    with pytest.raises(ph.CompileError, match="no way back through a step of 'radau'"):
        ph.gradient(ph.Model("soft", beams=[beam]), lambda q, v: q[0], ["bodies.b-1.mass"], duration=0.1)
