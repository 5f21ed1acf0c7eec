"""Variables that are computed when they are read: once, the same values, also in copies, pickles and files."""

import copy
import pickle

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from polhode.bench.beams import PLANE, spin_up
from polhode.check.constraint_monitor import ConstraintMonitor
from polhode.result import dataset
from polhode.result.deferred import DOUBLE, DeferredArray, DeferredDict, DeferredGroup, variable_data
from polhode.simulation.observer import Observer

NAMES = ("multiplier", "reaction_force", "determined", "rank", "smallest_singular_value")


@pytest.fixture(scope="module")
def four_bar():
    return ph.load("four-bar")


@pytest.fixture
def counted(monkeypatch):
    """The variables that were asked for, call by call."""
    calls, own = [], ConstraintMonitor.__call__

    def call(self, arrays, tau, wanted):
        calls.append(list(wanted))
        return own(self, arrays, tau, wanted)

    monkeypatch.setattr(ConstraintMonitor, "__call__", call)
    return calls


def test_a_group_is_computed_once_when_the_first_of_it_is_read():
    calls = []

    def function():
        calls.append(1)
        return {"a": np.arange(6.0).reshape(2, 3), "b": np.arange(2.0)}

    group = DeferredGroup(function, {"a": DOUBLE, "b": DOUBLE})
    run = xr.Dataset(
        {
            "a": xr.Variable(("x", "y"), variable_data(DeferredArray(group, "a", (2, 3)))),
            "b": xr.Variable("x", variable_data(DeferredArray(group, "b", (2,)))),
        }
    )
    assert not calls
    assert run["a"].shape == (2, 3)
    assert run["a"].isel(x=1, y=[0, 2]).values.tolist() == [3.0, 5.0]
    assert run["b"].values.tolist() == [0.0, 1.0]
    run["a"][0, 0] = 7.0
    assert run["a"].values[0, 0] == 7.0
    assert calls == [1]


def test_reactions_and_ranks_are_computed_when_they_are_read(four_bar, counted):
    run = ph.simulate(four_bar, duration=0.1, verify=False)
    assert not any(set(NAMES) & {*call} for call in counted)
    values = {name: run[name].values for name in NAMES}
    assert [call for call in counted if set(NAMES) & {*call}] == [
        ["multiplier", "reaction_force", "reaction_torque"],
        ["determined", "rank", "degrees_of_freedom", "smallest_singular_value"],
    ]
    assert values["rank"].tolist() == [2] * len(run["time"])
    again = ph.simulate(four_bar, duration=0.1, verify=False, keep=list(NAMES))
    for name in NAMES:
        np.testing.assert_array_equal(again[name].values, values[name])


def test_copies_pickles_and_files_hold_the_values(four_bar, tmp_path):
    run = ph.simulate(four_bar, duration=0.1, verify=False)
    others = {"copy": copy.deepcopy(run), "shallow": run.copy(), "pickle": pickle.loads(pickle.dumps(run))}
    run.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    others["file"] = xr.load_dataset(tmp_path / "run.nc", engine="h5netcdf")
    for other in others.values():
        for name in NAMES:
            np.testing.assert_array_equal(other[name].values, run[name].values)


@pytest.fixture
def seen(monkeypatch):
    """Calls of the observer."""
    calls, own = [], Observer.__call__
    monkeypatch.setattr(Observer, "__call__", lambda self, q, v: calls.append(len(q)) or own(self, q, v))
    return calls


def test_energies_that_no_grade_looks_at_are_computed_when_they_are_read(seen):
    """Of a beam that is driven nothing is conserved."""
    model, asked = spin_up(1, "consistent", PLANE), {"duration": 0.2, "samples": 3, "tolerance": 1e-2, "verify": False}
    run = ph.simulate(model, **asked)
    text = run.attrs["grade"]
    assert not seen
    run["q"].values[...] = run["v"].values[...] = 7.0
    names = ["position", "omega_body", "kinetic_energy", "potential_energy", "total_energy", "section_force"]
    values = {name: run[name].values for name in names}
    assert seen == [3]
    again = ph.simulate(model, **asked)
    whole = Observer(model)(again["q"].values, again["v"].values)
    whole["total_energy"] = whole["kinetic_energy"] + whole["potential_energy"]
    for name in names:
        np.testing.assert_array_equal(values[name], whole[name])
    assert again.attrs["grade"] == text


