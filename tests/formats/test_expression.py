"""Expressions of files: functions, conditions, and hostile ones."""

import math

import numpy as np
import pytest

from close import assert_close
from polhode.formats.expression import Fault, evaluate, evaluate_on, is_name, names_in
from polhode.formats.expression_functions import expression
from polhode.kernel import trace
from polhode.kernel.evaluate import evaluate as run_graph
from polhode.scalar import Vec

VALUES = {
    "min(2, 3) + max(2, 3)": 5.0,
    "atan2(1, -1)": 3 * math.pi / 4,
    "sign(-3) + sign(0) + 10*sign(2)": 9.0,
    "where(1 < 2, 5, 7)": 5.0,
    "where(2 <= 2, where(3 >= 4, 1, 2), 7)": 2.0,
    "length(3, 4) + length(-2) + length(1, 2, 2)": 10.0,
    "asin(1) + acos(1)": math.pi / 2,
    "2^-2 * where(0 > 1, 1, 8)": 2.0,
}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_functions_of_several_arguments_have_their_values(text, value):
    assert_close(evaluate(text, {}), value)
    assert_close(evaluate_on(text, {}), value)


def test_an_empty_expression_asks_for_no_names():
    assert names_in("") == []
    assert names_in("2*x") == ["x"]


def test_expressions_are_compiled():
    text = "where(x < y, max(x, 2*y), sign(x)*length(x, y)) + x^3 - atan2(y, x)^2"
    function = expression(text, {}, ("x", "y"), tried=False)
    graph = trace(lambda x, y: Vec([function(x, y)]), x=(), y=())
    for x, y in np.random.default_rng(0).normal(size=(20, 2)):
        assert_close(run_graph(graph, x=np.array(x), y=np.array(y))[0], function(float(x), float(y)))


def test_a_name_of_a_function_may_be_that_of_a_parameter():
    assert is_name("min")
    assert evaluate("min*min(min, 3)", {"min": 2.0}) == 4.0
    assert names_in("min*min(min, c)") == ["min", "c"]
    assert expression("min*min(min, t)", {"min": 2.0}, ("t",)).text == "(2.0)*min((2.0), t)"


HOSTILE = [
    "__import__('os').system('true')",
    "().__class__.__bases__",
    "x.__class__",
    "x.real",
    "eval('1')",
    "lambda: 1",
    "[1 for x in y]",
    "x if x else y",
    "x == y",
    "x < y",
    "where(x < y < x, 1, 2)",
    "where(x, 1, 2)",
    "where(x < y, 1)",
    "min(1)",
    "min(1, 2, 3)",
    "sign()",
    "length()",
    "9^9^9^9",
    "9^999999999",
    "1e999",
    "x^",
    "x**2",
    "1/0*x",
    "sin x",
    "max((((1, 2))))",
    "-" * 2000 + "1",
    "(" * 500 + "x" + ")" * 500,
    "where(" * 60 + "x < y, 1, 2" + ")" * 60,
    "max(x, " * 60 + "1" + ")" * 60,
    "x\x00y",
    "x; y",
    "f'{x}'",
    "\N{FULLWIDTH LATIN SMALL LETTER X}",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_expressions_are_refused(text):
    with pytest.raises(Fault):
        expression(text, {}, ("x", "y"), tried=False)


def test_a_wrong_name_is_told_with_the_one_it_may_be():
    with pytest.raises(Fault) as caught:
        expression("wheree(velocty)", {}, ("velocity",), tried=False)
    assert caught.value.fix == "Did you mean 'where'?"
    with pytest.raises(Fault) as caught:
        expression("2*velocty", {}, ("velocity",), tried=False)
    assert caught.value.fix == "Did you mean 'velocity'?"
