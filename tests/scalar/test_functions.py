"""One source for every kind of scalar: floats, batches, symbols, many digits, counters."""

from collections import Counter

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given

import polhode as ph
from close import assert_close
from polhode import quaternion, scalar
from polhode.dynamics.single import Loads, Problem, forms
from polhode.dynamics.single.terms import default_J0
from polhode.linalg.elimination import solve_by_rows
from polhode.scalar import Count, Vec, vec
from strategies import inertias, quaternions, states, vectors


@given(states(), inertias(), vectors())
def test_every_form_runs_on_plain_scalars(state, J, n):
    p, pdot = state
    problem = Problem(
        Vec(p.tolist()), Vec(pdot.tolist()), Vec(map(Vec, J.tolist())), Loads(torque=Vec(n.tolist())), 1.5, "313"
    )
    for name, form in forms.items():
        if form.solution in ("angles", "angle state") and ph.euler.condition("313", _angles(p)) > 100:
            continue
        expected = ph.acceleration(name, p, pdot, J, torque=n, J0=1.5)
        assert_close(np.array(form.on_scalars(problem).pddot), expected.pddot)


def _angles(p):
    return ph.euler.from_quaternion("313", p, at_lock="flag").value


def test_every_form_runs_on_symbols():
    """With SymPy numbers the fundamental forms branch on exact values; the others need no value at all."""
    p = Vec(sympy.symbols("e0:4"))
    pdot = Vec(sympy.symbols("d0:4"))
    J = scalar.diagonal(sympy.symbols("A B C", positive=True))
    values = dict(zip(p, (0.5, 0.5, -0.5, 0.5), strict=True)) | dict(zip(pdot, (0.1, 0.2, 0.3, 0), strict=True))
    values |= dict(zip(sympy.symbols("A B C", positive=True), (1.0, 2.0, 2.5), strict=True))
    for name in ("sherif-36", "sherif-38", "udwadia-42", "udwadia-22", "schwab-meijaard-45"):
        answer = forms[name].on_scalars(Problem(p, pdot, J, Loads(), default_J0(J), "313"))
        found = [float(x.subs(values)) for x in answer.pddot]
        expected = ph.acceleration(name, [0.5, 0.5, -0.5, 0.5], [0.1, 0.2, 0.3, 0], (1, 2, 2.5), unit=False)
        assert_close(found, expected.pddot)


def test_rotation_matrix_of_symbols_is_the_printed_one():
    e0, e1, e2, e3 = sympy.symbols("e0:4")
    A = quaternion.rotation_matrix_homogeneous(vec(e0, e1, e2, e3))
    assert sympy.expand(A[0][0] - (e0**2 + e1**2 - e2**2 - e3**2)) == 0
    assert sympy.expand(A[0][1] - 2 * (e1 * e2 - e0 * e3)) == 0


def test_exponential_of_symbols_keeps_both_branches():
    x, y, z = sympy.symbols("x y z", real=True)
    p = quaternion.exp(vec(x, y, z))
    for values in ({x: 0.3, y: -0.2, z: 1.1}, {x: 1e-3, y: 0, z: 0}):
        found = [float(sympy.sympify(c).subs(values)) for c in p]
        assert_close(found, quaternion.exp([float(values[s]) for s in (x, y, z)]))


def test_formulas_run_in_forty_digits():
    with mpmath.workdps(40):
        x = vec(*map(mpmath.mpf, ("0.1", "0.2", "0.3")))
        p = quaternion.exp(x)
        assert abs(scalar.square(p) - 1) < mpmath.mpf(10) ** -38
        back = quaternion.log(p)
        assert max(abs(a - b) for a, b in zip(back, x, strict=True)) < mpmath.mpf(10) ** -38


@given(quaternions(), vectors())
def test_counting_scalars_compute_the_same_numbers(p, x):
    tally = Counter()
    counted = quaternion.rotate(Vec([Count(c, tally) for c in p.tolist()]), Vec(x.tolist()))
    assert_close([c.value if isinstance(c, Count) else c for c in counted], quaternion.rotate(p, x))


def test_operations_are_counted_as_written():
    tally = Counter()
    a, b = (Vec([Count(x, tally) for x in (0.5, 0.5, 0.5, 0.5)]) for _ in range(2))
    quaternion.product(a, b)
    assert tally == {"multiply": 16, "add": 12}
    tally.clear()
    _ = (0.0 * a[0] + 1.0 * a[1] - 0.0) / 2.0
    assert tally == {"multiply": 1}
    _ = scalar.sqrt(a[0]) + scalar.atan2(a[0], a[1]) + scalar.sin(a[0]) / a[1]
    assert tally["root"] == 1
    assert tally["function"] == 2
    assert tally["divide"] == 1


