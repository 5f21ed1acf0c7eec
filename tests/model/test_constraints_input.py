"""Mistakes in constraints are told by name: in data, in files, in starts, in functions, in what contradicts itself."""

import json
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from free_bodies import flying, states
from polhode.formats.yaml import model_from_yaml

BODY = ph.Body("b", 1.0, (0.2, 0.2, 0.4))
HINGE = ph.Joint("j", "revolute", "world", "b")


def one(kind, of="revolute", **data):
    held = ph.Constraint("held", kind, data)
    return ph.Model("m", bodies=[BODY], joints=[ph.Joint("j", of, "world", "b")], constraints=[held])


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (one("hinge", body_b="b"), ["'held'", "no such type", "Did you mean 'revolute'?"]),
        (one("fixed", body_b="b"), ["'held'", "no such type", "Did you mean 'weld'?"]),
        (one("revolut", body_b="b"), ["'held'", "no such type", "Did you mean 'revolute'?"]),
        (one("revolute"), ["'held'", "'body_b' is missing"]),
        (one("distance", body_b="b"), ["'held'", "'length' is missing"]),
        (one("rolling-disk", body_b="b", raduis=1), ["'radius' is missing"]),
        (one("rolling-disk", body_b="b", radius=1, rimm=0.1), ["'rimm'", "Did you mean 'rim'?"]),
        (one("rolling-disk", body_b="b", radius=-1), ["'held', radius", "-1", "above 0"]),
        (one("distance", body_b="b", length=0.0), ["'held', length", "spherical"]),
        (one("distance", body_b="b", length="1"), ["'held', length", "'1'"]),
        (one("revolute", body_b="c"), ["'held', body_b", "no such body", "'c'"]),
        (one("revolute", body_b="world"), ["both ends on one body"]),
        (one("revolute", body_b="b", position_a=(1, 2)), ["'held', position_a", "wrong size", "3 numbers"]),
        (one("revolute", body_b="b", position_a=(1, 2, np.nan)), ["'held', position_a", "not a finite number"]),
        (one("revolute", body_b="b", axis_a=(0, 0, 0)), ["'held', axis_a", "is zero"]),
        (
            one("revolute", body_b="b", orientation_a=(1, 1, 0, 0)),
            ["orientation_a", "not a unit quaternion", "w, x, y, z"],
        ),
        (one("revolute", body_b="b", axis_a=(0, 0, 1), orientation_a=(1, 0, 0, 0)), ["an attitude twice"]),
        (one("mimic", joint="j", source="k"), ["'held', source", "no such joint"]),
        (one("mimic", joint="j", source="j"), ["follows itself"]),
        (one("prescribed", joint="j", value="t"), ["'held', value", "a function of time"]),
        (one("function", function=3, rows=1), ["'held', function", "not a function"]),
        (one("function", function=abs, rows=0), ["'held', rows"]),
        (one("function", function=abs, rows=1, holonomic=1), ["'held', holonomic"]),
    ],
)
def test_data_that_do_not_fit_are_told(model, words):
    with pytest.raises(ph.ModelError) as error:
        ph.compile(model)
    for word in words:
        assert word in str(error.value), (word, str(error.value))


def test_only_joints_of_one_axis_follow():
    with pytest.raises(ph.ModelError, match="not a joint of one axis"):
        ph.compile(one("prescribed", "planar", joint="j", value=0.0))


FILE = """name: m
parameters: {l: 0.5}
bodies: {b: {mass: 1, inertia: [1, 1, 1]}}
joints: {j: {type: free, parent: world, child: b}}
constraints:
  rod:
    type: distance
    body_b: b
    position_b: [l/2, 0, 0]
    length: 2*l
  hinge: {type: revolute, body_b: b, rpy_a: [pi/2, 0, 0], axis_b: [0, 1, 0]}
"""


def test_constraints_in_a_file_may_be_expressions():
    rod, hinge = model_from_yaml(FILE, "m.yaml").constraints
    assert rod.data == {"body_b": "b", "position_b": (0.25, 0, 0), "length": 1.0}
    assert hinge.data["orientation_a"] == pytest.approx((np.sqrt(0.5), np.sqrt(0.5), 0, 0))


