"""All published forms give one acceleration, and each the multiplier that theory predicts."""

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import plain
import polhode as ph
from close import assert_close
from indexing import equation
from strategies import inertias, quaternions, states, vectors

PLAIN = [name for name in ph.forms if not name.startswith("schwab-meijaard-19")]


@st.composite
def problems(draw):
    """A state, an inertia, every kind of load, and the body torque that all of it amounts to."""
    p, pdot = draw(states())
    J = draw(inertias())
    loads = {
        "torque": draw(vectors()),
        "space_torque": draw(vectors()),
        "force": draw(vectors()),
        "point": draw(vectors()),
        "generalized": draw(vectors(4)),
    }
    A = plain.matrix(p)
    n = loads["torque"] + A.T @ loads["space_torque"]
    n = n + A.T @ np.cross(A @ loads["point"], loads["force"])
    n = n + plain.ham(plain.star(p), loads["generalized"])[1:] / 2
    return p, pdot, J, loads, n


def check(name, problem, kinds=None, **options):
    """The form's acceleration is Newton's and Euler's; its multiplier is as predicted. Returns the answer."""
    p, pdot, J, loads, _ = problem
    used = loads if kinds is None else {k: loads[k] for k in kinds}
    A = plain.matrix(p)
    zero = np.zeros(3)
    n = used.get("torque", zero) + A.T @ used.get("space_torque", zero)
    n = n + A.T @ np.cross(A @ used.get("point", zero), used.get("force", zero))
    n = n + plain.ham(plain.star(p), used.get("generalized", np.zeros(4)))[1:] / 2
    answer = ph.acceleration(name, p, pdot, J, **used, **options)
    condition = 4 * max(1, np.linalg.cond(J)) * max(1, 1 / np.min(np.linalg.eigvalsh(J)))
    assert_close(answer.pddot, plain.pddot(p, pdot, J, n), condition=condition, scale=100)
    if answer.multiplier is not None:
        assert_close(answer.multiplier, answer.predicted, condition=condition, scale=100)
    return answer


def energy4(problem):
    """4T."""
    p, pdot, J, *_ = problem
    omega = plain.omega(p, pdot)
    return 2 * omega @ J @ omega


def virial2(problem):
    """2 f·(A u)"""
    p, _, _, loads, _ = problem
    return 2 * loads["force"] @ plain.matrix(p) @ loads["point"]


FORCE = ("force", "point")


@equation("Sherif 23, 24, 34, 37", of="acceleration", note='forms "sherif-23", "sherif-34"')
@given(problems())
def test_form_23_has_no_multiplier(problem):
    for name in ("sherif-23", "sherif-34", "sherif-37"):
        answer = check(name, problem, ("torque", "space_torque", "force", "point"))
        assert_close(answer.multiplier, 0.0, condition=100, scale=100)


@equation("Sherif 25, 31", of="acceleration", note='form "sherif-25"')
@given(problems())
def test_form_25_needs_no_multiplier(problem):
    assert check("sherif-25", problem).multiplier is None


@equation("Sherif 29, 30, 39", of="acceleration", note='forms "sherif-29", "sherif-39"')
@given(problems())
def test_form_29_has_four_times_the_kinetic_energy_as_multiplier(problem):
    for name in ("sherif-29", "sherif-39"):
        answer = check(name, problem, ("torque", "space_torque", "force", "point"))
        assert_close(answer.multiplier, energy4(problem), condition=100, scale=100)
    half = check("sherif-29+2p", problem, ("torque",))
    assert_close(half.multiplier, energy4(problem) / 2, condition=100, scale=100)


@equation("Sherif 35, 36, 38", of="acceleration", note='forms "sherif-35", "sherif-36", "sherif-38"')
@given(problems())
def test_closed_solutions_of_form_23(problem):
    for name in ("sherif-35", "sherif-36", "sherif-38"):
        answer = check(name, problem, ("torque", "space_torque", "force", "point"))
        assert_close(answer.multiplier, 0.0, condition=100, scale=100)


