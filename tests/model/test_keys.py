"""Keys of the data of parts: each sort takes what it holds, and says what is wrong with anything else."""

import math

import pytest

import polhode as ph
from polhode.model.keys import POSITIVE, Key

GOOD = [
    (Key("number"), 3, 3.0),
    (Key("number"), ph.Parameter("k", 2.0), ph.Parameter("k", 2.0)),
    (Key("number", range=POSITIVE), 0.1, 0.1),
    (Key("numbers"), (1, 2.5, 3), (1.0, 2.5, 3.0)),
    (Key("vector"), [0, 0, 1], (0.0, 0.0, 1.0)),
    (Key("vector", of_time=True), math.sin, math.sin),
    (Key("direction"), (0.0, 3.0, 4.0), (0.0, 3.0, 4.0)),
    (Key("quaternion"), (0.6, 0.0, 0.8, 0.0), (0.6, 0.0, 0.8, 0.0)),
    (Key("word", choices=("world", "body")), "body", "body"),
    (Key("flag"), True, True),
    (Key("function"), math.sin, math.sin),
    (Key("rows"), 2, 2),
    (Key("rows"), ("a", "b"), ("a", "b")),
    (Key("body"), "arm", "arm"),
]

BAD = [
    (Key("number"), "1", "not a finite number"),
    (Key("number"), math.inf, "not a finite number"),
    (Key("number"), math.sin, "not a finite number"),
    (Key("number", range=POSITIVE), 0.0, "out of range"),
    (Key("number", range=POSITIVE), ph.Parameter("k", -1.0), "out of range"),
    (Key("number", range=POSITIVE), True, "out of range"),
    (Key("numbers"), (1.0,), "not several numbers"),
    (Key("vector"), (1.0, 2.0), "wrong size"),
    (Key("vector"), math.sin, "wrong size"),
    (Key("direction"), (0.0, 0.0, 0.0), "is zero"),
    (Key("quaternion"), (1.0, 1.0, 0.0, 0.0), "not a unit quaternion"),
    (Key("word", choices=("world", "body")), "Body", "unknown"),
    (Key("flag"), 1, "neither true nor false"),
    (Key("function"), 1.0, "not a function"),
    (Key("rows"), 0, "not a count"),
    (Key("rows"), ("a", "a"), "one name twice"),
]


@pytest.mark.parametrize(("key", "given", "kept"), GOOD)
def test_good_values_are_kept(key, given, kept):
    assert key.checked("force 'f'", "size", given) == kept


@pytest.mark.parametrize(("key", "given", "told"), BAD)
def test_bad_values_are_told_with_their_place(key, given, told):
    with pytest.raises(ph.ModelError, match=rf"^force 'f', size: {told}"):
        key.checked("force 'f'", "size", given)


def test_numbers_of_the_machine_are_those_that_have_paths():
    numeric = {key.holds for key, *_ in GOOD if key.is_numeric}
    assert numeric == {"number", "numbers", "vector", "direction", "quaternion"}
