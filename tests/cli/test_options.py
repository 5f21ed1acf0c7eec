"""Values of the command line: numbers with units."""

import math

import click
import pytest

from polhode.cli.options import NumberList


def test_numbers_may_have_units():
    assert NumberList(3, unit="rad/s").convert("1,30rpm,180 deg/s", None, None) == pytest.approx((1, math.pi, math.pi))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1,2,3mm", "'3mm' is in m, expected rad/s"),
        ("1,2,3 rmp", "no unit is called 'rmp'. Did you mean 'rpm'?"),
        ("1,2,x", "not a list of numbers"),
        ("1,2", "has 2 numbers, expected 3"),
    ],
)
def test_units_of_another_dimension_are_told(text, told):
    with pytest.raises(click.BadParameter) as fault:
        NumberList(3, unit="rad/s").convert(text, None, None)
    assert told in fault.value.message


def test_numbers_without_a_dimension_have_no_units():
    with pytest.raises(click.BadParameter):
        NumberList(4).convert("1deg,0,0,0", None, None)