@equation("Sherif 40", of="acceleration", note='form "sherif-40"')
@given(problems())
def test_closed_solution_of_form_29(problem):
    answer = check("sherif-40", problem, ("torque", "force", "point"))
    assert_close(answer.multiplier, energy4(problem), condition=100, scale=100)


@equation("Sherif 79", of="acceleration", note='form "sherif-79"')
@given(problems())
def test_form_79_takes_the_force_through_B1(problem):
    assert_close(check("sherif-79", problem, FORCE).multiplier, 0.0, condition=100, scale=100)


@equation("Sherif 82-84", of="acceleration", note='forms "sherif-82", "sherif-83", "sherif-84"; λ = 2 f·(A u)')
@given(problems())
def test_multiplier_of_form_82_is_twice_the_virial(problem):
    for name in ("sherif-82", "sherif-83", "sherif-84", "sherif-23+gh", "sherif-23+q2-reduced"):
        assert_close(check(name, problem, FORCE).multiplier, virial2(problem), condition=100, scale=100)


@equation('Sherif "only mentioned: Q2 full"', of="acceleration", note='form "sherif-23+q2"; λ = 2 f·(A + I) u')
@given(problems())
def test_multiplier_of_the_whole_second_force_depends_on_the_space_frame(problem):
    loads = problem[3]
    expected = virial2(problem) + 2 * loads["force"] @ loads["point"]
    assert_close(check("sherif-23+q2", problem, FORCE).multiplier, expected, condition=100, scale=100)


@equation('Sherif "29 with each load variant"', of="acceleration", note="λ = 4T + the part of the load")
@given(problems())
def test_multipliers_of_form_29_add_up_for_each_force_variant(problem):
    loads = problem[3]
    parts = {
        "q1": 0.0,
        "gh": virial2(problem),
        "q2-reduced": virial2(problem),
        "q2": virial2(problem) + 2 * loads["force"] @ loads["point"],
    }
    for variant, part in parts.items():
        answer = check(f"sherif-29+{variant}", problem, FORCE)
        assert_close(answer.multiplier, energy4(problem) + part, condition=100, scale=100)


@equation("Udwadia 12, 13", of="acceleration", note='form "udwadia-12", any J0 > 0')
@given(problems(), st.floats(0.3, 3.0))
def test_fundamental_equation_with_a_generalised_torque(problem, J0):
    p, _, _, loads, _ = problem
    answer = check("udwadia-12", problem, J0=J0)
    assert_close(answer.multiplier, energy4(problem) + p @ loads["generalized"], condition=100, scale=100)


@equation(
    "Udwadia 19, 20, 22", of="acceleration", note='forms "udwadia-19", "udwadia-20", "udwadia-22"; λ = 4T + p·Γ_u'
)
@given(problems(), st.floats(0.3, 3.0))
def test_projected_forms_with_a_generalised_torque(problem, J0):
    p, _, _, loads, _ = problem
    for name in ("udwadia-19", "udwadia-20", "udwadia-22"):
        answer = check(name, problem, J0=J0)
        assert_close(answer.multiplier, energy4(problem) + p @ loads["generalized"], condition=100, scale=100)


@equation("Udwadia 29", of="acceleration", note='form "udwadia-29"')
@equation("Udwadia 42", of="acceleration", note='form "udwadia-42"; equals Sherif 38')
@given(problems())
def test_explicit_forms_need_neither_multiplier_nor_J0(problem):
    for name in ("udwadia-29", "udwadia-42"):
        assert check(name, problem).multiplier is None


@equation("Udwadia 40, 43-45", of="acceleration", note='forms "udwadia-40", "udwadia-45", any J0 > 0')
@given(problems(), st.floats(0.3, 3.0))
def test_forms_with_a_physical_torque_have_four_times_the_energy(problem, J0):
    for name in ("udwadia-40", "udwadia-45"):
        answer = check(name, problem, J0=J0)
        assert_close(answer.multiplier, energy4(problem), condition=100, scale=100)


