"""Calls by name in machine code: the same results and errors as the look-up in Python, and nothing leaks."""

import pickle
import sys
from inspect import signature

import numpy as np
import pytest

import polhode as ph

AXES = ("world-aligned", "local", "world")


@pytest.fixture(scope="module")
def system():
    system = ph.compile(ph.load("arm-6"))
    q = np.zeros(6)
    for body in system.model.bodies[-2:]:
        for axes in AXES:
            system.jacobian(q, body.name, axes=axes)
        system.pose(q, body.name)
    return system


@pytest.fixture
def q():
    return np.linspace(-1, 1, 6)


def expected(system, q, body, axes="world-aligned", point=(0, 0, 0)):
    return type(system).jacobian(system, q, body, point, axes)


def test_every_way_to_call_gives_the_same(system, q):
    """More bodies and words than are compared one after the other, names that are equal and not the same object."""
    assert type(system.jacobian).__name__ == "builtin_function_or_method"
    for body in (body.name for body in system.model.bodies[-2:]):
        for axes in AXES:
            known = expected(system, q, body, axes)
            other = "".join(list(body))
            assert other is not body
            for found in (
                system.jacobian(q, body, axes=axes),
                system.jacobian(q, other, axes="".join(list(axes))),
                system.jacobian(q, body=body, axes=axes),
                system.jacobian(q, body, (0, 0, 0), axes),
                system.jacobian(q.tolist(), body, axes=axes),
                system.jacobian(np.stack([q, q]), body, axes=axes)[1],
                system.jacobian(q, body, axes=axes, out=np.empty((6, 6))),
                system.jacobian(q, body, axes=axes, t=0.0),
            ):
                assert np.array_equal(found, known)
        assert np.array_equal(system.jacobian(q, body), expected(system, q, body))
        assert np.array_equal(system.jacobian(q, body, (0.1, 0, 0)), expected(system, q, body, point=(0.1, 0, 0)))
        assert isinstance(system.pose(q, body), ph.Pose)


@pytest.mark.parametrize(
    ("arguments", "options", "fault"),
    [
        (("no such",), {}, ph.ModelError),
        ((7,), {}, ph.ModelError),
        (("arm",), {"axes": "sideways"}, ph.InputError),
        (("arm",), {"axis": "local"}, TypeError),
        ((), {}, TypeError),
    ],
)
def test_mistakes_are_told_as_before(system, q, arguments, options, fault):
    names = {"arm": system.model.bodies[-1].name}
    with pytest.raises(fault) as found:
        system.jacobian(q, *(names.get(a, a) for a in arguments), **options)
    with pytest.raises(fault) as known:
        type(system).jacobian(system, q, *(names.get(a, a) for a in arguments), **options)
    assert str(found.value).rpartition("jacobian()")[2] == str(known.value).rpartition("jacobian()")[2]


def test_arrays_of_another_length_are_told(system):
    with pytest.raises(ph.InputError, match="jacobian, argument q"):
        system.jacobian(np.zeros(5), system.model.bodies[-1].name, axes="local")


def test_a_method_is_pickled_as_that_of_its_system(system, q):
    body = system.model.bodies[-1].name
    again = pickle.loads(pickle.dumps(system.jacobian))
    assert np.array_equal(again(q, body, axes="local"), system.jacobian(q, body, axes="local"))


def test_a_call_by_name_is_documented_as_its_method_is(system):
    assert system.jacobian.__doc__ == type(system).jacobian.__doc__
    assert [*signature(system.jacobian).parameters] == ["q", "body", "point", "axes", "options"]
    system.mass_matrix(np.zeros(6))
    assert [*signature(system.mass_matrix).parameters] == ["q", "options"]
    assert system.mass_matrix.__doc__ == type(system).mass_matrix.__doc__


def test_nothing_is_held_after_a_call(system, q):
    body = system.model.bodies[-1].name
    before = sys.getrefcount(q), sys.getrefcount(body), sys.getrefcount(system._origin)
    for _ in range(100):
        system.jacobian(q, body, axes="local")
        system.jacobian(q, body)
    assert (sys.getrefcount(q), sys.getrefcount(body), sys.getrefcount(system._origin)) == before


def test_an_unbound_call_with_too_few_arrays_says_which(system, q):
    call = system.bound("jacobian", system.model.bodies[-1].name, "local")
    with pytest.raises(TypeError, match=r"jacobian\(\).*q, point"):
        call(q)
