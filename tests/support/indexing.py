"""Mark a test with the published equations it checks and the function that is that equation."""

import re
from collections.abc import Callable

import pytest

PAPERS = ("Sherif", "Udwadia", "Schwab-Meijaard", "Schwab", "Zoric")


def equation(numbers: str, of: str, note: str = "") -> Callable:
    """Say that a test checks equations, e.g. `@equation("Sherif 8, 10-12; Udwadia 2", of="quaternion.G")`.

    numbers  papers separated by ';', numbers and ranges by ','; a word in quotes names a statement
             that carries no number: 'Sherif "Q2 full"'
    of       the function, dotted, below `polhode`
    note     what a reader of the index should know
    """

    def decorate(test: Callable) -> Callable:
        for part in numbers.split(";"):
            paper, _, rest = part.strip().partition(" ")
            assert paper in PAPERS, paper
            for item in re.findall(r'"[^"]*"|\d+(?:-\d+)?', rest):
                first, _, last = item.partition("-") if not item.startswith('"') else (item, "", "")
                labels = [item.strip('"')] if item.startswith('"') else range(int(first), int(last or first) + 1)
                for label in labels:
                    test = pytest.mark.equation(paper, label, of, note)(test)
        return test

    return decorate
