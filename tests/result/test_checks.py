"""Grades: what is good, loose or failed, and why."""

import json
import math

import numpy as np
import pytest

import polhode as ph
from polhode.result.checks import TOGETHER, Residual, Steps, _ranges_of, grade
from polhode.result.dataset import Facts, Trajectory, dataset
from polhode.result.error_estimate import Difference, ErrorEstimate
from polhode.result.symmetry import AXES, Conserved, conserved
from polhode.result.verdict import FAILED, GOOD, Check, Grade

N = 1001
TIME = np.linspace(0, 10, N)
STEPS = Steps(1000)
TOLERANCE = 1e-9
CONDITION = 2.0
ALLOWED = CONDITION * 1000 * TOLERANCE
"""How far a run of 1000 steps at this tolerance and condition may drift, relative to its scale."""


def swing(energy_drift=0.0, **more):
    """A pendulum of energy scale 1 J that gains this much energy; its greatest speed is 1."""
    return {
        "time": TIME,
        "q": np.sin(TIME)[:, None],
        "v": np.cos(TIME)[:, None],
        "kinetic_energy": np.cos(TIME) ** 2 / 2 + energy_drift * TIME / 10,
        "potential_energy": np.sin(TIME) ** 2 / 2 - 9.81,
        **more,
    }


def estimated(worst=0.0, until=N, why=""):
    """An error that grows to this much at the sixth second, and is estimated up to a sample."""
    return ErrorEstimate(TIME[:until], np.where(TIME < 6, 0.0, worst)[:until], until == N, "tolerance 1e-11", why)


def check(found, name):
    return next(check for check in found.checks if check.name == name)


def judged(run, **more):
    asked = {"tolerance": TOLERANCE, "condition": CONDITION, "steps": STEPS, "error": estimated()}
    return grade(run, **{**asked, **more})


@pytest.mark.parametrize(
    ("drift", "verdict"),
    [(0, "good"), (0.9 * ALLOWED, "good"), (2 * ALLOWED, "loose"), (90 * ALLOWED, "loose"), (200 * ALLOWED, "failed")],
)
def test_energy_drift_is_judged_by_tolerance_steps_and_condition(drift, verdict):
    found = judged(swing(drift))
    energy = check(found, "energy drift")
    assert found.verdict == energy.verdict == verdict
    assert energy.threshold == pytest.approx(ALLOWED, rel=1e-3)
    assert energy.limit == pytest.approx(100 * ALLOWED, rel=1e-3)
    assert energy.value == pytest.approx(drift, rel=1e-2, abs=1e-14)


def test_losing_energy_counts_like_gaining_it():
    assert judged(swing(-200 * ALLOWED)).verdict == "failed"


@pytest.mark.parametrize(("drift", "verdict"), [(9e-5, "good"), (2e-4, "loose"), (9e-3, "loose"), (2e-2, "failed")])
def test_no_tolerance_makes_a_large_drift_good(drift, verdict):
    assert judged(swing(drift), tolerance=0.1).verdict == verdict


@pytest.mark.parametrize(("drift", "verdict"), [(5e-7, "good"), (9e-5, "loose"), (2e-4, "failed")])
def test_equal_steps_are_judged_by_a_fixed_bound_or_the_accuracy_asked_for(drift, verdict):
    found = grade(swing(drift), tolerance=None, steps=Steps(10**8), error=estimated())
    assert found.verdict == verdict
    assert "Equal steps" in found.basis
    assert grade(swing(1e3 * drift), steps=Steps(10**8), error=estimated(), accuracy=1e-3).verdict == verdict


def test_rounding_in_a_large_potential_is_not_a_drift():
    """Energies far from zero are known to ε times their size only."""
    height = 1e9
    run = swing(potential_energy=np.sin(TIME) ** 2 / 2 + height + np.spacing(height) * (np.arange(N) % 3))
    assert check(judged(run, tolerance=1e-14), "energy drift").value > 1000 * 1e-14
    assert judged(run, tolerance=1e-14).verdict == "good"


