"""Wrong arguments of every public call: one of our errors that says where, what was found and what was expected."""

import numpy as np
import pytest

import polhode as ph

BODY, HINGE = ph.Body("b", 1.0, (1, 1, 1)), ph.Joint("j", "revolute", "world", "b")


def model(**changes):
    return ph.Model(**{"name": "m", "bodies": [BODY], "joints": [HINGE], **changes})


def joint(name="j", type="revolute", parent="world", child="b", **more):
    return ph.Joint(name, type, parent, child, **more)


MODEL = model()
PUSH = model(forces=[ph.Force("push", "b", force=(1, 0, 0))])
PUSHED = model(forces=[ph.Force("push", "b", force=lambda t: (t, 0, 0))])
LIMITED = model(joints=[joint(lower=-1, upper=1)])


def forward(found, **options):
    return ph.compile(found).forward_dynamics([0.0], [0.0], [0.0], **options)


def follow(found=MODEL, **options):
    return ph.simulate(found, **{"duration": 0.1, **options})


MAKING = {
    "bodies None": lambda: model(bodies=None),
    "bodies a number": lambda: model(bodies=5),
    "bodies of numbers": lambda: model(bodies=[1]),
    "bodies a text": lambda: model(bodies="abc"),
    "bodies a mapping": lambda: model(bodies={"a": 1}),
    "joints of None": lambda: model(joints=[None]),
    "a body among forces": lambda: model(forces=[ph.Body("x", 1, (1, 1, 1))]),
    "start a mapping": lambda: model(start={"q": [0]}),
    "start q a number": lambda: ph.Start(q=5),
    "name None": lambda: model(name=None),
    "name a number": lambda: model(name=5),
    "body named by a list": lambda: ph.Body(["a"], 1, (1, 1, 1)),
    "parent a list": lambda: model(joints=[joint(parent=["world"])]),
    "child None": lambda: model(joints=[joint(child=None)]),
    "type a list": lambda: joint(type=["revolute"]),
    "force on a list": lambda: model(forces=[ph.Force("f", ["b"])]),
    "spring on a list": lambda: model(forces=[ph.Spring("s", ["a"], "b")]),
    "data a list": lambda: ph.Constraint("c", "weld", [1]),
    "constraint type a list": lambda: ph.compile(model(constraints=[ph.Constraint("c", ["weld"], body_b="b")])),
    "masked inertia": lambda: ph.Body("b", 1, np.ma.array([1.0, 1, 1], mask=[1, 0, 0])),
    "masked mass": lambda: ph.Body("b", np.ma.masked, (1, 1, 1)),
    "a whole number of 400 digits": lambda: ph.Body("b", 10**400, (1, 1, 1)),
    "mass a text": lambda: ph.Body("b", "1", (1, 1, 1)),
    "position too large": lambda: joint(position=(1e308, 0, 0)),
    "center too large": lambda: ph.Body("b", 1, (1, 1, 1), center=(0, 1e200, 0)),
    "inertia too large": lambda: ph.Body("b", 1, (1e308, 1e308, 1e308)),
    "gravity too large": lambda: model(gravity=(0, 0, -1e308)),
    "mass too small": lambda: ph.Body("b", 1e-320, (1, 1, 1)),
    "inertia too small": lambda: ph.Body("b", 1, (1e-320, 1e-320, 1e-320)),
    "axis too short": lambda: joint(axis=(0, 1e-320, 0)),
    "limits of two sizes": lambda: joint(type="cylindrical", lower=(1, 2, 3)),
    "lower above upper": lambda: joint(lower=1, upper=-1),
    "lower infinite": lambda: joint(lower=np.inf),
    "a limit that is text": lambda: joint(lower="1"),
    "a limit that is NaN": lambda: joint(upper=np.nan),
    "parameter NaN": lambda: ph.Parameter("a", np.nan),
    "parameter named 5": lambda: ph.Parameter(5, 1.0),
    "Sampled None": lambda: ph.Sampled(None, 0.1),
}