def test_the_data_of_a_constraint_have_one_order():
    """The text of a model is the name of its kernels on the disk: it must not change from run to run."""
    rod, hinge = model_from_yaml(FILE, "m.yaml").constraints
    assert list(rod.data) == ["body_b", "position_b", "length"]
    assert list(hinge.data) == ["body_b", "axis_b", "orientation_a"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("length: 2*l", "lenght: 2", ["m.yaml:10, constraints.rod.lenght", "an unknown key", "'length'"]),
        ("    length: 2*l\n", "", ["m.yaml:6, constraints.rod", "'length' is missing"]),
        ("length: 2*l", "length: -1", ["m.yaml:10, constraints.rod.length", "above 0"]),
        ("length: 2*l", "length: 2*k", ["m.yaml:10, constraints.rod.length", "an unknown name"]),
        ("[l/2, 0, 0]", "[l/2, 0]", ["m.yaml:9, constraints.rod.position_b", "wrong size"]),
        ("axis_b: [0, 1, 0]", "axis_b: [0, 0, 0]", ["m.yaml:11, constraints.hinge.axis_b", "is zero"]),
        ("rpy_a: [pi/2, 0, 0]", "rpy_a: [0, 0, 0], orientation_a: [1, 0, 0, 0]", ["m.yaml:11", "an orientation twice"]),
        ("body_b: b, rpy_a", "body_c: b, rpy_a", ["m.yaml:11, constraints.hinge.body_c", "an unknown key"]),
    ],
)
def test_faults_in_a_file_have_their_line(old, new, words):
    assert old in FILE
    with pytest.raises(ph.ModelError) as error:
        model_from_yaml(FILE.replace(old, new, 1), "m.yaml")
    for word in words:
        assert word in str(error.value), (word, str(error.value))


# starts


def test_a_start_off_the_constraints_is_refused_by_name_and_residual():
    model = ph.load("four-bar")
    q = np.add(model.start.q, [0, 1e-3, 0])
    with pytest.raises(ph.InputError, match=r"'closing\.[xy]'.*violated at the start") as error:
        ph.simulate(model, q=q)
    assert "residual" in str(error.value)
    assert "consistent_start" in str(error.value)


def test_a_start_is_moved_when_asked(tmp_path):
    model = ph.load("four-bar")
    q = np.add(model.start.q, [0, 1e-3, 0])
    near = ph.consistent_start(model, q)
    for run in (
        ph.simulate(model, q=q, duration=0.1, samples=2, move_start=True),
        ph.record(tmp_path, model, q=q, duration=0.1, samples=2, move_start=True),
    ):
        assert np.array_equal(run["q"].values[0], near.q)
        assert json.loads(run.attrs["start_moved"]) == near.moved
    assert "start_moved" not in ph.simulate(model, duration=0.1, samples=2, move_start=True).attrs


def test_a_wheel_off_the_ground_is_refused():
    model = ph.load("rolling-disk")
    q = np.add(model.start.q, [0, 0, 0.05, 0, 0, 0, 0])
    with pytest.raises(ph.InputError, match=r"'ground.height'.*violated"):
        ph.simulate(model, q=q)


def test_a_wheel_that_slips_is_refused():
    model = ph.load("rolling-disk")
    v = np.array(model.start.v) * [2, 1, 1, 1, 1, 1]
    with pytest.raises(ph.InputError, match=r"'ground.slip x'.*violated"):
        ph.simulate(model, v=v)


def test_a_consistent_start_is_found_and_tells_what_it_moved():
    model = ph.load("slider-crank-3d")
    system = ph.compile(model)
    q = system.integrate(np.array(model.start.q), 0.05 * np.random.default_rng(0).normal(size=5))
    found = ph.consistent_start(model, q, model.start.v)
    missed = system.constraint_residuals(found.q, found.v)
    assert max(np.max(abs(missed.positions)), np.max(abs(missed.rates))) < 1e-11
    assert found.residual < 1e-11
    assert {"cross.x", "cross.y", "cross.z", "rate of cross.x"} <= set(found.moved)
    assert ph.simulate(model, found.q, found.v, duration=0.1, samples=2).attrs["status"] == "finished"


def test_a_consistent_start_leaves_a_good_start_alone():
    model = ph.load("bricard")
    found = ph.consistent_start(model)
    assert found.moved == {}
    assert list(found.q) == list(model.start.q)
    free = ph.load("pendulum")
    assert ph.consistent_start(free).moved == {}


def test_a_configuration_that_does_not_exist_is_told():
    """A rod of 1 m whose other end is 3 m away."""
    far = ph.Constraint(
        "rod", "distance", {"body_b": "b", "position_a": (3, 0, 0), "position_b": (1, 0, 0), "length": 1.0}
    )
    model = ph.Model("m", bodies=[BODY], joints=[HINGE], constraints=[far])
    with pytest.raises(ph.InputError, match=r"constraint 'rod\.length'.*cannot be met"):
        ph.consistent_start(model, [0.3], [0.0])


# contradictions


def prescribed(first, second):
    held = [ph.Constraint(n, "prescribed", {"joint": "j", "value": f}) for n, f in (("one", first), ("two", second))]
    return ph.Model("m", bodies=[BODY], joints=[HINGE], constraints=held)