def test_a_machine_at_rest_is_good():
    rest = {"time": TIME, "v": np.zeros((N, 1)), "kinetic_energy": np.zeros(N), "potential_energy": np.full(N, -3.0)}
    assert grade(rest, TOLERANCE, error=estimated()).verdict == "good"
    noise = rest["potential_energy"] * (1 + 2e-16 * np.arange(N) / N)
    assert grade(rest | {"potential_energy": noise}, TOLERANCE, error=estimated()).verdict == "good"


@pytest.mark.parametrize(("speed", "verdict"), [(1e-10, "good"), (1e-3, "failed")])
def test_energy_of_speeds_that_count_as_none_is_not_judged_by_itself(speed, verdict):
    """A machine that rests but for what its tolerance allows: all its energy is error, and less than an error may be;
    a slow motion that its tolerance resolves is judged by its own energy."""
    run = swing(0.0)
    run |= {"v": speed * run["v"], "q": speed * run["q"], "potential_energy": np.zeros(N)}
    run |= {"kinetic_energy": speed**2 * np.linspace(0.5, 1.0, N)}
    assert judged(run, conserved=Conserved(mass=1.0)).verdict == verdict


def test_work_explains_a_change_of_energy():
    run = swing(0.5)
    assert judged(run).verdict == "failed"
    assert judged(run | {"work": 0.5 * TIME / 10}, conserved=Conserved(energy=False)).verdict == "good"
    assert judged(run | {"work": 0.4 * TIME / 10}, conserved=Conserved(energy=False)).verdict == "failed"


def test_an_energy_that_no_law_keeps_is_not_judged():
    found = judged(swing(0.5), conserved=Conserved(energy=False, because="dampers at hinge"))
    assert check(found, "energy drift").value is None
    assert "not conserved by this model (dampers at hinge)" in str(found)
    assert found.verdict == "good"


@pytest.mark.parametrize("tolerance", [None, TOLERANCE])
def test_without_an_estimate_of_its_error_no_run_is_good(tolerance):
    """What is conserved can lower a verdict, never raise it."""
    found = grade(swing(), tolerance, steps=STEPS)
    assert (found.verdict, check(found, "error of the motion").verdict) == ("unchecked", "unchecked")
    assert "unchecked" in str(found).splitlines()[0]
    assert "not estimated: verify=False" in check(found, "error of the motion").note
    assert math.isnan(found.good_until)
    assert [grade(swing(x), tolerance, steps=STEPS).verdict for x in (9e-5, 2.0)] == ["loose", "failed"]
    assert grade(swing(), tolerance, steps=STEPS, status="interrupted", error=estimated()).verdict == "unchecked"


def test_a_part_that_was_not_accompanied_is_told_and_unchecked():
    found = judged(swing(), error=estimated(until=301, why="too much work"))
    assert (found.verdict, check(found, "error of the motion").verdict) == ("unchecked", "good")
    assert check(found, "error of the motion, later").note == "not estimated after t = 3: too much work"
    assert judged(swing(), error=estimated(200 * ALLOWED, until=801)).verdict == "failed"


def test_a_run_is_good_until_the_two_part():
    found = judged(swing(), error=estimated(2 * ALLOWED))
    assert (found.verdict, found.good_until) == ("loose", pytest.approx(6.0))
    assert "good until t = 6" in check(found, "error of the motion").note
    assert judged(swing(), error=estimated(0.9 * ALLOWED)).good_until == 10.0


def test_a_drift_that_shrinks_with_the_steps_is_the_error_of_the_motion():
    run, lower = swing(50 * ALLOWED), judged(swing(50 * ALLOWED))
    assert lower.verdict == "loose"
    assert judged(run, companion=lambda: swing(0.4 * 50 * ALLOWED)).verdict == "good"
    assert judged(run, companion=lambda: swing(0.6 * 50 * ALLOWED)).verdict == "loose"
    assert judged(run, companion=lambda: swing(0.4 * 50 * ALLOWED), error=estimated(2 * ALLOWED)).verdict == "loose"


