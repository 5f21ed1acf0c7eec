"""Tables with monotone cubics: SciPy's interpolant, an exact integral, and what is refused."""

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

import polhode as ph
from close import assert_close, complex_step
from polhode.kernel import trace
from polhode.kernel.evaluate import evaluate
from polhode.model.forces.monotone_table import check_table, monotone_table
from polhode.scalar import Vec

TABLES = {
    "rising": [(-1, -5), (0.1, 0), (1, 2), (1.5, 9), (4, 9.5)],
    "with turns": [(0, 0), (1, 3), (2, 1), (2.5, 1), (4, -2), (5, 0)],
    "steep ends": [(0, 0), (0.1, 5), (3, 5.1), (3.01, 0)],
    "three": [(0, 1), (1, 0), (3, 7)],
    "two": [(0, 1), (2, 0)],
}


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)
def test_between_its_ends_it_is_the_interpolant_of_scipy(rows):
    x, y = np.array(rows, dtype=float).T
    found = monotone_table(rows)
    at = np.linspace(x[0], x[-1], 301)
    expected = PchipInterpolator(x, y)(at) if len(x) > 2 else np.interp(at, x, y)
    assert_close([found.value(float(each)) for each in at], expected)
    assert_close(found.value(at), expected)  # as a batch


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)
def test_its_value_is_the_slope_of_its_integral(rows):
    found = monotone_table([tuple(map(float, row)) for row in rows])
    for at in np.linspace(rows[0][0] - 2, rows[-1][0] + 2, 57):
        assert_close(
            complex_step(lambda x: found.integral(complex(x)), np.array(at), np.array(1.0)), found.value(float(at))
        )


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)
def test_its_slopes_are_known_at_its_points(rows):
    found = monotone_table([tuple(map(float, row)) for row in rows])
    for x, slope in zip(found.x, found.slopes, strict=True):
        assert_close(complex_step(lambda x: found.value(complex(x)), np.array(x), np.array(1.0)), slope)


def test_beyond_its_ends_it_is_straight():
    found = monotone_table(TABLES["rising"])
    for end, out in ((-1, -3.0), (4, 7.0)):
        slope = found.slopes[0] if end < 0 else found.slopes[-1]
        assert_close(found.value(out), found.value(float(end)) + slope * (out - end))


def test_it_is_compiled_with_its_numbers_as_symbols():
    rows = np.array(TABLES["with turns"], dtype=float)
    graph = trace(lambda x, rows: Vec([monotone_table(rows).value(x)]), x=(), rows=rows.shape)
    for at in (-1.0, 0.3, 1.7, 2.2, 6.0):
        assert_close(evaluate(graph, x=np.array(at), rows=rows)[0], monotone_table(TABLES["with turns"]).value(at))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (((0.0, 1.0),), "1 rows"),
        ((1.0, 2.0, 3.0), "numbers without rows"),
        (((0.0, 1.0, 2.0), (1.0, 2.0, 3.0)), "rows of 3 numbers"),
        (((0.0, 1.0), (1.0, 2.0), (1.0, 3.0)), "1, 1 in rows 1, 2"),
    ],
)
def test_what_is_no_table_is_told(rows, words):
    with pytest.raises(ph.ModelError, match=words):
        check_table("force 's', table", rows)
