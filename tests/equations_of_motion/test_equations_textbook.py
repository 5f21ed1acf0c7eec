"""What is printed is what a textbook prints: equal to it, and hardly longer."""

import pytest
import sympy

from textbooks import MACHINES, ours, textbook

LONGER = 1.2
"""Operations, relative to the textbook's."""


@pytest.fixture(scope="module", params=list(MACHINES))
def case(request):
    return request.param, ours(MACHINES[request.param]()), textbook(request.param)


def test_every_formula_equals_the_textbooks(case):
    machine, own, book = case
    assert own.keys() == book.keys()
    for quantity, formula in book.items():
        difference = sympy.expand_trig(sympy.expand(own[quantity] - formula))
        on_sphere = {
            sympy.Symbol("e_0", real=True) ** 2: 1 - sum(sympy.Symbol(f"e_{k}", real=True) ** 2 for k in (1, 2, 3))
        }
        difference = sympy.expand(difference.subs(on_sphere))
        assert sympy.simplify(difference) == 0, f"{machine}, {quantity}: {own[quantity]}"


def test_the_whole_is_at_most_a_fifth_longer(case):
    machine, own, book = case
    ours_, theirs = (sum(int(x.count_ops()) for x in formulas.values()) for formulas in (own, book))
    assert ours_ <= LONGER * theirs, f"{machine}: {ours_} operations, the textbook {theirs}"


def test_no_formula_is_much_longer(case):
    """Of each formula alone: an operation or two may differ where the textbook writes another one shorter."""
    machine, own, book = case
    for quantity, formula in book.items():
        most = max(LONGER * int(formula.count_ops()), int(formula.count_ops()) + 2)
        assert int(own[quantity].count_ops()) <= most, f"{machine}, {quantity}: {own[quantity]}"
