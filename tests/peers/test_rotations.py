"""Rotations as SciPy, rowan and pytransform3d test them; rotation_tests.csv lists their tests."""

import ast
import csv
import re
from collections import Counter
from functools import cache, reduce
from pathlib import Path

import numpy as np
import pytest
import scipy.spatial.transform

import polhode as ph
from attitudes import apart, attitudes, scipys, wxyz
from close import assert_close
from polhode import InputError, euler, quaternion

ROOT = Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(0)


@cache
def listed():
    lines = (Path(__file__).parent / "rotation_tests.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


@cache
def names_in(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_call_and_every_own_test_that_is_named_exists():
    for row in listed():
        for name in row["calls"].split():
            assert callable(reduce(getattr, name.split("."), ph)), row
        if row["verdict"] == "pass":
            path, _, test = row["checked_by"].partition("::")
            assert row["calls"], row
            assert test in names_in(path), row


def test_every_refusal_has_its_reason_in_the_docs():
    page = (ROOT / "docs/rotations.md").read_text(encoding="utf-8")
    reasons = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    given = {row["checked_by"] for row in listed() if row["verdict"] != "pass"}
    assert given <= reasons
    assert {row["verdict"] for row in listed()} == {"pass", "policy", "out of scope"}


def test_the_numbers_in_the_docs_are_those_of_the_list():
    page = (ROOT / "docs/rotations.md").read_text(encoding="utf-8")
    count = Counter((row["library"], row["verdict"]) for row in listed())
    for library in ("SciPy", "rowan", "pytransform3d"):
        found = re.search(rf"^\| {library} [\d.]+ \| (\d+) \| (\d+) \| (\d+) \|", page, re.M)
        assert [int(n) for n in found.groups()] == [count[library, v] for v in ("pass", "policy", "out of scope")]


def test_every_test_of_the_installed_scipy_is_listed():
    """Wheels of SciPy bring its tests along; a later version may have more, which then have to be listed."""
    known = {(row["file"], row["test"]) for row in listed() if row["library"] == "SciPy"}
    folder = Path(scipy.spatial.transform.__file__).parent / "tests"
    found = {
        (path.stem, node.name)
        for path in folder.glob("test_rotation*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test")
    }
    assert not found - known


@pytest.mark.parametrize("batch", [(), (1,), (7,), (2, 3), (2, 1, 3)])
def test_batches_of_any_shape_are_each_of_their_entries(batch):
    p = quaternion.random(batch, seed=1)
    x, q = RNG.standard_normal((*batch, 3)), quaternion.random(batch, seed=2)
    matrix = quaternion.rotation_matrix
    turned, once, both = quaternion.rotate(p, x), quaternion.rotate(p, [1, 2, 3]), matrix(quaternion.product(p, q))
    again = matrix(quaternion.from_matrix(matrix(p)))
    for k in np.ndindex(batch):
        assert_close(turned[k], scipys(p[k]).apply(x[k]))
        assert_close(once[k], scipys(p[k]).apply([1, 2, 3]))
        assert_close(both[k], (scipys(p[k]) * scipys(q[k])).as_matrix())
        assert_close(again[k], scipys(p[k]).as_matrix())


def test_empty_batches_stay_empty():
    none = np.zeros((0, 4))
    assert quaternion.rotate(none, [1, 2, 3]).shape == (0, 3)
    assert quaternion.product(none, [1, 0, 0, 0]).shape == (0, 4)
    assert quaternion.power(none, 0.5).shape == (0, 4)
    assert quaternion.rotation_matrix(none).shape == (0, 3, 3)
    assert quaternion.from_matrix(np.zeros((0, 3, 3))).shape == (0, 4)
    assert quaternion.angle_between(none, none).shape == (0,)
    assert quaternion.slerp(none, none, 0.5).shape == (0, 4)
    assert euler.to_quaternion("321", np.zeros((0, 3))).shape == (0, 4)
    assert euler.from_quaternion("321", none).shape == (0, 3)
    assert quaternion.reduced(none).attitude.shape == (0, 4)
    assert quaternion.right_jacobian(np.zeros((0, 3))).shape == (0, 3, 3)


def test_lists_whole_numbers_and_single_precision_are_arrays():
    quarter = quaternion.from_axis_angle([0, 0, 1], np.pi / 2)
    for kind in (list, tuple, np.float32, np.int64):
        convert = (lambda x, kind=kind: kind(x)) if kind in (list, tuple) else (lambda x, kind=kind: np.array(x, kind))
        assert_close(quaternion.rotate(convert([1, 0, 0, 0]), convert([1, 2, 3])), [1.0, 2, 3])
        assert_close(quaternion.from_matrix([convert(row) for row in ([0, -1, 0], [1, 0, 0], [0, 0, 1])]), quarter)
        assert_close(euler.to_quaternion("3", convert([0])), [1.0, 0, 0, 0])
        assert_close(quaternion.mrp_to_wxyz(convert([0, 0, 1])), [0.0, 0, 0, 1])
        assert_close(quaternion.from_axis_angle(convert([0, 0, 2]), 0), [1.0, 0, 0, 0])
    assert quaternion.rotate(np.float32([1, 0, 0, 0]), np.float32([1, 2, 3])).dtype == np.float64


@pytest.mark.parametrize(
    "given",
    [
        lambda: quaternion.rotate([1, 0, 0], [1, 2, 3]),
        lambda: quaternion.rotate([1, 0, 0, 0], [1, 2]),
        lambda: quaternion.rotate(1.0, [1, 2, 3]),
        lambda: quaternion.rotate(np.zeros((2, 4)) + 0.5, np.zeros((3, 3))),
        lambda: quaternion.product(np.zeros((2, 4)), np.zeros((3, 4))),
        lambda: quaternion.rotation_vector_to_wxyz([[1, 2]]),
        lambda: quaternion.mrp_to_wxyz([1, 2, 3, 4]),
        lambda: quaternion.from_matrix(np.eye(4)),
        lambda: quaternion.power([[1, 0, 0, 0]] * 2, [1, 2, 3]),
        lambda: quaternion.from_axis_angle([1, 0], 0.3),
        lambda: euler.to_quaternion("321", [1, 2]),
        lambda: euler.to_quaternion("3", [[1, 2]]),
    ],
)
def test_wrong_shapes_are_named(given):
    with pytest.raises(InputError, match=r"wrong shape|batch axes do not fit together"):
        given()


def test_products_inverses_and_magnitudes_are_scipys():
    p, q = attitudes(60), attitudes(60, seed=1)
    assert apart(quaternion.product(p, q), wxyz(scipys(p) * scipys(q))) < 1e-12
    assert apart(quaternion.conjugate(p), wxyz(scipys(p).inv())) < 1e-12
    assert_close(quaternion.axis_angle(p).angle, scipys(p).magnitude())
    assert_close(quaternion.product(p, [1, 0, 0, 0]), p)
    assert_close(quaternion.product(quaternion.product(p, q), quaternion.inverse(q)), p)


def test_quaternions_of_any_length_are_normalised_by_name():
    x = RNG.standard_normal((2, 5, 4))
    assert_close(quaternion.normalise(x), wxyz(scipys(x)))
    with pytest.raises(InputError, match="not a unit quaternion"):
        quaternion.rotation_matrix(x)
    with pytest.raises(InputError, match="is zero"):
        quaternion.normalise([[1, 0, 0, 0], [0, 0, 0, 0]])


def test_reflections_are_no_rotations():
    with pytest.raises(InputError, match="a reflection, not a rotation"):
        quaternion.from_matrix([np.eye(3), np.diag([1, 1, -1])])


def test_i_times_j_is_k():
    _, i, j, k = np.eye(4)
    np.testing.assert_array_equal(quaternion.product(i, j), k)
    np.testing.assert_array_equal(quaternion.product(quaternion.product(i, j), k), [-1, 0, 0, 0])


def test_a_reflection_is_two_products():
    """n∘x∘n of a unit vector n is x seen in the plane across n."""
    n, x = np.array([2.0, -1, 2]) / 3, np.array([1.0, 2, 3])
    found = quaternion.product(quaternion.product(quaternion.pure(n), quaternion.pure(x)), quaternion.pure(n))
    assert_close(found, [0, *(x - 2 * (n @ x) * n)])


def test_all_sequences_are_scipys():
    p = attitudes(30)[::3]
    for sequence in euler.SEQUENCES:
        letters = "".join("xyz"[int(a) - 1] for a in sequence)
        for name, theirs in ((sequence, letters.upper()), (f"extrinsic-{sequence}", letters)):
            difference = euler.from_quaternion(name, p) - scipys(p).as_euler(theirs)
            assert_close(np.angle(np.exp(1j * difference)), np.zeros((10, 3)), condition=1e3)


def test_angles_at_lock_are_flagged_and_give_the_attitude_back():
    for sequence in euler.SEQUENCES:
        lock = 0.0 if sequence[0] == sequence[2] else np.pi / 2
        for middle in (lock, lock - np.pi if lock else np.pi):
            p = euler.to_quaternion(sequence, [0.4, middle, -0.9])
            value, locked = euler.from_quaternion(sequence, p, at_lock="flag")
            assert locked
            assert value[2] == 0
            assert apart(euler.to_quaternion(sequence, value), p) < 1e-7
