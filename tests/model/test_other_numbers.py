"""A model with other numbers: by path, by vector, by Parameter; all at once, and checked."""

import pytest

import polhode as ph
from polhode.errors import InputError, ModelError, UnknownNameError
from polhode.model import plain


def arm():
    return ph.Model(
        "arm",
        bodies=[
            ph.Body("upper", ph.Parameter("m", 2.0), ((0.3, 0.01, 0.0), (0.01, 0.2, 0.0), (0.0, 0.0, 0.4))),
            ph.Body("lower", ph.Parameter("m", 2.0), (0.3, 0.2, 0.4), center=(0, 0, -1)),
        ],
        joints=[
            ph.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
            ph.Joint("elbow", "screw", "upper", "lower", pitch=0.1, position=(0, 0, -2), damping=0.5),
        ],
        forces=[ph.Spring("spring", "world", "lower", stiffness=3.0)],
        constraints=[ph.Constraint("rod", "distance", {"body_b": "lower", "length": 2.0, "position_a": (1.0, 0, 0)})],
    )


def test_numbers_stand_where_their_paths_say():
    values = {
        "gravity.2": -1.62,
        "bodies.lower.center": [0.0, 0.1, -1.0],
        "joints.elbow.pitch": 0.2,
        "joints.elbow.damping": 0.0,
        "forces.spring.stiffness": 5,
        "constraints.rod.position_a.1": 0.25,
        "constraints.rod.length": 2.5,
    }
    old, new = arm(), arm().with_numbers(values)
    numbers = new.numbers()
    assert numbers["gravity.2"] == -1.62
    assert new.body("lower").center == (0.0, 0.1, -1.0)
    assert (new.joint("elbow").pitch, new.joint("elbow").damping) == (0.2, 0.0)
    assert new.forces[0].stiffness == 5.0
    assert new.constraints[0].data["position_a"] == (1.0, 0.25, 0)
    assert new.constraints[0].data["length"] == 2.5
    same = {path for path in numbers if numbers[path] == old.numbers()[path]}
    assert len(numbers) - len(same) == len(values)
    assert new.number_inputs
    assert old == arm()
    assert not old.number_inputs


def test_a_parameter_changes_wherever_it_stands():
    new = arm().with_numbers({"m": 7.0})
    assert [plain(body.mass) for body in new.bodies] == [7.0, 7.0]
    assert new.body("upper").mass == ph.Parameter("m", 7.0)


def test_equal_entries_of_an_inertia_change_together():
    assert arm().with_numbers({"bodies.upper.inertia.0.1": 0.02}).body("upper").inertia[1][0] == 0.02


def test_numbers_that_are_wrong_one_by_one_are_right_together():
    moments = {f"bodies.lower.inertia.{k}": 10.0 for k in range(3)}
    assert arm().with_numbers(moments).body("lower").inertia == (10.0, 10.0, 10.0)
    with pytest.raises(ModelError, match="inertia"):
        arm().with_numbers({"bodies.lower.inertia.0": 10.0})


def test_records_without_new_numbers_are_the_same():
    old = arm()
    new = old.with_numbers({"bodies.lower.center.0": 0.5})
    assert new.bodies[0] is old.bodies[0]
    assert new.bodies[1] is not old.bodies[1]
    assert all(a is b for a, b in zip(new.joints, old.joints, strict=True))
    assert new.constraints[0] is old.constraints[0]


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"bodies.uper.mass": 1.0}, UnknownNameError, "with_numbers.*no such number.*bodies.upper.mass"),
        ({"start.q": [1.0]}, UnknownNameError, "no such number"),
        ({"joints.elbow.type": 1.0}, UnknownNameError, "no such number"),
        ({"gravity.x": 1.0}, InputError, "no such place"),
        ({"bodies.lower.center": [1.0]}, InputError, "wrong size"),
        ({"m": [1.0, 2.0]}, InputError, "wrong size"),
        ({"joints.elbow.damping": -1.0}, ModelError, "negative"),
        ({"joints.shoulder.axis": [0, 0, 0]}, ModelError, "is zero"),
        ({"joints.shoulder.orientation": [1, 1, 0, 0]}, ModelError, "not a unit quaternion"),
        ({"constraints.rod.length": -1.0}, ModelError, "length"),
        ({"gravity": [0, 0, float("inf")]}, ModelError, "not a finite number"),
        ({"gravity": None}, InputError, "not a number"),
        ({"gravity": True}, InputError, "not a number"),
        (None, InputError, "not a mapping"),
    ],
    ids=str,
)
def test_mistakes_are_told(values, error, words):
    with pytest.raises(error, match=f"(?s){words}"):
        arm().with_numbers(values)
