"""The record of run options: one table for keywords, docstrings and the command line, checked once."""

import inspect
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

import polhode as ph
from polhode.cli import main
from polhode.constrain.constraint_policy import DEFAULT_POLICY
from polhode.simulation.companion import companion_of
from polhode.simulation.option_table import FLAGS, RUN_OPTIONS
from polhode.simulation.run_options import CHECKS, MotionKeywords, RunKeywords, RunOptions, checked_options
from polhode.simulation.scenario import Scenario
from run_cases import PENDULUM

POSITIONAL = ("duration", "step", "method", "tolerance")


def test_the_record_the_table_and_the_keywords_name_the_same_options():
    names = [field.name for field in fields(RunOptions)]
    assert names == list(RUN_OPTIONS)
    assert {*RunKeywords.__annotations__, *POSITIONAL} == set(names)
    assert set(MotionKeywords.__annotations__) < set(RunKeywords.__annotations__)
    assert set(CHECKS) <= set(names)


@pytest.mark.parametrize("call", [ph.simulate, ph.record])
def test_signature_and_docstring_show_every_option(call):
    shown = inspect.signature(call).parameters
    for name, option in RUN_OPTIONS.items():
        if name not in (*POSITIONAL, *(RunKeywords if call is ph.simulate else MotionKeywords).__annotations__):
            assert name not in shown
            continue
        assert f"    {name:14} {option.help.splitlines()[0]}" in call.__doc__
        expected = 2**36 if call is ph.record and name == "max_bytes" else option.default
        assert shown[name].default == expected


def test_options_of_the_command_line_are_those_of_the_table():
    known = {parameter.name: parameter for parameter in main.commands["run"].params}
    for name, flag in FLAGS.items():
        assert flag.help in known[name].help
        assert known[name].default == (None if flag.default else RUN_OPTIONS[name].default)


def test_defaults_are_options_that_hold():
    assert RunOptions() == RunOptions(**{name: option.default for name, option in RUN_OPTIONS.items()})
    assert RunOptions().policy == DEFAULT_POLICY


def test_options_are_checked_when_they_are_made_and_do_not_change():
    options = ph.RunOptions(step=1, events=[ph.Event("zero", lambda t, q, v: q[0])])
    assert (options.step, type(options.step), type(options.events)) == (1.0, float, tuple)
    with pytest.raises(FrozenInstanceError):
        options.step = 2.0
    with pytest.raises(ph.InputError, match="simulate, step: out of range"):
        replace(options, step=-1.0)
    with pytest.raises(ph.InputError, match="simulate, baumgarte: has no effect"):
        ph.RunOptions(baumgarte=(1, 1))


@pytest.mark.parametrize("given", [[0, 0.5, 1], (0.0, 0.5, 1.0), np.array([0.0, 0.5, 1.0])])
def test_options_that_were_given_as_arrays_can_be_compared_and_hashed(given):
    options = RunOptions(samples=given, constraints="baumgarte", baumgarte=given[1:])
    same = RunOptions(samples=(0.0, 0.5, 1.0), constraints="baumgarte", baumgarte=(0.5, 1.0))
    assert options == same
    assert hash(options) == hash(same)
    assert options != RunOptions(samples=3)


@pytest.mark.parametrize("call", [ph.simulate, lambda *a, **k: ph.record("nowhere", *a, **k)])
def test_an_unknown_keyword_is_a_type_error_that_names_the_nearest(call):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'smaples'. Did you mean 'samples'"):
        call(PENDULUM, smaples=3)


@pytest.mark.parametrize(
    ("word", "meant"), [("dt", "step"), ("rtol", "tolerance"), ("t_end", "duration"), ("solver", "method")]
)
@pytest.mark.parametrize("call", [ph.simulate, lambda *a, **k: ph.record("nowhere", *a, **k)])
def test_a_word_of_other_programs_is_answered_with_ours(call, word, meant):
    with pytest.raises(TypeError, match=f"'{word}'. Did you mean '{meant}'"):
        call(PENDULUM, **{word: 1})


def test_record_takes_no_option_that_it_could_not_keep():
    with pytest.raises(TypeError, match=r"record.*'sensitivities'"):
        ph.record("nowhere", PENDULUM, sensitivities=["gravity"])


def test_a_model_fills_in_duration_and_method():
    model = replace(PENDULUM, start=ph.Start(q=[1.0], duration=3.0, method="dopri54"))
    found = Scenario.of(model, None, None, None, RunOptions())
    assert (found.duration, found.method) == (3.0, "dopri54")
    asked = Scenario.of(model, None, None, None, RunOptions(duration=1.0, method="rk4", step=0.1))
    assert (asked.duration, asked.method) == (1.0, "rk4")
    plain = Scenario.of(replace(model, start=None), None, None, None, RunOptions())
    assert (plain.duration, plain.method) == (10.0, "dop853")


@pytest.mark.parametrize(
    "options", [{}, {"samples": 11}, {"step": 0.01, "method": "rk4"}, {"step": 0.01, "samples": 11}]
)
def test_a_companion_run_has_its_samples_at_the_same_times(options):
    run = Scenario.of(PENDULUM, None, None, None, RunOptions(duration=2.0, **options))
    other, _ = companion_of(run)
    times = [np.concatenate([part.samples[:] for part in scenario.segments]) for scenario in (run, other)]
    assert np.array_equal(*times)
    if run.options.fixed:
        for fine in other.segments:
            assert 2 < run.options.step / fine.h < 6
            assert fine.h * fine.counts[-1] == pytest.approx(fine.end - fine.begin)
        assert [0.0, *(fine.end for fine in other.segments)] == [*(fine.begin for fine in other.segments), 2.0]
    else:
        assert other.options.tolerance == run.options.tolerance / 100


def test_a_run_by_sundials_or_a_form_compiles_no_run_of_our_own(monkeypatch):
    def refused(*arguments):
        raise AssertionError("compiled")

    monkeypatch.setattr("polhode.simulation.run_loop.compiled_run_of", refused)
    top = ph.load("t-handle")
    assert ph.simulate(top, duration=0.1, form="sherif-29", step=0.01).attrs["status"] == "finished"
    with pytest.raises(AssertionError, match="compiled"):
        ph.simulate(top, duration=0.1)
    assert ph.simulate(top, duration=0.1, method="cvode").attrs["norm_policy"] == "none"


def test_derivatives_need_steps_of_our_own():
    with pytest.raises(ph.InputError, match="gradient: no derivatives of such a run"):
        ph.gradient(PENDULUM, lambda q, v: q[0], ["gravity"], duration=0.1, method="cvode")


def test_options_are_found_again_only_where_nothing_differs_in_value_or_type():
    first = checked_options(step=1, samples=5, verify=True)
    assert checked_options(step=1, samples=5, verify=True) is first
    assert checked_options(step=1, samples=6, verify=True) == RunOptions(step=1, samples=6, verify=True)
    with pytest.raises(ph.InputError, match="verify"):
        checked_options(step=1, samples=5, verify=1)
    times = [0.0, 1.0]
    assert checked_options(samples=times).samples == (0.0, 1.0)
    times[1] = 2.0
    assert checked_options(samples=times).samples == (0.0, 2.0)


def test_options_of_a_model_are_found_again_for_that_model_alone():
    model, options = ph.load("pendulum"), RunOptions(samples=5)
    other = replace(model, start=ph.Start(duration=3.0))
    assert options.for_model(model) is options.for_model(model)
    assert options.for_model(other).duration == 3.0
    assert options.for_model(model).duration == model.start.duration
    assert not options.for_model(model).times.flags.writeable
