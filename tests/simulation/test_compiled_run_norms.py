"""What keeps quaternions at unit length: nothing, the state brought back after every step, or steps on the sphere."""

import numpy as np
import pytest

import polhode as ph
from integration import ARM_START, TUMBLER, TUMBLER_START, arm
from polhode.integrate.methods import METHODS
from run_cases import attitude_gap

STEPS = 40
ROUNDING = 4 * STEPS * np.finfo(float).eps
"""Of a quaternion that is turned, never added to: some units in the last place at each step."""

GROUP = [name for name, method in METHODS.items() if method.on_group]


def tumble(norm, method="rk4", steps=STEPS):
    return ph.simulate(TUMBLER, *TUMBLER_START, duration=2.0, step=2.0 / steps, method=method, norm=norm)


def drift(run):
    return float(run["norm_error"].max())


def test_left_alone_the_length_drifts_with_the_order_of_the_method():
    """As any error of rk4: halving the step leaves a sixteenth."""
    ratio = drift(tumble("none")) / drift(tumble("none", steps=2 * STEPS))
    assert abs(np.log2(ratio) - 4) <= 0.3


def test_brought_back_the_length_stays():
    assert drift(tumble("state")) <= 2 * np.finfo(float).eps


@pytest.mark.parametrize("name", GROUP)
def test_steps_on_the_sphere_keep_the_length_whatever_the_policy(name):
    run = tumble("none", name)
    assert drift(run) <= ROUNDING
    assert run.attrs["norm_policy"] == "Lie group"


@pytest.mark.parametrize("name", ["gauss2", "gauss3"])
def test_gauss_methods_keep_the_length_by_themselves(name):
    """They keep every quadratic invariant; Newton's corrections end at 1e-10, the error after them at its square."""
    assert drift(tumble("none", name)) <= ROUNDING


@pytest.mark.parametrize("norm", ["none", "state"])
def test_the_policy_is_reported(norm):
    run = tumble(norm)
    assert run.attrs["norm_policy"] == norm
    assert run["norm_error"].sizes == {"time": run.sizes["time"]}


def test_the_policy_does_not_touch_the_velocities_of_a_free_body():
    """Its equations do not ask where it points: its velocities are the same to the bit."""
    none, state = tumble("none"), tumble("state")
    assert np.array_equal(none["v"], state["v"])


def test_a_length_off_one_enters_the_energy_by_its_eighth_power():
    """A frame that is seen through p is stretched by ‖p‖²: the axes of ω and those of the inertia, both squared."""
    none, state = tumble("none"), tumble("state")
    stretch = 8 * none["norm_error"].values + 1e-14
    assert np.all(abs(none["kinetic_energy"] / state["kinetic_energy"] - 1).values <= stretch)


def test_policies_differ_by_no_more_than_the_error_of_the_steps():
    options = {"duration": 1.0, "tolerance": 1e-9, "samples": 2}
    none, state = (ph.simulate(arm(), *ARM_START, norm=norm, **options) for norm in ("none", "state"))
    lie = ph.simulate(arm(), *ARM_START, method="rkmk-dop853", **options)
    bound = 1e-9 * none.attrs["steps_taken"] * 10
    for run in (none, lie):
        assert attitude_gap(run["q"].values[-1, :4], state["q"].values[-1, :4]) <= bound
        assert np.max(abs(run["v"].values[-1] - state["v"].values[-1])) <= bound
    assert 0 < drift(none) <= bound