CONTRADICTIONS = {
    "positions": prescribed(0.0, 1.0),
    "velocities": prescribed(lambda t: t, lambda t: 2 * t),
    "accelerations": prescribed(lambda t: t * t, lambda t: 2 * t * t),
}


@pytest.mark.parametrize("level", CONTRADICTIONS)
@pytest.mark.parametrize("act", [ph.consistent_start, ph.simulate])
def test_contradictory_constraints_are_named(level, act):
    with pytest.raises(ph.InputError) as error:
        act(CONTRADICTIONS[level])
    for word in ("contradict each other", "'one.value'", "'two.value'"):
        assert word in str(error.value)


def test_constraints_that_contradict_each_other_later_end_the_run():
    run = ph.simulate(prescribed(lambda t: t**3, lambda t: 2 * t**3), duration=1, samples=11)
    assert run.attrs["status"] == "failed"
    for word in ("contradict each other", "'one.value'", "'two.value'"):
        assert word in run.attrs["reason"]


def test_a_contradiction_among_loops_names_its_rows_alone():
    data = {"body_a": "a", "body_b": "b"}
    model = flying(
        ph.Constraint("rod", "distance", {**data, "length": 1.0}),
        ph.Constraint("pole", "distance", {**data, "length": 1.5}),
        ph.Constraint("hinge", "spherical", {"body_b": "a", "position_b": (0.1, 0.2, 0.3)}),
    )
    with pytest.raises(ph.InputError, match="contradict each other") as error:
        ph.consistent_start(model, *next(states()))
    assert "'rod.length'" in str(error.value)
    assert "'pole.length'" in str(error.value)
    assert "hinge" not in str(error.value)


def test_what_agrees_may_be_said_twice():
    run = ph.simulate(prescribed(ph.sin, ph.sin), [0.0], [1.0], duration=1, samples=3)
    assert run.attrs["status"] == "finished"
    assert run["q"].values[-1, 0] == pytest.approx(np.sin(1.0), abs=1e-12)


# functions


def by_function(function, rows=1, **more):
    held = ph.Constraint("mine", "function", {"function": function, "rows": rows, **more})
    return ph.Model("m", bodies=[BODY], joints=[HINGE], constraints=[held])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t, q: [q[0], q[0]], "2 numbers"),
        (lambda t, q: [], "expected 1 numbers"),
        (lambda t, q: None, "no number"),
        (lambda t, q: [[q[0]]], "inside one another"),
        (lambda t, q: "q", "no number"),
    ],
)
def test_a_function_with_the_wrong_number_of_results_is_named(function, words):
    with pytest.raises(ph.CompileError, match="constraint 'mine'") as error:
        ph.compile(by_function(function)).forward_dynamics([0.0], [0.0], [0.0])
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t, q: q[3], ["failed", "IndexError", Path(__file__).name]),
        (lambda t, q: 1.0 if q[0] > 0 else 0.0, ["neither true nor false", "where"]),
        (lambda q: q[0], ["takes other arguments", "(q)", "(t, q)"]),
        (lambda t, q, v: v[0], ["takes other arguments", "(t, q, v)", "holonomic=False"]),
    ],
)
def test_a_fault_within_a_function_names_the_constraint(function, words):
    with pytest.raises(ph.CompileError, match="constraint 'mine', function") as error:
        ph.compile(by_function(function))
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("function", [lambda t, q, v: v[0] * v[0], lambda t, q, v: ph.sin(v[0]) - 1])
def test_a_condition_of_velocities_that_is_not_linear_is_refused(function):
    with pytest.raises(ph.CompileError, match=r"constraint 'mine', function: not linear in v") as error:
        ph.compile(by_function(function, holonomic=False))
    assert "row '0'" in str(error.value)


@pytest.mark.parametrize("found", [([[1.0, 2.0]], [0.0]), ([[1.0]], [0.0, 1.0]), 3.0, ([], [])])
def test_a_matrix_of_the_wrong_shape_is_refused(found):
    with pytest.raises(ph.CompileError, match=r"constraint 'mine', function: wrong result") as error:
        ph.compile(by_function(lambda t, q: found, holonomic=False, matrix=True))
    assert "rows of 1 numbers" in str(error.value)


@pytest.mark.parametrize("function", [lambda t, q: abs(q[0]), lambda t, q: ph.where(q[0] > 0, 2 * q[0], q[0])])
def test_a_corner_at_the_start_is_told(function):
    for act in (ph.simulate, ph.consistent_start):
        with pytest.raises(ph.InputError, match=r"'mine\.0'.*derivative is not continuous") as error:
            act(by_function(function), [0.0], [0.0])
        assert "residual is 0" in str(error.value)


