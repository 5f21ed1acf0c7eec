"""Options of a sweep: one table for keywords, docstring and command line, checked once."""

import inspect
from dataclasses import fields

import pytest

import polhode as ph
from polhode.cli import main
from polhode.ensemble.option_table import FLAGS, RUN_FLAGS, STUDY_RUN_OPTIONS, SWEEP_OPTIONS
from polhode.ensemble.study import STUDY_DEFAULTS, Study
from polhode.ensemble.sweep_options import SweepKeywords, SweepOptions


def test_the_record_the_table_and_the_keywords_name_the_same_options():
    assert [field.name for field in fields(SweepOptions)] == list(SWEEP_OPTIONS)
    assert set(SweepKeywords.__annotations__) == {*SWEEP_OPTIONS, *STUDY_DEFAULTS}
    assert set(STUDY_DEFAULTS) <= {*(field.name for field in fields(Study)), *STUDY_RUN_OPTIONS}
    assert SweepOptions() == SweepOptions(**{name: option.default for name, option in SWEEP_OPTIONS.items()})


def test_signature_docstring_and_command_line_show_every_option():
    shown = inspect.signature(ph.sweep).parameters
    known = {parameter.name: parameter for parameter in main.commands["sweep"].params}
    for name, option in (SWEEP_OPTIONS | STUDY_RUN_OPTIONS).items():
        assert shown[name].default == option.default
        assert f"    {name:14} {option.help.splitlines()[0]}" in ph.sweep.__doc__
    for name, flag in (FLAGS | RUN_FLAGS).items():
        assert flag.help in known[name].help
        assert known[name].default == (None if flag.default else SWEEP_OPTIONS[name].default)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"resume": True}, "nothing to resume"),
        ({"out": "x", "resume": True, "force": True}, "contradictory options"),
        ({"scheduler": "tcp://a:1"}, "no store"),
        ({"out": "x", "scheduler": "tcp://a:1", "device": "cuda"}, "contradictory options"),
        ({"chunk": 0}, "not a number of runs"),
        ({"threads": 10**6}, "too many"),
        ({"max_runs": 0}, "not a limit"),
    ],
)
def test_options_that_do_not_hold_are_refused(options, told):
    with pytest.raises(ph.InputError, match=told):
        SweepOptions(**options)


@pytest.mark.parametrize(
    ("word", "meant"), [("sead", "seed"), ("overwrite", "force"), ("n_runs", "runs"), ("dt", "step")]
)
def test_an_unknown_keyword_is_a_type_error_that_names_the_one_that_is_meant(word, meant):
    told = rf"sweep.. got an unexpected keyword argument '{word}'. Did you mean '{meant}'"
    with pytest.raises(TypeError, match=told):
        ph.sweep(ph.load("pendulum"), {"gravity": ph.Uniform(0, 1)}, **{word: 3})
