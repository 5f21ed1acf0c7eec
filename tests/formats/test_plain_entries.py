"""Model files read without pydantic: what is read so is what pydantic reads, and what is wrong goes to pydantic."""

import copy
import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies as st

from polhode.errors import ModelError
from polhode.formats import library, schema
from polhode.formats.document import Document, read_document
from polhode.formats.entries import plain_entries
from polhode.formats.entries.entry_keys import force_keys, is_data
from polhode.formats.entries.entry_values import FileContext
from polhode.formats.entries.plain_entries import PlainEntry
from polhode.formats.file_values import FILE_TYPES
from polhode.formats.yaml import _parameters
from polhode.model.forces.registry import FORCES

TEXTS = library._files()
MANY = """
name: many
parameters: {m: 2, c: 30deg, t1: 0.5*m}
gravity: [0, 0, -m]
bodies:
  a: {mass: m, inertia: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], physical: false}
  b: {mass: {parameter: mb, value: 3}, inertia: [1, 1, 1/2], center: [10mm, 0, 0]}
  c: {mass: 1.5, inertia: [1, 1, 1]}
joints:
  one: {type: revolute, parent: world, child: a, axis: [0, 1, 0], lower: -.inf, upper: [pi], damping: [0.1], rest: 0}
  two: {type: screw, parent: a, child: b, pitch: 0.1, euler: {sequence: 313, angles: [0, c, 0]}, armature: 0.1}
  three: {type: universal, parent: b, child: c, rpy: [0, 0, pi/2], axis2: [0, 1, 0], stiffness: [1, 2]}
forces:
  push: {body: a, force: [1, 0, 0]}
  spring: {type: spring, body_a: a, body_b: b, stiffness: 10*m, rest: 0.1}
  jet: {type: thrust, body: a, flow: 0.1 + 0.1*sin(t), exhaust_speed: 100}
  rubber: {type: spring, body_a: a, body_b: c, stiffness: 1, energy: e^4, law: 0.1*rate}
  law: {type: body-force, body: b, force: [-x, 0.5, z]}
constraints:
  bar: {type: distance, body_a: a, body_b: c, length: 1}
  own: {type: function, residual: one - 2*two}
  turn: {type: weld, body_a: a, body_b: c, orientation_b: [1, 0, 0, 0]}
  ball: {type: weld, body_a: a, body_b: c, rpy_a: [0, 0, c]}
configurations: {home: [0, 1, 0, 0], bent: {one: 1, three: [0.1, 0.2]}}
frames: {tip: {body: b, position: [0, 0, 1], rpy: [0, 0, 0]}}
shapes: {box: {body: a, type: box, size: [1, 2, 3]}}
start: {q: home, v: {one: 1}, duration: 5s, method: rk4}
"""
FILES = {**TEXTS, "many": MANY}
ODD = [None, True, False, 0, 7, -1.5, float("inf"), float("nan"), "", "x", "pi", "m", "30deg", "1/0", "30parsec",
       "world", "revolute", "spring", [], {}, [1.0], [1, 2, 3], [1, 2, 3, 4], [[1, 2, 3]] * 3, [[]], [None], ["a"],
       {"a": 1}, {"parameter": "m", "value": 1}, {"parameter": "m", "value": 2}, {"type": "spring"}]  # fmt: skip


def both(data):
    """What is read without pydantic, or None; what is read with it, or None; and the contexts that they were given."""
    document = Document("file", data, 1)
    first, second = FileContext(_parameters(document), []), FileContext(_parameters(document), [])
    try:
        checked = schema.model_entry_for(data).model_validate(data, context=second)
    except schema.ValidationError:
        checked = None
    return plain_entries.model_entry(data, first), checked, first, second


def assert_same(plain, checked, where=""):
    if isinstance(plain, PlainEntry):
        names = [name for name in checked.__dict__ if name in checked.model_fields_set]
        assert [*plain.__dict__] == names, where
        assert plain.model_fields_set == checked.model_fields_set, where
        assert plain.model_extra is checked.model_extra is None, where
        for name in names:
            assert_same(getattr(plain, name), getattr(checked, name), f"{where}.{name}")
        return
    assert type(plain) is type(checked), where
    if isinstance(plain, dict):
        assert [*plain] == [*checked], where
    pairs = zip(plain, checked, strict=True) if isinstance(plain, list) else ()
    pairs = [(plain[key], checked[key]) for key in plain] if isinstance(plain, dict) else pairs
    for one, other in pairs:
        assert_same(one, other, where)
    if not isinstance(plain, (dict, list)):
        assert repr(plain) == repr(checked), where


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_right_are_read_without_pydantic_as_with_it(name):
    plain, checked, first, second = both(read_document(FILES[name], name).data)
    assert plain is not None
    assert_same(plain, checked)
    assert first == second
    absent = [group for group in plain_entries.EMPTY if group not in plain.model_fields_set]
    assert all(getattr(plain, group) == getattr(checked, group) == {} for group in absent)
    assert plain.start is not None or checked.start is None


def places(data, path=()):
    yield path
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        yield from places(value, (*path, key))


@settings(max_examples=400)
@given(data=st.data())
def test_what_pydantic_refuses_or_reads_otherwise_is_never_read_without_it(data):
    name = data.draw(st.sampled_from(["many", "many", *sorted(FILES)]))
    document = copy.deepcopy(read_document(FILES[name], name).data)
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from([path for path in places(document) if path]))
        around = document
        for key in path[:-1]:
            around = around[key]
        what = data.draw(st.sampled_from(["other", "gone", "key"]))
        if what == "gone":
            del around[path[-1]]
        elif what == "key" and isinstance(around, dict):
            keys = ["type", "body", "axis", "q", "rpy", "beams", "stiffness", "nonsense", "residual", "other"]
            around[data.draw(st.sampled_from(keys))] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
        else:
            around[path[-1]] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
    try:
        plain, checked, first, second = both(document)
    except ModelError:  # of parameters, before either reads
        return
    if plain is not None:
        assert checked is not None
        assert_same(plain, checked)
        assert first.units == second.units


def test_every_sort_of_key_is_read_both_ways():
    assert {*plain_entries.READERS} == {*FILE_TYPES}
    for kind in filter(is_data, FORCES.values()):
        assert all(key.holds in FILE_TYPES or key.holds == "function" for key in force_keys(kind).values())


def test_bundled_models_need_no_pydantic():
    code = (
        "import sys, polhode as ph\n"
        f"for name in {sorted(TEXTS)!r}: ph.load(name)\n"
        "assert not [name for name in sys.modules if name.startswith('pydantic')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
