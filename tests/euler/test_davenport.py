"""Angles about any three axes, and sequences of one turn or two."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from attitudes import apart, attitudes, scipys, wxyz
from close import assert_close
from polhode import GimbalLockError, InputError, euler

RNG = np.random.default_rng(0)


def axes():
    """Three directions, the second across the others, of any length."""
    second = RNG.standard_normal(3)
    return np.array([np.cross(second, RNG.standard_normal(3)), second, np.cross(second, RNG.standard_normal(3))])


def turned(angle):
    """An angle without whole turns: π and −π are one."""
    return np.angle(np.exp(1j * angle))


ORDERS = ((False, "intrinsic"), (True, "extrinsic"))


@pytest.mark.parametrize(("extrinsic", "order"), ORDERS)
def test_angles_about_any_axes_are_scipys(extrinsic, order):
    p = attitudes(30)[::3]
    for _ in range(20):
        e = axes()
        found = euler.to_davenport(e, p, extrinsic=extrinsic)
        assert_close(turned(found - scipys(p).as_davenport(e, order)), np.zeros((10, 3)), condition=1e3)
        assert apart(euler.from_davenport(e, found, extrinsic=extrinsic), p) < 1e-12
        u = RNG.uniform(-3, 3, (4, 3))
        assert apart(euler.from_davenport(e, u, extrinsic), wxyz(Rotation.from_davenport(e, order, u))) < 1e-12


def test_axes_of_a_batch_are_those_of_each_of_it():
    e, p = np.stack([axes() for _ in range(4)]), attitudes(12)[::3]
    found = euler.to_davenport(e[:, None], p)
    again = euler.from_davenport(e[:, None], found)
    for k in range(4):
        assert_close(found[k], euler.to_davenport(e[k], p))
        assert_close(again[k], euler.from_davenport(e[k], found[k]))


@pytest.mark.parametrize(("extrinsic", "order"), ORDERS)
def test_coordinate_axes_give_the_twelve_sequences(extrinsic, order):
    p = attitudes(30)[::3]
    for sequence in euler.SEQUENCES:
        e = np.eye(3)[[int(a) - 1 for a in sequence]]
        name = f"extrinsic-{sequence}" if extrinsic else sequence
        difference = euler.to_davenport(e, p, extrinsic) - euler.from_quaternion(name, p)
        assert_close(turned(difference), np.zeros((10, 3)), condition=1e3)


@pytest.mark.parametrize(("extrinsic", "order"), ORDERS)
@pytest.mark.parametrize("count", [1, 2])
def test_one_axis_or_two_will_do(extrinsic, order, count):
    e, u = axes()[:count], RNG.uniform(-3, 3, (5, count))
    expected = wxyz(Rotation.from_davenport(e, order, u))
    assert apart(euler.from_davenport(e, u, extrinsic), expected) < 1e-12
    assert_close(euler.from_davenport(e[0], [[0.3]])[0], wxyz(Rotation.from_davenport(e[0], order, 0.3)))


@pytest.mark.parametrize("extrinsic", [False, True])
def test_lock_is_an_error_or_flagged_with_the_same_attitude(extrinsic):
    for middle in (0, 1):
        e = axes()
        e /= np.linalg.norm(e, axis=1, keepdims=True)
        first, last = (e[2], e[0]) if extrinsic else (e[0], e[2])
        lam = np.arctan2(-np.cross(first, e[1]) @ last, first @ last)
        u = np.array([0.4, middle * np.pi - lam, 0.9])
        p = euler.from_davenport(e, u, extrinsic)
        with pytest.raises(GimbalLockError, match=r"euler.to_davenport: gimbal lock"):
            euler.to_davenport(e, [p], extrinsic)
        value, locked = euler.to_davenport(e, p, extrinsic, at_lock="flag")
        assert locked
        assert value[0 if extrinsic else 2] == 0
        assert apart(euler.from_davenport(e, value, extrinsic), p) < 1e-7
    value, locked = euler.to_davenport(np.eye(3), attitudes(3), at_lock="flag")
    assert value.shape == (3, 3)
    assert locked.shape == (3,)


def test_sequences_of_one_turn_or_two_are_scipys():
    for sequence in euler.SHORT_SEQUENCES:
        u = RNG.uniform(-3, 3, (4, len(sequence)))
        letters = "".join("xyz"[int(a) - 1] for a in sequence)
        expected = {sequence: letters.upper(), f"extrinsic-{sequence}": letters}
        for name, theirs in expected.items():
            assert apart(euler.to_quaternion(name, u), wxyz(Rotation.from_euler(theirs, u))) < 1e-12
    assert euler.to_quaternion("3", [0.2]).shape == (4,)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: euler.from_davenport([[1, 0, 0], [1, 1, 0]], [0, 0]), "argument axes: not across each other"),
        (lambda: euler.from_davenport([[1, 0, 0], [0, 0, 0]], [0, 0]), "argument axes: is zero"),
        (lambda: euler.from_davenport(np.eye(3), [0, 0]), "argument angles: wrong shape"),
        (lambda: euler.from_davenport(np.eye(4), [0, 0, 0]), "argument axes: wrong shape"),
        (lambda: euler.from_davenport(np.eye(3)[[0, 1, 2, 0]], [0, 0, 0]), "argument axes: wrong shape"),
        (lambda: euler.to_davenport(np.eye(3)[:2], [1, 0, 0, 0]), "argument axes: wrong shape"),
        (lambda: euler.to_davenport(np.eye(3), [2, 0, 0, 0]), "to_davenport, argument p: not a unit quaternion"),
        (lambda: euler.from_davenport([np.eye(3)] * 2, np.zeros((3, 3))), "batch axes do not fit together"),
        (lambda: euler.to_davenport(np.eye(3), [1, 0, 0, 0], at_lock="x"), "argument at_lock: no such choice"),
        (lambda: euler.to_quaternion("31", [1, 2, 3]), "argument angles: wrong shape"),
        (lambda: euler.to_quaternion("33", [1, 2]), "unknown sequence of axes"),
    ],
)
def test_bad_arguments_are_named(given, words):
    with pytest.raises(InputError, match=words):
        given()
