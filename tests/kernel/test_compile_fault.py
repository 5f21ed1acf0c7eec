"""Why a user function cannot be compiled: its line, its call, and what to write instead."""

import math
import re
import warnings

import numpy as np
import pytest

import polhode as ph

BODY, JOINT = ph.Body("ball", 2.0, (0.3, 0.4, 0.5)), ph.Joint("rail", "prismatic", "world", "ball")


def sine(t, body):
    return [math.sin(body.velocity[0]), 0.0, 0.0]


def norm(t, body):
    return [0.0, 0.0, np.linalg.norm(body.velocity)]


def branch(t, body):
    if body.velocity[2] > 0:
        return [0.0, 0.0, 1.0]
    return [0.0, 0.0, 2.0]


def largest(t, body):
    return [0.0, 0.0, max(body.velocity[2], 0.0)]


def helped(t, body):
    return [0.0, 0.0, _helper(body.velocity[2])]


def _helper(x):
    return float(x)


CASES = [
    (sine, 1, r"`math.sin\(body.velocity\[0\]\)`: write ph.sin"),
    (norm, 1, r"`np.linalg.norm\(body.velocity\)`: write ph.length"),
    (branch, 1, r"`body.velocity\[2\] > 0`: `if` on a value .* write ph.where"),
    (largest, 1, r"`max\(body.velocity\[2\], 0.0\)`: write ph.maximum"),
    (helped, 5, r"`float\(x\)`: write the number itself"),
]


def machine(*forces):
    return ph.Model("m", (0, 0, -9.81), [BODY], [JOINT], forces)


def warned(model, **options):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ph.simulate(model, duration=0.02, step=0.01, method="rk4", verify=False, **options)
    return [str(each.message) for each in told]


@pytest.mark.parametrize(("function", "below", "words"), CASES, ids=[case[0].__name__ for case in CASES])
def test_the_line_the_call_and_the_remedy_are_told(function, below, words):
    line = function.__code__.co_firstlineno + below
    (told,) = warned(machine(ph.BodyForce("f", function, "ball")))
    assert re.search(rf"force 'f' cannot be compiled \(test_compile_fault.py:{line}, {words}", told), told
    assert told.endswith("Python runs in the loop, which is slow.")


def test_inputs_forces_of_time_and_generalised_forces_are_told_alike():
    def control(t, q, v):
        return [np.tanh(v[0])]

    def gust(t):
        return (0.0, 0.0, math.cos(t))

    (tau,) = warned(machine(), tau=control)
    (generalized,) = warned(machine(ph.ForceFunction("f", control)))
    (force,) = warned(machine(ph.Force("f", "ball", force=gust)))
    (law,) = warned(machine(ph.Spring("s", "world", "ball", (1, 0, 0), law=lambda length, rate: math.exp(-length))))
    for told in (tau, generalized):
        assert f"test_compile_fault.py:{control.__code__.co_firstlineno + 1}, `np.tanh(v[0])`: write" in told
    assert f"test_compile_fault.py:{gust.__code__.co_firstlineno + 1}, `math.cos(t)`: write ph.cos" in force
    assert "`math.exp(-length)`: write ph.exp" in law


def test_a_force_in_python_moves_the_machine_as_the_compiled_one_does():
    def push(t, body):
        return [0.0, 0.0, ph.where(t < 5, 3.0, 0.0)]

    def push_in_python(t, body):
        return [0.0, 0.0, 3.0 if t < 5 else 0.0]

    options = {"duration": 0.02, "step": 0.01, "method": "rk4", "verify": False}
    compiled = ph.simulate(machine(ph.BodyForce("f", push, "ball")), **options)
    with pytest.warns(ph.PolhodeWarning, match="`t < 5`"):
        plain = ph.simulate(machine(ph.BodyForce("f", push_in_python, "ball")), **options)
    assert "Python in the loop, slow" in plain.attrs["grade"]
    assert "Python in the loop" not in compiled.attrs["grade"]
    assert abs(compiled.q.values - plain.q.values).max() < 1e-15


@pytest.mark.parametrize("function", [sine, branch])
def test_quantities_of_a_system_name_the_line_too(function):
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(ph.CompileError, match=rf"test_compile_fault.py:{line}, `.*write ph\.(sin|where)"):
        ph.compile(machine(ph.BodyForce("f", function, "ball"))).bias([0.1], [0.2])