def test_pivoted_elimination_solves_what_plain_elimination_cannot():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(50, 4, 4))
    A[:25, 0, 0] = 0
    b = rng.normal(size=(50, 4))
    x = scalar.stack(solve_by_rows(scalar.split(A, 2), scalar.split(b, 1)), (50,))
    assert_close(np.einsum("kij,kj->ki", A, x), b, condition=1e3)


def test_where_takes_vectors_batches_and_booleans():
    a, b = vec(1.0, 2.0), vec(3.0, 4.0)
    assert scalar.where(True, a, b) == a
    assert scalar.where(np.bool_(False), a, b) == b
    picked = scalar.where(np.array([True, False]), a, b)
    assert np.array(picked).tolist() == [[1, 3], [2, 4]]
    assert scalar.minimum(2.0, 3.0) == 2
    assert scalar.maximum(np.array([1.0, 5.0]), 3.0).tolist() == [3, 5]


def test_functions_give_nan_where_there_is_no_value():
    assert np.isnan(scalar.sqrt(-1.0))
    assert scalar.exp(1000.0) == np.inf
    assert scalar.log(0.0) == -np.inf


@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 5), (1, 3, 1)])
def test_batches_of_any_shape_broadcast(shape):
    p = np.broadcast_to([0.5, 0.5, 0.5, 0.5], (*shape, 4))
    assert quaternion.rotate(p, [1.0, 2, 3]).shape == (*shape, 3)
    assert np.shape(quaternion.norm(p)) == shape
    assert quaternion.axis_angle(p).axis.shape == (*shape, 3)


def test_results_do_not_share_memory_with_arguments():
    p = np.array([[1.0, 0, 0, 0]])
    q = quaternion.normalise(p)
    q[:] = 7
    assert p[0, 0] == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: quaternion.rotate([2, 0, 0, 0], [1, 2, 3]), ["quaternion.rotate, argument p", "norm 2", "unit=False"]),
        (lambda: quaternion.rotate([[1, 0, 0, 0], [2, 0, 0, 0]], [1, 2, 3]), ["norm 2 at index (1,)"]),
        (lambda: quaternion.normalise([0, 0, 0, 0]), ["quaternion.normalise", "is zero"]),
        (lambda: quaternion.inverse(np.zeros((3, 4))), ["quaternion.inverse", "at index (0,)"]),
        (lambda: quaternion.product([1, 2, 3], [1, 2, 3, 4]), ["argument a", "(3,)", "(..., 4)"]),
        (lambda: quaternion.product([1, 2, 3, np.inf], [1, 2, 3, 4]), ["argument a", "not finite", "inf"]),
        (lambda: quaternion.product("abcd", [1, 2, 3, 4]), ["argument a", "not an array of numbers"]),
        (lambda: quaternion.product([[1, 2], [3]], [1, 2, 3, 4]), ["argument a", "not an array of numbers"]),
        (lambda: quaternion.product(None, [1, 2, 3, 4]), ["argument a", "not an array of numbers"]),
        (lambda: quaternion.product(np.ones((2, 4)), np.ones((3, 4))), ["batch axes", "(2,)", "(3,)"]),
        (lambda: quaternion.from_matrix(np.diag([1, 1, -1])), ["reflection", "-1"]),
        (lambda: quaternion.from_matrix(2 * np.eye(3)), ["not a rotation matrix", "RᵀR"]),
        (lambda: quaternion.from_axis_angle([0, 0, 0], 1.0), ["argument axis", "is zero"]),
        (lambda: quaternion.from_axis_angle([1e-200, 0, 0], 1.0), ["argument axis", "too short to compute with"]),
        (lambda: quaternion.from_axis_angle([0, 1e200, 0], 1.0), ["argument axis", "too long to compute with"]),
        (lambda: quaternion.rotate([1e200, 0, 0, 0], [1, 2, 3]), ["argument p", "norm inf"]),
        (lambda: quaternion.rotate([2, 0, 0, 0], [1, 2, 3], unit="no"), ["argument unit", "neither true nor false"]),
        (lambda: quaternion.mean([[1j, 0, 0, 0]]), ["quaternion.mean, argument p", "not real numbers"]),
        (lambda: quaternion.wxyz_to_gibbs([0, 1, 0, 0]), ["half a turn", "wxyz_to_mrp"]),
        (lambda: quaternion.wxyz_to_scipy([1, 1, 0, 0]), ["not a unit quaternion"]),
    ],
)
def test_bad_input_is_told_where_and_what(call, words):
    with pytest.raises(ph.InputError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_off_the_sphere_is_allowed_when_asked():
    assert_close(quaternion.rotate([2, 0, 0, 0], [1.0, 2, 3], unit=False), [4.0, 8, 12])


def test_a_wrong_number_of_arguments_is_a_type_error_as_in_python():
    with pytest.raises(TypeError):
        quaternion.rotate([1, 0, 0, 0])
    with pytest.raises(TypeError):
        quaternion.rotate([1, 0, 0, 0], [1, 2, 3], [4])