@pytest.mark.parametrize(
    "function", [lambda t, q: q[0] ** 3, lambda t, q: ph.sin(50 * q[0]), lambda t, q: abs(q[0]) - 1]
)
def test_what_is_smooth_where_it_starts_is_taken(function):
    start = [1.0] if float(np.array(function(0.0, [0.0]))) < 0 else [0.0]
    assert ph.simulate(by_function(function), start, [0.0], duration=0.01, samples=2).attrs["status"] == "finished"


def test_a_function_that_ends_on_the_way_is_named():
    held = by_function(lambda t, q: ph.sqrt(1 - t) - 1 + q[0])
    run = ph.simulate(held, [0.0], [0.5], duration=2, samples=5)
    assert run.attrs["status"] == "failed"
    assert "'mine.0' has no finite derivative" in run.attrs["reason"]


def test_a_bare_function_among_constraints_is_told_how_to_be_one():
    with pytest.raises(ph.ModelError, match=r"not a constraint.*\n.*\n.*ph\.Constraint\(function\)"):
        ph.Model("m", bodies=[BODY], joints=[HINGE], constraints=[lambda t, q: q[0]])


def test_a_disk_that_lies_flat_is_named():
    """Its point of contact is nowhere."""
    model = ph.load("rolling-disk")
    flat = [*model.start.q[:2], 0.0, 1.0, 0.0, 0.0, 0.0]
    with pytest.raises(ph.InputError, match=r"'ground\.height': its derivative is not finite.*\n.*residual is"):
        ph.simulate(model, flat, np.zeros(6))


def test_a_start_that_is_held_twice_may_not_move():
    """A hinge and a rod leave no freedom: any velocity violates the rod."""
    rod = {"body_b": "b", "position_a": (1, 0, 0), "position_b": (0, 1, 0), "length": np.sqrt(2)}
    model = ph.Model("m", bodies=[BODY], joints=[HINGE], constraints=[ph.Constraint("rod", "distance", rod)])
    with pytest.raises(ph.InputError, match=r"'rate of rod\.length': violated at the start.*\n.*residual 0\.707"):
        ph.simulate(model, [0.0], [1.0])
    run = ph.simulate(model, [0.0], [1.0], duration=0.1, samples=2, move_start=True)
    assert np.max(abs(run["v"].values)) < 1e-12
    assert list(run["degrees_of_freedom"].values) == [0, 0]


def test_a_matrix_is_for_velocities():
    with pytest.raises(ph.ModelError, match="holonomic=False"):
        ph.compile(by_function(lambda t, q: ([[1.0]], [0.0]), matrix=True))


def test_a_constraint_has_one_name():
    with pytest.raises(ph.ModelError, match="two names"):
        ph.Constraint("rod", "distance", {"length": 1.0}, name="pole")
    with pytest.raises(ph.ModelError, match="has no name"):
        ph.Constraint(type="distance")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t, q: [ph.sqrt(q[0])], "derivative is not finite.\n  found [inf] where its residual is 0"),
        (lambda t, q: [ph.log(q[0])], "residual"),
    ],
)
def test_a_function_that_is_not_finite_is_named(function, words):
    for act in (ph.simulate, ph.consistent_start):
        with pytest.raises(ph.InputError, match=r"'mine\.0'.*not finite") as error:
            act(by_function(function), [0.0], [0.0])
        assert words in str(error.value)


def test_a_motion_that_nothing_determines_is_refused():
    """A point that flies on a rod: its attitude has no inertia, and no condition."""
    point = ph.Body("p", 1.0, (0, 0, 0))
    rod = ph.Constraint("rod", "distance", {"body_b": "p", "length": 1.0})
    model = ph.Model("m", bodies=[point], joints=[ph.Joint("j", "free", "world", "p")], constraints=[rod])
    with pytest.raises(ph.InputError, match="not determined"):
        ph.simulate(model, [1, 0, 0, 1, 0, 0, 0], [0] * 6)


def test_kernels_of_functions_are_not_taken_for_each_other(tmp_path, monkeypatch):
    """Two models that differ only in a function of a constraint do not share a kernel on the disk."""
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path))
    found = []
    for k in (1.0, 2.0):
        held = {"joint": "j", "value": lambda t, k=k: k * t * t}
        model = ph.Model("m", bodies=[BODY], joints=[HINGE], constraints=[ph.Constraint("c", "prescribed", held)])
        found.append(float(ph.compile(model).forward_dynamics([0.0], [0.0], [0.0])[0]))
    assert found == pytest.approx([2.0, 4.0])


def test_constraint_calls_without_constraints_are_refused():
    system = ph.compile(ph.load("pendulum"))
    assert system.constraint_names == []
    for call in (system.constraint_rows, system.constraint_residuals, system.project):
        with pytest.raises(ph.ModelError, match="has no constraints"):
            call([0.0], [0.0])