def test_energies_that_a_grade_looks_at_are_computed_at_once(seen):
    run = ph.simulate(ph.load("pendulum"), duration=0.1, samples=4, verify=False)
    assert seen == [4]
    assert run["kinetic_energy"].values.shape == (4,)
    assert seen == [4]


def test_a_model_with_functions_is_observed_at_once(counted):
    """A function may give other values when the Dataset is read."""
    bodies = [ph.Body("bob", 1.0, (0.1, 0.1, 0.1))]
    wire = ph.Constraint("wire", "function", {"function": lambda t, q: q[2] - q[0] * q[0]})
    model = ph.Model("bead", bodies=bodies, joints=[ph.Joint("free", "free", "world", "bob")], constraints=[wire])
    ph.simulate(model, duration=0.01, verify=False)
    assert any("multiplier" in call for call in counted)


def test_what_is_written_to_a_run_does_not_reach_what_is_read_later(four_bar):
    """Reactions are those of the motion, also of a Dataset whose coordinates were changed before they were read."""
    asked = {"duration": 0.1, "samples": 5, "verify": False}
    wanted, run = ph.simulate(four_bar, **asked).load(), ph.simulate(four_bar, **asked)
    kept = run.copy(deep=True)
    for name in ("q", "v"):
        run[name].values[...] = 7.0
    for name in NAMES:
        np.testing.assert_array_equal(run[name], wanted[name])
        np.testing.assert_array_equal(kept[name], wanted[name])


WAYS = {
    "dict": dict,
    "unpacked": lambda d: {**d},
    "named": lambda d: dict(**d),
    "copy": lambda d: d.copy(),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda d: pickle.loads(pickle.dumps(d)),
    "update": lambda d: {} | d,
    "or": lambda d: d | {},
    "items": lambda d: dict(d.items()),
    "values": lambda d: dict(zip(d, d.values(), strict=True)),
    "get": lambda d: {key: d.get(key) for key in "abc"},
    "setdefault": lambda d: {key: d.setdefault(key, "other") for key in "abc"},
    "pop": lambda d: {key: d.pop(key) for key in "abc"},
    "popitem": lambda d: dict(reversed([d.popitem() for _ in "abc"])),
    "into another": lambda d: (found := {}, found.update(d))[0],
    "repr": lambda d: eval(repr(d)),
}


def deferred(made):
    return DeferredDict(lambda: made.append(1) or {key: {"of": key} for key in "abc"})


@pytest.mark.parametrize("way", WAYS)
def test_however_a_dict_is_read_its_items_are_made_before_and_once(way):
    expected, made = {key: {"of": key} for key in "abc"}, []
    whole = deferred(made)
    found = WAYS[way](whole)
    assert type(found) is dict
    assert list(found.items()) == list(expected.items())
    assert len(whole) == (0 if way.startswith("pop") else 3)
    assert made == [1]


@pytest.mark.parametrize(
    "asked",
    [len, bool, lambda d: "a" in d, lambda d: d["a"], lambda d: d == deferred([]), lambda d: d != {}, reversed, iter],
)
def test_whatever_is_asked_of_a_dict_it_is_that_of_a_full_one(asked):
    made = []
    found, plain = asked(deferred(made)), asked(dict(deferred([])))
    assert made == [1]
    assert (list(found) == list(plain)) if hasattr(found, "__next__") else found == plain


def test_what_is_written_to_a_dict_stays():
    whole = deferred([])
    whole["a"] = 1
    del whole["b"]
    whole |= {"d": 4}
    assert dict(whole) == {"a": 1, "c": {"of": "c"}, "d": 4}
    whole.clear()
    assert not whole


def test_records_of_variables_are_made_when_one_is_read(monkeypatch):
    made, maker = [], dataset.variable_maker(xr)
    monkeypatch.setattr(dataset, "variable_maker", lambda xr: lambda *parts: made.append(parts) or maker(*parts))
    run = ph.simulate(ph.load("pendulum"), duration=0.5, samples=4, verify=False)
    assert run.attrs["status"] == "finished"
    assert dict(run.sizes)["time"] == 4
    assert not made
    before = run["q"].values.copy()
    assert len(made) == len(run.data_vars)
    run["q"].values[...] = 7.0
    np.testing.assert_array_equal(run["q"], np.full_like(before, 7.0))
    assert len(made) == len(run.data_vars)