CALLING = {
    "compile a text": lambda: ph.compile("heavy-top"),
    "compile None": lambda: ph.compile(None),
    "target a list": lambda: ph.compile(MODEL, target=["cpu"]),
    "parameters a text": lambda: ph.compile(MODEL, parameters="gravity"),
    "parameters a number": lambda: ph.compile(MODEL, parameters=5),
    "parameters None": lambda: ph.compile(MODEL, parameters=None),
    "parameters of numbers": lambda: ph.compile(MODEL, parameters=[5]),
    "a limit as parameter": lambda: ph.compile(LIMITED, parameters=["joints.j.lower"]),
    "a function as parameter": lambda: ph.compile(PUSHED, parameters=["forces.push.force"]),
    "wrench a list": lambda: forward(MODEL, wrench=[1]),
    "wrench a number": lambda: forward(MODEL, wrench=5),
    "wrench without a pair": lambda: forward(MODEL, wrench={"b": 5}),
    "wrench on a number": lambda: forward(MODEL, wrench={5: ([0] * 3, [0] * 3)}),
    "parameters of a call a list": lambda: forward(MODEL, parameters=[1]),
    "masked q": lambda: ph.compile(MODEL).gravity(np.ma.array([0.1], mask=[True])),
    "masked quaternion": lambda: ph.quaternion.normalise(np.ma.array([1.0, 0, 0, 0], mask=[0, 1, 0, 0])),
    "pose of a list": lambda: ph.compile(MODEL).pose([0.0], ["b"]),
    "source of 5": lambda: ph.compile(MODEL).source(5),
    "source of a method": lambda: ph.compile(MODEL).source("export_c"),
    "source without its body": lambda: ph.compile(MODEL).source("pose"),
    "export into a folder": lambda: ph.compile(MODEL).export_c("."),
    "export nowhere": lambda: ph.compile(MODEL).export_c(None),
    "forces of two numbers": lambda: forward(model(forces=[ph.Force("f", "b", force=lambda t: (1, 2))])),
    "diagnose None": lambda: ph.diagnose(None),
    "equilibrium of a text": lambda: ph.equilibrium("heavy-top"),
    "linearize None": lambda: ph.linearize(None),
    "steady_motion None": lambda: ph.steady_motion(None),
    "consistent_start None": lambda: ph.consistent_start(None),
    "absolute None": lambda: ph.absolute(None),
    "consistent_start keeping a text": lambda: ph.consistent_start(MODEL, keep="j"),
    "consistent_start keeping the unknown": lambda: ph.consistent_start(MODEL, keep=["k"]),
}

RUNNING = {
    "keep a number": lambda: follow(keep=5),
    "keep a text": lambda: follow(keep="q"),
    "keep of numbers": lambda: follow(keep=[5]),
    "sensitivities a number": lambda: follow(sensitivities=5),
    "sensitivities a text": lambda: follow(sensitivities="gravity"),
    "method a list": lambda: follow(method=["rk4"]),
    "progress a number": lambda: follow(progress=5),
    "masked start": lambda: follow(q=np.ma.array([0.1], mask=[True])),
    "max_steps zero": lambda: follow(max_steps=0),
    "max_bytes a text": lambda: follow(max_bytes="much"),
}


@pytest.mark.parametrize(
    "case", [*MAKING.values(), *CALLING.values(), *RUNNING.values()], ids=[*MAKING, *CALLING, *RUNNING]
)
def test_a_wrong_argument_is_told(case):
    with pytest.raises(ph.PolhodeError) as told:
        case()
    lines = str(told.value).splitlines()
    assert len(lines) >= 2
    assert lines[1].startswith("  found ")
    assert "; expected " in str(told.value)


@pytest.mark.parametrize("type", ["free", "spherical", "revolute"])
@pytest.mark.filterwarnings("ignore::polhode.PolhodeWarning")
def test_a_joint_that_nothing_resists_is_named(type):
    for body in (ph.Body("b", 1.0, (0, 0, 0)), ph.Body("b", 0.0, (0, 0, 0), physical=False)):
        found = ph.Model("m", bodies=[body], joints=[joint("hip", type)])
        q, v = list(found.zero), [0.0] * found.nv
        for call in (follow, lambda m, q=q, v=v: ph.compile(m).forward_dynamics(q, v, v)):
            with pytest.raises(ph.ModelError, match="joint 'hip': the mass matrix is singular"):
                call(found)


def test_a_point_on_a_curve_is_given_by_keywords():
    curve = lambda s: (s, 0, 0)
    found = ph.Constraint("w", "point-on-curve", body_b="b", function=curve)
    assert (found.name, found.type, found.data["function"]) == ("w", "point-on-curve", curve)
    assert ph.Constraint(function=curve).name == "function"


def test_every_number_of_a_model_may_be_an_input():
    """What `numbers` lists, `compile` takes, whole vectors too; and the call has the numbers' own values."""
    spring = ph.Spring("s.force", "world", "b.mass", stiffness=2.0, rest=0.1, point_a=(1, 0, 0))
    push = ph.Force("push", "b.mass", force=(1, 2, 3), torque=(0, 1, 0))
    own = ph.Model(
        "m",
        bodies=[ph.Body("b.mass", 1.0, np.diag([1, 2, 3]).tolist())],
        joints=[joint("j.lower", child="b.mass", lower=-1, upper=1, damping=0.1, stiffness=0.2)],
        forces=[spring, push],
    )
    plain = forward(own)
    whole = ["gravity", "forces.push.force", "forces.s.force.point_a", "bodies.b.mass.inertia", "joints.j.lower.axis"]
    for path in [*own.numbers(), *whole]:
        system = ph.compile(own, target="python", parameters=[path])
        assert np.array_equal(system.forward_dynamics([0.0], [0.0], [0.0]), plain), path


def test_a_force_as_an_input_is_used():
    hung = ph.Model(
        "m", bodies=[ph.Body("b", 1, (1, 1, 1), (0, 0, -1))], joints=[joint(axis=(0, 1, 0))],
        forces=[ph.Force("push", "b", force=(1, 0, 0), point=(0, 0, -1))],
    )  # fmt: skip
    system = ph.compile(hung, parameters=["forces.push.force"])
    value = {"forces.push.force": (3.0, 0.0, 0.0)}
    found = system.forward_dynamics([0.0], [0.0], [0.0], parameters=value)
    assert found == pytest.approx(3 * system.forward_dynamics([0.0], [0.0], [0.0]))
