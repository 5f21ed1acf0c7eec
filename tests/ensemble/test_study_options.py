"""Options of the runs of a study: a RunOptions, whole; runs side by side are those of `simulate` with the same ones."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from polhode.ensemble.option_table import OF_ALL_RUNS, ONE_RUN, REFUSALS, RENAMED, STUDY_RUN_OPTIONS
from polhode.ensemble.study import study
from polhode.ensemble.study_options import BatchKeywords
from polhode.ensemble.sweep_options import SweepKeywords
from polhode.formats.overrides import overridden
from polhode.simulation.option_table import RUN_OPTIONS
from study_cases import small

STEPS = {"duration": 0.04, "step": 0.01, "every": 2}
LIGHT, HEAVY = ph.load("four-bar").bodies[0].mass, 0.7
MASSES = {"bodies.crank.mass": ph.Grid([LIGHT, HEAVY])}
"""The crank of the model as it is, and another."""


def test_every_option_of_a_run_is_taken_refused_or_the_studys_own():
    taken = {RENAMED.get(name, name) for name in RUN_OPTIONS if name not in (*ONE_RUN, *OF_ALL_RUNS)}
    assert taken == set(BatchKeywords.__annotations__) == set(STUDY_RUN_OPTIONS)
    assert set(OF_ALL_RUNS) <= set(SweepKeywords.__annotations__)
    assert {refusal.option for refusal in REFUSALS} <= set(RUN_OPTIONS)


POLICIES = {
    "none": {"constraints": "none", "method": "rk4"},
    "baumgarte": {"constraints": "baumgarte", "baumgarte": (20.0, 30.0), "method": "rk4"},
    "project": {"constraints": "project", "method": "rk4", "rank_tolerance": 1e-9},
    "multipliers": {"engine": "multipliers", "constraints": "baumgarte", "method": "rk4"},
    "index-3": {"constraints": "index-3"},
    "ggl": {"constraints": "ggl"},
}


LONG = ("multipliers", "index-3", "ggl")


@pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.long] * (x in LONG)) for x in POLICIES])
def test_runs_of_a_four_bar_are_those_of_simulate_under_every_policy(name):
    model, options = ph.load("four-bar"), POLICIES[name]
    many = ph.sweep(model, MASSES, **STEPS, **options)
    one = ph.simulate(model, **STEPS, **options, keep=["q", "v"])
    assert np.array_equal(many["q"][0], one["q"])
    assert np.array_equal(many["v"][0], one["v"])
    if name in LONG:
        one = ph.simulate(overridden(model, [f"bodies.crank.mass={HEAVY}"]), **STEPS, **options, keep=["q", "v"])
        assert np.allclose(many["q"][1], one["q"], rtol=0, atol=1e-13)
        assert np.allclose(many["v"][1], one["v"], rtol=0, atol=1e-12)


def test_policies_differ_and_do_not_share_a_kernel_on_disk():
    model = ph.load("four-bar")
    found = [
        ph.sweep(model, MASSES, **STEPS, **POLICIES[name])["q_end"].values for name in ("none", "baumgarte", "project")
    ]
    gaps = [abs(found[a] - found[b]).max() for a, b in ((0, 1), (0, 2), (1, 2))]
    assert min(gaps) > 1e-9


def test_starts_are_moved_onto_the_constraints_as_simulate_moves_them():
    model = ph.load("four-bar")
    first = model.start.q[0]
    drawn = {"start.q.motor": ph.Grid([first, first + 0.05])}
    options = {**STEPS, "method": "rk4"}
    assert ph.sweep(model, drawn, **options)["status"].values.tolist() == [1, 5]
    many = ph.sweep(model, drawn, **options, move_start=True)
    assert many["status"].values.tolist() == [1, 1]
    for k in range(2):
        q = [many["sample"].values[k, 0], *model.start.q[1:]]
        one = ph.simulate(model, q=q, **options, move_start=True)
        assert np.allclose(many["q"][k], one["q"], rtol=0, atol=1e-12)
    assert abs(many["q"][1, 0, 0] - first) > 0.01


def test_an_event_that_ends_a_run_is_a_stop():
    model, drawn = ph.load("double-pendulum"), {"start.v.hinge": ph.Grid([-2.0, 2.0])}
    options = {"q": [0.1, 0.0], "duration": 0.2, "step": 0.01, "method": "rk4"}
    event = ph.Event("down", lambda t, q, v: q[0], direction=-1, terminal=True)
    found = ph.sweep(model, drawn, **options, events=[event])
    other = ph.sweep(model, drawn, **options, stop={"down": ph.Stop("q.hinge", -1)})
    assert found["status"].values.tolist() == [2, 1]
    assert found["event"].attrs["stops"] == ["down"]
    assert found["end_time"].equals(other["end_time"])
    with pytest.raises(ph.InputError, match=r"event 'down'(.|\n)*taken"):
        ph.sweep(model, drawn, **options, events=[event], stop={"down": ph.Stop("q.hinge", -1)})


def test_samples_may_be_times_with_equal_steps_and_with_steps_under_control():
    model = ph.load("pendulum")
    drawn = {next(path for path in model.numbers() if path.endswith(".mass")): ph.Grid([1.0, 2.0])}
    for options in ({"step": 0.01, "method": "rk4"}, {"method": "bs32", "tolerance": 1e-7}):
        found = ph.sweep(model, drawn, duration=0.2, times=[0.05, 0.1], **options)
        assert found["time"].values.tolist() == [0.0, 0.05, 0.1, 0.2]
        assert ph.sweep(model, drawn, duration=0.2, times=5, **options).sizes["time"] == 5


REFUSED = {
    "form": ({"form": "sherif-29"}, "form"),
    "method": ({"method": "cvode"}, "method"),
    "events that go on": ({"events": [ph.Event("a", lambda t, q, v: q[0])]}, "events"),
    "events that reset": ({"events": [ph.Event("a", lambda t, q, v: q[0], reset=lambda t, q, v: (q, v))]}, "events"),
    "verify": ({"verify": True}, "verify"),
    "sensitivities": ({"sensitivities": ["gravity"]}, "sensitivities"),
    "specialise": ({"specialise": True}, "specialise"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_runs_side_by_side_cannot_do_is_refused_with_what_to_do(name):
    options, option = REFUSED[name]
    (why,) = (refusal.why for refusal in REFUSALS if refusal.option == option)
    told = rf"sweep, {option}: not in a sweep(.|\n)*{why}(.|\n)*one by one: ph.simulate\(…, {option}=…\)"
    with pytest.raises(ph.InputError, match=told):
        ph.sweep(ph.load("pendulum"), {"gravity.2": ph.Grid([-9.0, -10.0])}, duration=0.1, **options)
    if option != "form":
        with pytest.raises(ph.InputError, match=told):
            ph.Study("s", ph.load("pendulum"), {}, 2, run_options=ph.RunOptions(**options))


def test_a_method_of_sundials_is_refused_where_the_models_start_names_it():
    model = ph.load("pendulum")
    model = replace(model, start=replace(model.start or ph.Start(), method="ida"))
    with pytest.raises(ph.InputError, match=r"sweep, method: not in a sweep(.|\n)*'ida'"):
        ph.sweep(model, {"gravity.2": ph.Grid([-9.0, -10.0])}, duration=0.1)


def test_every_refusal_is_tested():
    assert {option for _, option in REFUSED.values()} == {refusal.option for refusal in REFUSALS}


def test_limits_of_a_single_run_are_not_those_of_a_study():
    with pytest.raises(ph.InputError, match="max_steps of all runs together"):
        ph.Study("s", ph.load("pendulum"), {}, 2, run_options=ph.RunOptions(max_steps=10))


def test_a_study_holds_run_options_whole():
    made = small()
    given = ph.Study("s", made.model, made.samples, 4, duration=0.2, step=1e-3, method="rk4", times=5)
    assert given.run_options == ph.RunOptions(duration=0.2, step=1e-3, method="rk4", samples=5)
    assert (given.duration, given.step, given.method, given.times) == (0.2, 1e-3, "rk4", 5)
    assert replace(given, seed=3).run_options == given.run_options
    whole = ph.Study("s", made.model, made.samples, 4, run_options=given.run_options)
    assert whole.identity == given.identity == pickle.loads(pickle.dumps(given)).identity
    with pytest.raises(TypeError, match=r"Study.. got an unexpected keyword argument 'stepp'. Did you mean 'step'"):
        ph.Study("s", made.model, made.samples, 4, stepp=1e-3)


def test_a_study_without_later_options_is_described_as_before_there_were_any():
    known = {
        "name",
        "runs",
        "seed",
        "design",
        "duration",
        "step",
        "method",
        "tolerance",
        "every",
        "times",
        "norm",
        "keep",
    }
    known |= {"samples", "derived", "outputs", "stop", "measures", "tau", "start", "model"}
    assert set(small().description) == known
    assert set(small(engine="multipliers").description) == {*known, "engine"}


def test_another_policy_is_another_study(tmp_path):
    def of(**options):
        return study(ph.load("four-bar"), MASSES, **STEPS, method="rk4", **options)

    ph.sweep(of(constraints="none"), out=tmp_path / "a")
    assert ph.sweep(of(constraints="none"), out=tmp_path / "a", resume=True).sizes["run"] == 2
    with pytest.raises(
        ph.InputError, match=r"of another study(.|\n)*found constraints: the default(.|\n)*constraints: none"
    ):
        ph.sweep(of(), out=tmp_path / "a", resume=True)
