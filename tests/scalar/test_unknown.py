"""A scalar without a value: whether time enters a formula, and what stays zero whatever the numbers are."""

import numpy as np
import pytest

import polhode as ph
from polhode.scalar import Unknown, Vec, time_enters, vec

T, X = Unknown(of_time=True), Unknown()


@pytest.mark.parametrize(
    "found",
    [
        T + 1, 1 - T, 2.0 * T, T / 3, 1 / T, -T, abs(T), T**2, X * T, X - T, np.float64(2.0) * T, ph.sin(T), ph.sqrt(T),
        ph.atan2(1.0, T), ph.atan2(T, X), ph.where(T < 1, 0.0, X), ph.where(X < 1, T, 0.0), ph.maximum(X, T),
        ph.where((X > 0) & (T > 0), 1.0, 0.0), ph.where(X == T, 1.0, 0.0), vec(X, T) @ vec(0.0, 1.0),
    ],
)  # fmt: skip
def test_time_enters(found):
    assert time_enters(found)


@pytest.mark.parametrize(
    "found",
    [
        X + 1, X * X, ph.exp(X), ph.where(X > 0, X, -X), ph.maximum(X, 0.0), 0.0 * T, T * 0, 0 / T, T**0, 3.0,
        ph.where(T < 1, 2.0, 2.0), vec(T, X) @ vec(0.0, 1.0), Vec([T, X])[1],
    ],
)  # fmt: skip
def test_time_does_not_enter(found):
    assert not time_enters(found)


def test_it_decides_nothing():
    with pytest.raises(TypeError, match=r"polhode\.where"):
        bool(X > 0)
