"""The motion within steps of dop853 for samples: as exact as the steps, and honest about its error."""

import numpy as np
import pytest

from polhode.integrate.extension import COMPARED, INNER, _rule, _shape
from polhode.integrate.methods import method_named
from polhode.integrate.tableaus import DOP853
from polhode.scalar import Vec, cos, sin
from polhode.scalar.structured import staged

PARTS = np.linspace(0.02, 0.98, 49)


def rhs(t, x):
    """x = 1/(1 − t), exp(sin t): closed forms of two equations, one of them not linear."""
    return Vec((x[0] * x[0], cos(t) * x[1]))


def exact(t):
    return np.array([1 / (1 - t), np.exp(np.sin(t))]).T


def within(h):
    """The largest error within the step from t = 0, that at its end, and its estimate."""
    rule, start = _rule("dop853"), Vec((1.0, 1.0))
    n = len(INNER[8]) + 3
    sums = [h * np.array(found) for found in staged(rhs, 0.0, start, h, rule)]

    def at(theta):
        x = sums[n - 1]
        for k in range(n - 2, -1, -1):
            x = sums[k] + (theta if k % 2 else 1 - theta) * x
        return np.array(start) + theta * x

    errors = [np.max(abs(at(theta) - exact(theta * h))) for theta in (*PARTS, 1.0)]
    return max(errors), errors[-1], max(np.max(abs(x)) for x in sums[n:])


def test_the_error_within_a_step_has_the_order_of_the_step():
    found = [within(h)[0] for h in (0.2, 0.1)]
    assert np.log2(found[0] / found[1]) > 8.7  # O(h⁹), the local error of order 8


@pytest.mark.parametrize("h", [0.05, 0.1, 0.2])
def test_samples_are_as_exact_as_the_end_of_the_step(h):
    inside, end, estimate = within(h)
    assert inside <= 1.5 * end + 1e-14
    assert estimate > 0


def test_the_tableaus_own_polynomial_is_worse():
    h, k = 0.2, []
    for c, row in [*zip(DOP853.c, DOP853.A, strict=True), *DOP853.later]:
        x = np.array([1.0, 1.0]) + h * sum((w * k[i] for i, w in row.items()), np.zeros(2))
        k.append(np.array(rhs(c * h, Vec(x.tolist()))))
    own = [
        1 + h * sum(theta ** (m + 1) * sum(w * k[i] for i, w in row.items()) for m, row in enumerate(DOP853.dense))
        for theta in PARTS
    ]
    error = np.max(abs(np.array(own) - exact(PARTS * h)))
    assert error > 3 * within(h)[0]


def test_the_polynomial_has_the_rates_it_is_made_of():
    """Its weights are exact: of a motion that is a polynomial of degree 8 it is that motion, and the estimate is 0."""
    rule, start = _rule("dop853"), Vec((0.0,))
    n = len(INNER[8]) + 3
    sums = [found[0] for found in staged(lambda t, x: Vec((8 * t**7 + sin(0.0 * t),)), 0.0, start, 1.0, rule)]
    for theta in COMPARED:
        value = sum(sums[k] * float(_shape(k, theta)[0]) for k in range(n))
        assert value == pytest.approx(float(theta) ** 8, abs=1e-13)
    assert max(abs(x) for x in sums[n:]) < 1e-12


def test_which_methods_have_it():
    assert method_named("dop853").extension is not None
    assert method_named("rkmk-dop853").extension is not None
    assert method_named("dopri54").extension is None
    assert method_named("rk4").extension is None