@pytest.mark.parametrize("kind", ["linear", "angular"])
def test_momentum_is_judged_along_the_directions_it_is_kept(kind):
    momentum = np.outer(np.ones(N), [1.0, 0.0, 2.0]) + np.outer(TIME, [0, 0.01, 0])
    run = swing(**{f"{kind}_momentum": momentum})
    assert judged(run).verdict == "good"
    assert judged(run, conserved=Conserved(**{kind: (AXES[0], AXES[2])})).verdict == "good"
    found = judged(run, conserved=Conserved(**{kind: AXES}))
    assert (found.verdict, check(found, f"{kind} momentum drift").verdict) == ("failed", "failed")
    assert check(found, f"{kind} momentum drift").value == pytest.approx(0.1 / np.sqrt(5.01))


def test_a_momentum_of_zero_is_judged_by_what_the_machine_could_have():
    """|P| ≤ √(2mT): without that scale, rounding would be all of a momentum of zero."""
    run = swing(linear_momentum=np.outer(np.sin(37 * TIME), [1e-16, 0, 0]))
    assert judged(run, conserved=Conserved(linear=AXES, mass=2.0)).verdict == "good"


def test_the_length_of_quaternions_is_judged():
    assert judged(swing(norm_error=np.full(N, 1e-9))).verdict == "good"
    assert judged(swing(norm_error=np.full(N, 5e-6)), tolerance=1e-3).verdict == "loose"
    assert judged(swing(norm_error=np.full(N, 0.1)), tolerance=1e-3).verdict == "failed"


def test_residuals_are_judged_in_parts_of_their_scale():
    gap = np.full((N, 2), 5 * ALLOWED)
    assert judged(swing(), residuals={"loop": Residual(gap, scale=10.0)}).verdict == "good"
    found = judged(swing(), residuals={"loop": Residual(gap, scale=1.0)})
    assert check(found, "residual, loop").verdict == found.verdict == "loose"