@equation("Schwab-Meijaard 42; Schwab 23", of="acceleration", note='forms "schwab-meijaard-42", "schwab-23"; λ = 2T')
@given(problems())
def test_schwabs_augmented_form_has_twice_the_kinetic_energy(problem):
    for name in ("schwab-meijaard-42", "schwab-23"):
        answer = check(name, problem, ("torque", "space_torque", "force", "point"))
        assert_close(answer.multiplier, energy4(problem) / 2, condition=100, scale=100)


@equation("Schwab-Meijaard 45, 46", of="acceleration", note='form "schwab-meijaard-45"')
@given(problems())
def test_state_form_in_euler_parameters(problem):
    p, pdot, J, _, n = problem
    answer = check("schwab-meijaard-45", problem)
    omega = plain.omega(p, pdot)
    expected = np.linalg.solve(J, n - np.cross(omega, J @ omega))
    assert_close(answer.own, expected, condition=np.linalg.cond(J), scale=100)


@equation("Schwab-Meijaard 18, 19", of="acceleration", note='form "schwab-meijaard-19"; ü in .own')
@equation("Schwab-Meijaard 20, 21", of="acceleration", note='form "schwab-meijaard-20"; ω̇ in .own')
@given(problems(), st.sampled_from(["313", "321", "123", "232", "extrinsic-321"]))
def test_forms_in_euler_angles_away_from_lock(problem, sequence):
    p, pdot, J, _, _ = problem
    u = ph.euler.from_quaternion(sequence, p, at_lock="flag").value
    lock = ph.euler.condition(sequence, u)
    assume(lock < 10)
    expected = plain.pddot(p, pdot, J, problem[4])
    for name in ("schwab-meijaard-19", "schwab-meijaard-20"):
        answer = ph.acceleration(name, p, pdot, J, **problem[3], sequence=sequence)
        assert_close(answer.pddot, expected, condition=lock**2 * np.linalg.cond(J), scale=100)
        assert answer.multiplier is None
        assert answer.own.shape == (3,)


@given(states(), inertias(), vectors(4), st.floats(0.5, 2.0))
@settings(max_examples=30)
def test_all_forms_take_every_load_at_once(state, J, gamma, s):
    problem = (*state, J, {"generalized": s * gamma, "torque": gamma[:3]}, None)
    for name in ph.forms:
        if not name.startswith(("schwab-meijaard-19", "schwab-meijaard-20")):
            check(name, problem)


@equation(
    'Sherif "off the sphere: multipliers"',
    of="acceleration",
    note="EQUATIONS §10: form 23 keeps λ = 0, form 29 gives 2 ω·Jω/s², ω = 2 L ṗ",
)
@given(states(), inertias(), st.floats(0.5, 2.0))
def test_multipliers_off_the_unit_sphere(state, J, s):
    p, pdot = s * state[0], state[1]
    omega = 2 * plain.ham(plain.star(p), pdot)[1:]
    for name, expected in [("sherif-23", 0.0), ("sherif-29", 2 * omega @ J @ omega / s**2)]:
        answer = ph.acceleration(name, p, pdot, J, unit=False)
        assert_close(answer.multiplier, expected, condition=1e3, scale=100)
        assert_close(p @ answer.pddot + pdot @ pdot, 0.0, condition=1e3, scale=100)


@given(quaternions(), vectors(), inertias())
def test_both_signs_of_the_quaternion_have_one_acceleration(p, omega, J):
    pdot = ph.quaternion.rate(p, omega)
    for name in PLAIN:
        if name == "schwab-meijaard-20":
            continue
        a, b = (ph.acceleration(name, s * p, s * pdot, J) for s in (1, -1))
        assert_close(a.pddot, -b.pddot, condition=100, scale=100)


