"""Units as text: factors and dimensions, against their definitions."""

import math

import pytest

from polhode.model.units import Dimension, UnknownUnit, dimension_at, number_with_unit, unit_of


@pytest.mark.parametrize(
    ("text", "factor", "dimension"),
    [
        ("mm", 1e-3, Dimension(m=1)),
        ("deg", math.pi / 180, Dimension(rad=1)),
        ("rpm", 2 * math.pi / 60, Dimension(s=-1, rad=1)),
        ("rev/min", 2 * math.pi / 60, Dimension(s=-1, rad=1)),
        ("kg m2", 1.0, Dimension(1, 2)),
        ("kg*cm^2", 1e-4, Dimension(1, 2)),
        ("g cm²", 1e-7, Dimension(1, 2)),
        ("N/mm", 1e3, Dimension(1, 0, -2)),
        ("N m s/rad", 1.0, Dimension(1, 2, -1, -1)),
        ("Nm/deg", 180 / math.pi, Dimension(1, 2, -2, -1)),
        ("kN", 1e3, Dimension(1, 1, -2)),
        ("m/s^2", 1.0, Dimension(0, 1, -2)),
        ("s^-1", 1.0, Dimension(s=-1)),
        ("1/s", 1.0, Dimension(s=-1)),
        ("1", 1.0, Dimension()),
    ],
)
def test_a_unit_has_its_factor_and_its_dimension(text, factor, dimension):
    found = unit_of(text)
    assert found.factor == pytest.approx(factor, rel=1e-15)
    assert found.dimension == dimension


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("30deg", math.pi / 6),
        ("-5 N/mm", -5e3),
        ("3000 rpm", 100 * math.pi),
        ("1e-3 kg", 1e-3),
        (".5m", 0.5),
        ("90°", math.pi / 2),
    ],
)
def test_a_number_may_have_a_unit(text, value):
    assert number_with_unit(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["5.255e-6/2", "pi/2", "2*pi", "x", "", "-", "2^3", "1e5", "(2) m"])
def test_expressions_are_no_numbers_with_units(text):
    assert number_with_unit(text) is None


@pytest.mark.parametrize(
    ("text", "word"), [("3 furlongs", "furlongs"), ("3 m/x", "x"), ("3 m +", "+"), ("2 m(1)", "(1)")]
)
def test_what_is_no_unit_is_told(text, word):
    with pytest.raises(UnknownUnit) as told:
        number_with_unit(text)
    assert told.value.word == word


def test_torques_may_leave_radians_out_and_angles_may_not():
    stiffness, pitch, angle = (unit_of(text).dimension for text in ("N m/rad", "m/rad", "rad"))
    assert stiffness.admits(unit_of("N m").dimension)
    assert not unit_of("N m").dimension.admits(stiffness)
    assert not pitch.admits(unit_of("mm").dimension)
    assert pitch.admits(unit_of("mm/rev").dimension)
    assert not angle.admits(Dimension())


def test_keys_of_several_numbers_have_a_unit_for_each():
    K = "N/m, N m/rad"
    assert dimension_at(K, (4,), 6) == unit_of("N m/rad").dimension
    assert dimension_at(K, (0, 4), 6) == unit_of("N/rad").dimension
    assert dimension_at(K, (4, 0), 6) == unit_of("N").dimension
    assert dimension_at("m, N", (7, 1), 2) == unit_of("N").dimension
    assert dimension_at("N/m2, N/m3, …", (2,), 5) == unit_of("N/m4").dimension
    assert dimension_at("rad or m", is_linear=True) == Dimension(m=1)


def test_dimensions_are_told_as_units():
    texts = ["N m", "kg m2", "rad/s", "m/s2", "1", "N m/rad"]
    assert [str(unit_of(text).dimension) for text in texts] == texts
    assert str(unit_of("kg/m3").dimension) == "kg m-3"