@pytest.mark.parametrize("name", ["q", "v", "kinetic_energy"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_run_that_is_not_finite_has_failed(name, bad):
    run = swing()
    run[name][N // 2] = bad
    assert judged(run).verdict == "failed"


def test_a_run_that_ended_badly_has_failed():
    found = judged(swing(), status="failed", reason="step too small")
    assert found.verdict == "failed"
    assert "failed: step too small" in str(found)
    assert judged(swing(), status="stopped", reason="event hit").verdict == "good"


def test_slow_motions_are_known_less_well():
    """The tolerance is absolute too: a speed of 1e-3 is known to a thousandth as many digits."""
    slow = {name: 1e-3 * values if name in "qv" else values for name, values in swing(5e-5).items()}
    assert grade(swing(5e-5), TOLERANCE, steps=STEPS, error=estimated()).verdict == "loose"
    assert grade(slow, TOLERANCE, steps=STEPS, error=estimated()).verdict == "good"


def test_parts_of_a_run_are_judged_as_the_whole():
    run = swing(3 * ALLOWED, linear_momentum=np.outer(TIME, [1, 0, 0]), norm_error=np.linspace(0, 1e-8, N))
    kept = Conserved(linear=AXES, mass=1.0)
    parts = ({name: values[k : k + 100] for name, values in run.items()} for k in range(0, N, 100))
    assert judged(parts, conserved=kept) == judged(run, conserved=kept)


def two_links():
    bodies = [ph.Body("a", 1.0, (1, 1, 1)), ph.Body("b", 1.0, (1, 1, 1))]
    joints = [
        ph.Joint("ball", "spherical", "world", "a"),
        ph.Joint("knee", "revolute", "a", "b", lower=-0.5, upper=0.75),
    ]
    return ph.Model("leg", bodies=bodies, joints=joints)


def leg(n=50):
    time = np.linspace(0, 3, n)
    q = np.zeros((n, 5))
    q[:, 0], q[:, 1], q[:, 4] = np.cos(time), np.sin(time), np.sin(time)
    return time, q, np.zeros((n, 4))


def test_limits_that_were_passed_are_told_and_judge_nothing():
    time, q, v = leg()
    run = {"time": time, "q": q, "v": v, "total_energy": np.ones(50)}
    found = grade(run, TOLERANCE, model=two_links(), error=estimated())
    limits = [check for check in found.checks if check.name == "joint limit"]
    assert [limit.value for limit in limits] == [pytest.approx(np.max(q[:, 4]) - 0.75)]
    assert "knee" in limits[0].note
    assert found.verdict == "good"


def test_the_difference_of_two_runs_does_not_mind_the_sign_of_a_quaternion():
    _, q, v = leg()
    other = q.copy()
    other[:, :4] *= -1
    run, same = {"q": q, "v": v}, {"q": other, "v": v}

    def worst():
        return np.max(Difference(two_links())(run, same))

    assert worst() == 0
    other[20, 4] += 1e-3
    assert worst() == pytest.approx(1e-3 / (1 + np.max(q[:21, 4])))
    other[20, 4] = np.nan
    assert worst() == math.inf
    with pytest.raises(ph.InputError, match="the same times"):
        Difference(two_links())(run, {"q": q[:-1], "v": v[:-1]})


def test_a_run_that_flies_away_is_not_measured_by_its_own_size():
    _, q, v = leg()
    wild = q.copy()
    wild[:, 4] *= 1e6
    apart = Difference(two_links())({"q": wild, "v": v}, {"q": q, "v": v})
    assert np.max(apart) > 1e5
    parts = Difference(two_links())
    found = [
        parts({"q": wild[k : k + 7], "v": v[k : k + 7]}, {"q": q[k : k + 7], "v": v[k : k + 7]})
        for k in range(0, 50, 7)
    ]
    assert np.array_equal(np.concatenate(found), apart)


def test_an_error_found_by_a_companion_is_judged():
    assert judged(swing(), error=estimated(0.5 * ALLOWED)).verdict == "good"
    assert judged(swing(), error=estimated(math.inf)).verdict == "failed"


def test_steps_are_told():
    steps = Steps.of([0.1, 0.2, 0.4], rejected=5)
    assert steps == Steps(3, 5, 0.1, 0.2, 0.4)
    assert "5 more rejected; sizes 0.1 to 0.4 s, median 0.2 s" in str(judged(swing(), steps=steps))
    assert Steps.of([]).accepted == 0


def test_a_dataset_is_judged_like_its_arrays():
    time, q, v = leg()
    energies = {"kinetic_energy": np.cos(time) ** 2, "potential_energy": np.sin(time) ** 2 + 3e-9 * time}
    run = dataset(two_links(), Trajectory(time, q, v, energies), Facts())
    norms = {"norm_error": run["norm_error"].values}
    assert grade(run, TOLERANCE) == grade({"time": time, "q": q, "v": v, **energies, **norms}, TOLERANCE)


def test_a_grade_prints_within_80_columns_with_its_thresholds():
    text = str(judged(swing(2 * ALLOWED), conserved=Conserved(linear=AXES)))
    assert text.startswith("This run is loose.")
    assert max(map(len, text.splitlines())) <= 80
    assert "condition 2 × steps 1000 × tolerance 1e-09" in " ".join(text.split())
    line = next(line for line in text.splitlines() if line.startswith("energy drift "))
    assert line.split() == ["energy", "drift", "4.00e-06", "2.00e-06", "2.00e-04", "loose"]


def test_checks_are_the_json_of_their_fields():
    texts = 'a "b" \\ c', "θ̇ → ∞\n", "\x00\x1f"
    for value in (None, 1, 1e-300, -0.0, np.float64(0.1)):
        check = Check(texts[0], value, 0.25, None, texts[1], GOOD, texts[2])
        assert json.loads(check.as_json()) == check._asdict()
    lost = json.loads(Check("x", math.nan, math.inf, -math.inf, "", FAILED).as_json())
    assert [lost[name] for name in ("value", "threshold", "limit")] == ["nan", "inf", "-inf"]


def test_a_grade_survives_as_attributes():
    found = judged(swing(np.nan), error=estimated(math.inf))
    kept = found.attributes()
    assert str(Grade.of(kept)) == str(found)
    assert kept["verdict"] == "failed"
    names = {"name", "value", "threshold", "limit", "unit", "verdict", "note"}
    assert all(row.keys() == names for row in json.loads(kept["grade"], parse_constant=pytest.fail))
    assert Grade.of({"verdict": "", "grade": ""}) is None
    assert found.rows()[0].keys() == {"check", "value", "good up to", "loose up to", "verdict", "note"}


# what a model conserves

GRAVITY = (0, 0, -9.81)
TILTED = (0.6 * 9.81, 0, -0.8 * 9.81)
X, Y, Z = AXES


def machine(kind, gravity, **joint):
    """A body on the world by a joint of this kind, with a second body on it."""
    inertia = ((1.0, 0.1, 0.0), (0.1, 1.2, 0.0), (0.0, 0.0, 0.8))
    bodies = [ph.Body("a", 1.0, inertia, center=(0.1, 0.2, 0.3)), ph.Body("b", 2.0, inertia, center=(0.3, 0, 0.1))]
    arm = ph.Joint("arm", "revolute", "a", "b", axis=(1, 2, 3), position=(0.5, 0, 0), damping=0.3, armature=0.1)
    return ph.Model("m", gravity, bodies=bodies, joints=[ph.Joint("root", kind, "world", "a", **joint), arm])


CASES = [
    (machine("free", (0, 0, 0)), 3, 3),
    (machine("free", (0, 0, 0), position=(1, 2, 3)), 3, 3),
    (machine("free", GRAVITY), 2, 1),
    (machine("free", TILTED), 2, 1),
    (machine("free", (0, 0, 0), armature=0.1), 0, 0),
    (machine("free", (0, 0, 0), damping=0.1), 0, 0),
    (machine("spherical", (0, 0, 0)), 0, 3),
    (machine("spherical", (0, 0, 0), position=(1, 0, 1)), 0, 1),
    (machine("spherical", GRAVITY, position=(0, 0, 1)), 0, 1),
    (machine("spherical", GRAVITY, position=(0, 1, 1)), 0, 0),
    (machine("revolute", GRAVITY, axis=Z), 0, 1),
    (machine("revolute", GRAVITY, axis=Z, position=(1, 0, 0)), 0, 0),
    (machine("revolute", GRAVITY, axis=X), 0, 0),
    (machine("revolute", TILTED, axis=X, orientation=(0.0, 0.6, 0.0, 0.8)), 0, 0),
    (machine("universal", GRAVITY, axis=Z), 0, 1),
    (machine("prismatic", GRAVITY, axis=(1, 1, 0)), 1, 0),
    (machine("prismatic", GRAVITY, axis=Z), 0, 0),
    (machine("cylindrical", (0, 0, 0), axis=Z), 1, 1),
    (machine("planar", GRAVITY, position=(1, 2, 3)), 2, 1),
    (machine("screw", (0, 0, 0), axis=Z, pitch=0.1), 0, 0),
    (machine("fixed", (0, 0, 0)), 0, 0),
]


@pytest.mark.parametrize(("model", "linear", "angular"), CASES)
def test_the_momentum_that_a_model_is_said_to_conserve_does_not_change(model, linear, angular):
    kept = conserved(model)
    assert (len(kept.linear), len(kept.angular)) == (linear, angular)
    system, rng = ph.compile(model, target="python"), np.random.default_rng(3)
    q = system.integrate(
        np.array([x for j in model.joints for x in ph.model.JOINTS[j.type].zero]), rng.normal(size=system.nv)
    )
    v, h = rng.normal(size=system.nv), 1e-4
    vd = system.forward_dynamics(q, v, np.zeros(system.nv))

    def momentum(t):
        return system.momentum(system.integrate(q, t * v + t * t / 2 * vd), v + t * vd)

    late, early = momentum(h), momentum(-h)
    for directions, after, before in ((kept.linear, late[0], early[0]), (kept.angular, late[1], early[1])):
        for direction in directions:
            assert abs(np.dot(direction, after - before)) / (2 * h) < 1e-5


def test_inputs_and_forces_end_what_they_act_on():
    model = machine("free", (0, 0, 0))
    assert conserved(model, driven=["arm"]).linear == AXES
    assert conserved(model, driven=["root"]).linear == ()
    assert conserved(model, driven=["root"]).because == "dampers at arm, inputs at root"
    outside = [ph.Force("wind", "a", force=(1, 0, 0)), ph.Spring("rope", "world", "a", stiffness=1.0)]
    for force in outside:
        pulled = ph.Model("m", (0, 0, 0), model.bodies, model.joints, forces=[force])
        assert conserved(pulled).linear == conserved(pulled).angular == ()
    inside = ph.Spring("rope", "a", "b", stiffness=1.0, rest=0.1)
    assert conserved(ph.Model("m", (0, 0, 0), model.bodies, model.joints, forces=[inside])).angular == AXES


def test_energy_is_kept_without_dampers_inputs_and_given_forces():
    body = [ph.Body("b", 1.0, (1, 1, 1))]
    spring = ph.Joint("j", "revolute", "world", "b", stiffness=2.0)
    assert conserved(ph.Model("m", bodies=body, joints=[spring])).energy
    assert not conserved(ph.Model("m", bodies=body, joints=[spring]), driven=["j"]).energy
    wind = [ph.Force("wind", "b", force=(1, 0, 0))]
    assert conserved(ph.Model("m", bodies=body, joints=[spring], forces=wind)).because == "given forces at wind"


def test_no_time_is_told_where_the_estimate_does_not_see_what_lowers_the_verdict():
    time = np.linspace(0.0, 1.0, 11)
    arrays = {"time": time, "v": np.ones((11, 1)), "kinetic_energy": 1.0 + time, "potential_energy": 0 * time}
    arrays["total_energy"] = arrays["kinetic_energy"]
    small = ErrorEstimate(time, np.full(11, 1e-12), True, "tolerance 1e-11")
    found = grade(arrays, 1e-9, Conserved(), error=small)
    assert found.verdict == "failed"
    assert np.isnan(found.good_until)
    assert grade({**arrays, "total_energy": np.ones(11)}, 1e-9, Conserved(), error=small).good_until == 1.0


@pytest.mark.parametrize("none", [{}, {"none": (0,)}])
@pytest.mark.parametrize("n", [1, 7, TOGETHER, TOGETHER + 1])
def test_ranges_of_all_numbers_are_those_of_each(n, none):
    rng = np.random.default_rng(n)
    sizes = {"q": (3,), "v": (3,), "T": (), "M": (2, 2), "u": (2,), **none}
    arrays = {name: rng.normal(size=(n, *size)) for name, size in sizes.items()}
    arrays["q"][n // 2, 1], arrays["u"][n // 2, 0] = np.nan, -np.inf
    found = _ranges_of(arrays | {"empty": np.zeros((0, 2))})
    assert found.keys() == arrays.keys()
    for name, values in arrays.items():
        for part, expected in (("first", values[0]), ("low", values.min(axis=0)), ("high", values.max(axis=0))):
            np.testing.assert_array_equal(getattr(found[name], part), expected)
            assert np.shape(getattr(found[name], part)) == np.shape(expected)
        with np.errstate(invalid="ignore"):
            drift, size = np.max(abs(values - values[0]), initial=0.0), np.max(abs(values), initial=0.0)
        np.testing.assert_array_equal([found[name].drift, found[name].size], [drift, size])
