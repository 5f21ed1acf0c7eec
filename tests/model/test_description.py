"""Models as their user writes them: what is accepted, what is refused, and how it is told."""

import itertools
import pickle
import warnings

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from machines import ALL, random_model
from pinocchio_model import Peer
from polhode.model import JOINTS, make_tree


def body(name="b", **options):
    return ph.Body(name, **{"mass": 1.0, "inertia": (1.0, 1.0, 1.0), **options})


def hinge(name="j", parent="world", child="b", **options):
    return ph.Joint(name, **{"type": "revolute", "parent": parent, "child": child, **options})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: body(mass=0), ["body 'b', mass", "0 kg", "physical=False"]),
        (lambda: body(mass=-1), ["mass", "-1"]),
        (lambda: body(mass="heavy"), ["body 'b', mass", "'heavy'"]),
        (lambda: body(mass=np.nan), ["not a finite number"]),
        (lambda: body(inertia=(1, 2, 4)), ["inertia", "1, 2, 4", "(3)", "about the joint"]),
        (lambda: body(inertia=(1, 2, -1)), ["inertia", "-1"]),
        (lambda: body(inertia=[[1, 1, 0], [0, 1, 0], [0, 0, 1]]), ["not symmetric"]),
        (lambda: body(inertia=(1, 2)), ["inertia", "3 numbers, or 3 rows"]),
        (lambda: body(center=(0, 0)), ["center", "3 numbers"]),
        (lambda: hinge(type="hinge"), ["joint 'j'", "unknown type", "Did you mean 'revolute'?"]),
        (lambda: hinge(axis=(0, 0, 0)), ["axis", "is zero"]),
        (lambda: hinge(axis=(0, np.nan, 0)), ["axis", "not a finite number"]),
        (lambda: hinge(orientation=(1, 1, 0, 0)), ["orientation", "1.414", "(w, x, y, z)"]),
        (lambda: hinge(parent="b"), ["parent and child are one body"]),
        (lambda: hinge(armature=-1), ["armature", "negative"]),
        (lambda: hinge(lower="low"), ["lower", "not a limit"]),
        (lambda: hinge(lower=2, upper=1.5), ["lower 2", "upper 1.5", "above upper"]),
        (lambda: hinge(pitch=1.0), ["pitch", "a screw"]),
        (lambda: hinge(type="screw"), ["pitch", "missing"]),
        (lambda: hinge(type="universal", axis=(1, 1, 0)), ["axis2", "missing", "next cyclic"]),
        (lambda: hinge(type="universal", axis2=(0, 0, 2)), ["axis2", "parallel"]),
        (lambda: hinge(type="spherical", stiffness=1.0), ["stiffness", "no meaning for a quaternion"]),
        (lambda: ph.Model("m", bodies=[body()], joints=[]), ["body without a joint", "'b'", "free joint"]),
        (lambda: ph.Model("m", bodies=[body(), body()], joints=[hinge()]), ["two body records", "'b' twice"]),
        (lambda: ph.Model("m", bodies=[body("world")], joints=[]), ["named 'world'"]),
        (lambda: ph.Model("m", bodies=[body()], joints=[hinge(parent="wrld")]), ["'wrld'", "Did you mean 'world'"]),
        (lambda: ph.Model("m", bodies=[body()], joints=[hinge(), hinge("k")]), ["two parents", "constraint"]),
        (
            lambda: ph.Model(
                "m",
                bodies=[body("b"), body("c")],
                joints=[hinge("j", "c", "b"), hinge("k", "b", "c")],
            ),
            ["cycle", "not reached from the world"],
        ),
        (lambda: ph.Model("m", (0, 0), [body()], [hinge()]), ["gravity", "3 numbers"]),
        (
            lambda: ph.Model("m", bodies=[body()], joints=[hinge()], forces=[ph.Force("f", "c")]),
            ["force 'f'", "unknown body", "'c'"],
        ),
        (
            lambda: ph.Model("m", bodies=[body()], joints=[hinge()], start=ph.Start(q=(1.0, 2.0))),
            ["start, q", "1 numbers"],
        ),
        (lambda: ph.Spring("s", "a", "a"), ["both ends on one body"]),
        (lambda: ph.ForceFunction("f", 3), ["not a function"]),
        (lambda: ph.Parameter("m", np.inf), ["parameter 'm'", "not a finite number"]),
        (
            lambda: ph.Model(
                "m", bodies=[body(mass=ph.Parameter("x", 1.0), center=(ph.Parameter("x", 2.0), 0, 0))], joints=[hinge()]
            ),
            ["parameter 'x'", "two values"],
        ),
    ],
)
def test_a_wrong_model_is_told_where_and_what(make, words):
    with pytest.raises(ph.ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_unphysical_bodies_warn_only_when_they_are():
    with pytest.warns(ph.PolhodeWarning, match="not that of a real body"):
        body(inertia=(1, 2, 4), physical=False)
    with pytest.warns(ph.PolhodeWarning, match="0 kg"):
        body(mass=0, physical=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        body(inertia=(0, 1, 1), physical=False)
        body(inertia=(0, 0, 0))
        body(inertia=(0, 1, 1 + 1e-10))


def test_a_universal_joint_takes_the_next_cyclic_axis():
    assert hinge(type="universal", axis=(0, 0, 1)).axis2 == (1, 0, 0)
    assert hinge(type="universal", axis=(1, 0, 0)).axis2 == (0, 1, 0)


@pytest.mark.parametrize("kind", ALL)
def test_sizes_of_the_catalogue_are_those_of_the_tree(kind):
    model = random_model([kind], 1)
    tree = make_tree(model)
    assert (tree.nq, tree.nv) == (JOINTS[kind].nq, JOINTS[kind].nv)
    assert sum(len(e.v) for e in tree.elements) == tree.nv
    assert len(JOINTS[kind].linear) == tree.nv
    assert kind in str(model)
    assert str(tree)


def test_every_number_has_a_path_and_takes_another_value():
    spring = ph.Spring("s", "world", "b1", stiffness=3.0, rest=0.1)
    model = random_model(["revolute", "screw", "universal"], 3, forces=[spring])
    numbers = model.numbers()
    q, v = [0.1, 0.2, 0.3, 0.4], [1.0, 2.0, 3.0, 4.0]
    changed = 0
    for path, value in numbers.items():
        if path.endswith(("lower", "upper")) or ".orientation" in path:
            continue
        system = ph.compile(model, target="python", parameters=[path])
        assert np.allclose(system.bias(q, v), ph.compile(model, target="python").bias(q, v), atol=1e-13)
        other = system.inverse_dynamics(q, v, v, parameters={path: value + 0.1})
        changed += not np.allclose(other, system.inverse_dynamics(q, v, v), atol=1e-9)
    assert changed > 40
    system = ph.compile(model, target="python", parameters=["gravity", "bodies.b0.mass"])
    batch = system.gravity(q, parameters={"bodies.b0.mass": np.array([1.0, 2.0, 3.0])})
    assert batch.shape == (3, 4)


def test_a_named_parameter_is_one_number_in_many_places():
    m = ph.Parameter("m", 2.0)
    bodies = [body("a", mass=m), body("b", mass=m, center=(0.0, 0.0, ph.Parameter("l", -1.0)))]
    model = ph.Model("p", bodies=bodies, joints=[hinge("i", child="a"), hinge("j", "a", "b", axis=(1, 0, 0))])
    system = ph.compile(model, target="python", parameters=["m"])
    assert system.gravity([0, 0.5], parameters={"m": 4.0})[1] == pytest.approx(2 * system.gravity([0, 0.5])[1])
    assert model.numbers()["bodies.b.center.2"] == -1


def test_a_constraint_is_kept_as_data_and_checked_where_it_is_compiled():
    mimic = ph.Constraint("follow", "mimic", {"joint": "j", "source": "i", "multiplier": 2.0, "offset": 0.0})
    model = ph.Model("m", bodies=[body()], joints=[hinge()], constraints=[mimic])
    assert model.constraints[0].data["multiplier"] == 2
    with pytest.raises(ph.ModelError, match="follow"):
        ph.compile(model, target="python")


def test_a_massless_leaf_is_named_by_forward_dynamics():
    with pytest.warns(ph.PolhodeWarning):
        ghost = ph.Body("ghost", 0.0, (0, 0, 0), physical=False)
    joints = [hinge("shoulder"), hinge("wrist", "b", "ghost", axis=(1, 0, 0), position=(0, 0, 1))]
    system = ph.compile(ph.Model("m", bodies=[body(), ghost], joints=joints), target="python")
    assert np.all(np.isfinite(system.mass_matrix([0.1, 0.2])))
    for q in ([0.1, 0.2], [[0.1, 0.2], [0.3, 0.4]]):
        with pytest.raises(ph.ModelError, match="'wrist'"):
            system.forward_dynamics(q, [0, 0], [0, 0])


def test_out_takes_the_result_and_refuses_what_does_not_fit():
    model = random_model(["revolute", "free"], 1)
    system = ph.compile(model, target="python")
    q = [0.3, 0, 0, 0, 1, 0, 0, 0] if model.joints[0].type == "revolute" else [0, 0, 0, 1, 0, 0, 0, 0.3]
    out = np.empty((7, 7))
    assert system.mass_matrix(q, out=out) is out
    assert np.array_equal(out, system.mass_matrix(q))
    with pytest.raises(ph.InputError, match=r"\(7, 7\)"):
        system.mass_matrix(q, out=np.empty((6, 7)))
    blocks = tuple(np.empty((7, 7)) for _ in range(3))
    found = system.inverse_dynamics_derivatives(q, np.ones(7), np.ones(7), out=blocks)
    assert found.dq is blocks[0]


def test_systems_pickle_and_calls_check_their_arguments():
    system = pickle.loads(pickle.dumps(ph.compile(random_model(["revolute"], 1), target="python")))
    assert "revolute" in str(system.model)
    for call in (
        lambda: system.mass_matrix([1.0, 2.0]),
        lambda: system.mass_matrix([1j]),
        lambda: system.bias([0.0], [0.0], wrench={"b0": (1, 2, 3)}),
        lambda: system.pose([0.0], "nobody"),
        lambda: system.bias([[0.0]] * 2, [[0.0]] * 3),
    ):
        with pytest.raises(ph.PolhodeError):
            call()
    assert np.isnan(system.bias([np.nan], [0.0])[0])
    with pytest.raises(ph.CompileError, match="tpu"):
        ph.compile(system.model, target="tpu")
    with pytest.raises(TypeError, match="nonsense"):
        system.bias([0.0], [0.0], nonsense=1)


def test_the_common_ancestor_is_pinocchios():
    for seed in range(3):
        model = random_model(["revolute"] * 7, seed)
        peer = Peer(model).model
        joints = {body.name: peer.frames[peer.getFrameId(body.name)].parentJoint for body in model.bodies}
        names = {joint: name for name, joint in joints.items()} | {0: "world"}
        for (a, i), (b, j) in itertools.product(joints.items(), repeat=2):
            assert model.common_ancestor(a, b) == names[pin.findCommonAncestor(peer, i, j)[0]]
        assert model.common_ancestor("b3", "world") == model.common_ancestor("world", "b3") == "world"


def test_the_common_ancestor_of_frames_is_that_of_their_bodies():
    model = ph.load("double-pendulum")
    framed = ph.Model("framed", bodies=model.bodies, joints=model.joints, frames=[ph.BodyFrame("tip", "lower")])
    assert framed.common_ancestor("tip", "lower") == "lower"
    assert framed.common_ancestor("upper", "tip") == "upper"
    for wrong in ("lowr", 3, None, ["lower"], np.zeros(2)):
        with pytest.raises(ph.ModelError, match="no such body or frame"):
            framed.common_ancestor("tip", wrong)
