"""Natural sizes of rows on disk: those that were computed, digit by digit, or none."""

from dataclasses import replace

import pytest

import polhode as ph
from polhode.constrain.row_scales import Scales
from polhode.system import constrained_model
from polhode.system.constrained_model import constrained_dynamics


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache of its own; computed: how often sizes were computed."""
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path / "kernels"))
    compute, computed = constrained_model.scales, []
    monkeypatch.setattr(constrained_model, "scales", lambda *given: computed.append(1) or compute(*given))
    return tmp_path / "kernels", computed


def sizes(model):
    """Natural sizes in a model that nothing is known of in this process."""
    return constrained_dynamics(model).scales


def files(folder):
    return [file for file in folder.glob("*.facts") if b"singular_mass" in file.read_bytes()]


@pytest.mark.parametrize("name", ["four-bar", "bicycle", "stewart-platform", "closed-chain", "rolling-disk"])
def test_sizes_from_disk_are_those_that_were_computed(place, name):
    folder, computed = place
    first, second = sizes(ph.load(name)), sizes(ph.load(name))
    assert len(computed) == 1
    assert first == second
    assert repr(first) == repr(second)  # names of kernels tell floats of NumPy from Python's
    assert len(files(folder)) == 1


@pytest.mark.parametrize("change", [{"start": ph.Start(q=(1.4, -1.1, 1.4))}, {"gravity": (0.0, 0.0, -1.0)}])
def test_another_model_or_start_has_sizes_of_its_own(place, change):
    folder, computed = place
    sizes(ph.load("four-bar"))
    sizes(replace(ph.load("four-bar"), **change))
    assert len(computed) == len(files(folder)) == 2


@pytest.mark.parametrize("damage", ["flip", "empty", "gone"])
def test_damaged_sizes_are_computed_anew(place, damage):
    folder, computed = place
    first = sizes(ph.load("four-bar"))
    (file,) = files(folder)
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.unlink() if damage == "gone" else file.write_bytes(b"" if damage == "empty" else data)
    assert sizes(ph.load("four-bar")) == first
    assert len(computed) == 2


GOOD = {"sizes": [1.0, 2.0], "units": [1.0, 0.5], "singular_mass": False}


def test_only_whole_facts_are_sizes():
    read = constrained_model._kept_scales
    assert read(GOOD, 2) == Scales((1.0, 2.0), (1.0, 0.5), False)
    wrong = [None, {}, GOOD | {"sizes": [1.0]}, GOOD | {"units": [1.0, 0.0]}, GOOD | {"sizes": [1, 2.0]},
             GOOD | {"singular_mass": 0}, GOOD | {"more": 1}, GOOD | {"sizes": [1.0, float("nan")]},
             GOOD | {"units": "ab"}]  # fmt: skip
    assert [read(facts, 2) for facts in wrong] == [None] * len(wrong)


def test_models_whose_numbers_are_inputs_keep_none(place):
    """A sweep has thousands of them."""
    folder, computed = place
    sizes(ph.load("four-bar").with_numbers({"bodies.crank.mass": 0.5}))
    assert computed
    assert not folder.exists() or not files(folder)


def test_models_with_functions_of_users_keep_none(place):
    folder, _ = place
    body, joint = ph.Body("rod", 1.0, (0.1, 0.1, 0.01)), ph.Joint("slide", "free", "world", "rod")
    hold = ph.Constraint("hold", "function", {"function": lambda t, q: (q[0],), "rows": 1})
    sizes(ph.Model("held", bodies=[body], joints=[joint], constraints=[hold]))
    assert not folder.exists() or not files(folder)
