"""The equation index is complete, true and up to date, and its tests would notice a wrong function."""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

import index

QUICKLY = settings(
    max_examples=30,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def test_every_equation_has_a_function_and_a_test():
    found = {(check.paper, check.number) for check in index.checks()}
    missing = [
        (paper, number)
        for paper, count in index.COUNTS.items()
        for number in range(1, count + 1)
        if (paper, number) not in found
    ]
    assert not missing
    assert sum(index.COUNTS.values()) == 329


def test_no_mark_names_an_equation_that_is_not_there():
    for check in index.checks():
        if isinstance(check.number, int):
            assert 1 <= check.number <= index.COUNTS[check.paper], check


def test_every_indexed_function_is_importable_and_every_misprint_beside_an_equation():
    for check in index.checks():
        module, name = check.home
        assert callable(getattr(module, name)), check.function
    for paper, number in index.misprints():
        assert 1 <= int(number) <= index.COUNTS[paper]


def perturb(value, counter):
    """The same result with every number changed by 1e-6 of its size, each in its own measure."""
    if value is None or isinstance(value, (bool, np.bool_, str)):
        return value
    if isinstance(value, tuple):
        parts = [perturb(part, counter) for part in value]
        if not hasattr(value, "_fields"):
            return type(value)(parts)
        changed = type(value)(*parts)
        if hasattr(value, "own"):
            changed.own = perturb(value.own, counter)
        return changed
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return value
    weights = np.cos(1.0 + counter[0] + np.arange(array.size)).reshape(array.shape)
    counter[0] += array.size
    changed = array + 1e-6 * weights * (1 + abs(array))
    return changed if array.ndim else changed[()]


PAIRS = sorted({(check.function, check.node) for check in index.checks()})


@pytest.mark.parametrize(("function", "node"), PAIRS, ids=[f"{f}-{n.partition('::')[2]}" for f, n in PAIRS])
def test_a_function_changed_by_a_millionth_fails_its_test(function, node, monkeypatch):
    check = next(check for check in index.checks() if (check.function, check.node) == (function, node))
    module, name = check.home
    original = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args, **kwargs: perturb(original(*args, **kwargs), [0]))
    test = QUICKLY(check.test) if hasattr(check.test, "hypothesis") else check.test
    with pytest.raises(AssertionError):
        test()
