"""Where within a step the function of an event crosses zero: of one run on floats, of many on arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.simulation.step_state import Crossing, crossed

HALVINGS = 60
"""Of a step, to find an event in it: to 2⁻⁶⁰ of the step, finer than doubles tell times within it apart."""


def located(crossing: Crossing, before: Any, value: Callable[[Any], Any], whole: Any = 1.0) -> Any:
    """The part θ of a step, 0 < θ ≤ 1, at which a function has crossed zero as it is watched for, by bisection.

    before  its values where the step begins: a number, or (n,) of n runs
    value   its values at parts θ of the step
    whole   the whole step: 1, or ones (n,)
    ->      θ; the whole step where it crosses nowhere
    """
    choose = np.where if isinstance(whole, np.ndarray) else _either
    low, high = 0.0 * whole, whole
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        passed = crossed((crossing,), (before,), (value(middle),))
        low, high = choose(passed, low, middle), choose(passed, middle, high)
    return high


def _either(passed: Any, a: Any, b: Any) -> Any:
    return a if passed else b
