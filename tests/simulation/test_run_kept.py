"""What a Dataset holds is a choice."""

import pytest

import polhode as ph


def test_only_the_variables_asked_for_are_kept():
    model, flip = ph.load("pendulum"), ph.Event("down", lambda t, q, v: q[0])
    whole = ph.simulate(model, q=[1.0], duration=2, samples=11, events=[flip])
    some = ph.simulate(model, q=[1.0], duration=2, samples=11, events=[flip], keep=["total_energy", "q"])
    assert {name for name in some.data_vars if "time" in some[name].dims} == {"q", "total_energy"}
    assert some["q"].identical(whole["q"])
    assert some.attrs["verdict"] == whole.attrs["verdict"]
    assert (some["event_time"] == whole["event_time"]).all()


def test_a_variable_that_does_not_exist_is_told_before_the_run():
    with pytest.raises(ph.InputError, match="Did you mean 'total_energy'"):
        ph.simulate(ph.load("pendulum"), duration=1, keep=["totl_energy"])