@pytest.mark.parametrize("name", list(ph.forms))
@pytest.mark.parametrize("shape", [(0,), (7,), (2, 5)])
def test_batches_are_what_their_entries_are(name, shape):
    rng = np.random.default_rng(3)
    p = rng.normal(size=(*shape, 4))
    p /= np.linalg.norm(p, axis=-1, keepdims=True)
    pdot = ph.quaternion.rate(p, rng.normal(size=(*shape, 3)))
    torque = rng.normal(size=3)
    batch = ph.acceleration(name, p, pdot, (1.0, 2.0, 2.5), torque=torque)
    assert batch.pddot.shape == (*shape, 4)
    for index in np.ndindex(*shape):
        one = ph.acceleration(name, p[index], pdot[index], (1.0, 2.0, 2.5), torque=torque)
        assert_close(batch.pddot[index], one.pddot, condition=100)
        if one.multiplier is not None:
            assert_close(batch.multiplier[index], one.multiplier, condition=100)


def test_three_results_unpack_in_the_promised_order():
    answer = ph.acceleration("sherif-29", [1, 0, 0, 0], [0, 0.5, 0, 0], (1, 2, 3), torque=(0, 0, 3.0))
    pddot, multiplier, predicted = answer
    assert np.allclose(pddot, [-0.25, 0, 0, 0.5])
    assert multiplier == pytest.approx(predicted) == pytest.approx(2.0)
    assert answer.own is None


P, PDOT, J = [1.0, 0, 0, 0], [0, 0.5, 0, 0], (1.0, 2.0, 2.5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ph.acceleration("sherif-92", P, PDOT, J), ["sherif-92", "Did you mean", "sherif-29"]),
        (lambda: ph.acceleration("sherif-32", P, PDOT, J), ["rank 3", "sherif-23"]),
        (lambda: ph.acceleration("sherif-29", [0, 0, 0, 0], PDOT, J), ["argument p", "norm 0"]),
        (lambda: ph.acceleration("sherif-29", [1.1, 0, 0, 0], PDOT, J), ["argument p", "norm 1.1", "unit=False"]),
        (lambda: ph.acceleration("sherif-29", [np.nan, 0, 0, 0], PDOT, J), ["argument p", "not finite"]),
        (lambda: ph.acceleration("sherif-29", [1, 0, 0], PDOT, J), ["argument p", "(3,)", "(..., 4)"]),
        (lambda: ph.acceleration("sherif-29", P, [0.5, 0, 0, 0], J), ["argument pdot", "p·ṗ = 0.5"]),
        (lambda: ph.acceleration("sherif-29", P, PDOT, (1, 2, 4)), ["argument inertia", "1, 2, 4", "sum", "(3)"]),
        (lambda: ph.acceleration("sherif-29", P, PDOT, (-1, 2, 2)), ["argument inertia", "not positive", "-1"]),
        (lambda: ph.acceleration("sherif-29", P, PDOT, (0, 2, 2)), ["argument inertia", "not positive"]),
        (lambda: ph.acceleration("sherif-29", P, PDOT, [[1, 1, 0], [0, 1, 0], [0, 0, 1]]), ["not symmetric"]),
        (lambda: ph.acceleration("sherif-29", P, PDOT, (1, 2)), ["argument inertia", "(2,)"]),
        (lambda: ph.acceleration("sherif-29", P, PDOT, J, torque="x"), ["argument torque", "not an array"]),
        (lambda: ph.acceleration("sherif-29", P, PDOT, J, force=(1, 0, 0)), ["only force", "point"]),
        (lambda: ph.acceleration("udwadia-45", P, PDOT, J, J0=-1.0), ["argument J0", "-1.0", "> 0"]),
        (lambda: ph.acceleration("schwab-meijaard-19", P, PDOT, J), ["313"]),
        (lambda: ph.acceleration("sherif-29", [P, P], [PDOT] * 3, J), ["batch", "(2,)", "(3,)"]),
    ],
)
def test_bad_input_is_told_where_and_what(call, words):
    with pytest.raises(ph.PolhodeError) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    for word in words:
        assert word in str(caught.value)


def test_unphysical_but_positive_inertia_is_allowed_when_asked():
    answer = ph.acceleration("sherif-38", P, PDOT, (1, 2, 4), physical=False)
    assert np.allclose(answer.pddot, [-0.25, 0, 0, 0])
