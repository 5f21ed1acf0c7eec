"""Every kind of joint through one set of laws, and joints of a user's own through the whole program."""

import ctypes
import subprocess
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from machines import random_model, random_q
from polhode.dynamics import energy, kinematics
from polhode.dynamics.absolute import closed_joints
from polhode.formats.load import load
from polhode.formats.schema import schema
from polhode.formats.yaml import model_from_yaml, to_yaml
from polhode.model import make_tree
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.joints.registry import JOINTS
from polhode.quaternion import rotation_matrix
from polhode.result import labels
from polhode.result.symmetry import conserved
from polhode.scalar import Vec, derivative_along
from polhode.simulation.machine import kinetic_gradient
from polhode.system.identity import identity_text

OURS = [name for name, kind in JOINTS.items() if kind.elements]  # a joint of modes: test_modal_joint.py
STEP = 1e-6
BY_DIFFERENCES = 1e5
"""Central differences of STEP are good to about this many times RESIDUAL."""


class Arc(ph.ElementKind):
    """A child that is carried along a circle in the joint frame's xz plane and does not turn, as by a parallelogram."""

    name = "arc"
    numbers = ("radius",)

    def motion(self, e, q):
        r = e.numbers["radius"]
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [r * ph.sin(q[0]), 0.0, r * (1 - ph.cos(q[0]))]

    def from_pose(self, e, r, p):
        return [float(np.arctan2(r[0], e.numbers["radius"] - r[2]))]

    def wraps(self, e):
        return True


class ArcOfLength(ph.BodyConstraint):
    """The point of b on a circle in the xz plane of a, above its origin; b does not turn."""

    name = "on-arc"
    keys: ClassVar = {**ph.BodyConstraint.keys, "radius": ph.Key("number", "of the circle, m", unit="m", needed=True)}
    rows = ("radius", "y", "turn x", "turn y", "turn z")

    def positions(self, a, b, data):
        (x, y, z), r = a.R.T @ (b.o - a.o), data["radius"]
        C = a.R.T @ b.R
        turns = (C[2][1] - C[1][2], C[0][2] - C[2][0], C[1][0] - C[0][1])
        return Vec(((x * x + z * z - 2 * r * z) / (2 * r), y, *turns))


class ArcJoint(ph.JointKind):
    """A parallelogram linkage."""

    name = "arc"
    elements = ((Arc(), ""),)
    coordinates, dofs = ("angle",), ("rate",)
    keys: ClassVar = {"radius": ph.Key("number", "of the arc, m", unit="m", letter="r")}
    symbol = "revolute"

    def closing(self, elements):
        identity = Vec((1.0, 0.0, 0.0, 0.0))
        return ph.Closing("on-arc", identity, identity, elements[0].numbers)


class Patch(ph.ElementKind):
    """Two coordinates on a bent surface: both move and turn the child, and the unit motions change with both."""

    name = "patch"
    nq = nv = 2
    linear = (True, False)
    numbers = ("bend",)

    def motion(self, e, q):
        (x, t), a = q, e.numbers["bend"]
        c, s, ca, sa = ph.cos(t), ph.sin(t), ph.cos(a * x), ph.sin(a * x)
        R = [[c * ca, -s, c * sa], [s * ca, c, s * sa], [-sa, 0.0, ca]]
        return R, [x + 0.1 * ph.sin(t), a * x * t, a * x * x]


class PatchJoint(ph.JointKind):
    """A patch, and a hinge on it."""

    name = "patch"
    elements = ((Patch(), ""), (ph.REVOLUTE, "axis"))
    coordinates, dofs = ("x", "tilt", "angle"), ("speed", "tilting", "rate")
    keys: ClassVar = {"bend": ph.Key("number", "curvature, 1/m", unit="1/m")}


class HelicalSlide(ph.JointKind):
    """A screw whose nut slides across: made of elements of the package."""

    name = "helical-slide"
    elements = ((ph.SCREW, "axis"), (ph.PRISMATIC, "x"))
    coordinates, dofs = ("angle", "travel"), ("rate", "speed")
    keys: ClassVar = {"pitch": ph.Key("number", "m per radian", unit="m/rad")}


THEIRS = [kind.name for kind in (ArcJoint, PatchJoint, HelicalSlide)]


@pytest.fixture(autouse=True)
def registered():
    """The kinds of this file, known for one test."""
    for kind in (ArcJoint, PatchJoint, HelicalSlide):
        assert ph.register_joint(kind) is kind
    ph.register_constraint(ArcOfLength)
    yield
    for name in THEIRS:
        del JOINTS[name]
    del CONSTRAINTS["on-arc"]


def elements(kind, seed=3):
    """The elements of a joint of this kind between two others, with coordinates and velocities."""
    model = random_model(["revolute", kind, "spherical"], seed, chain=True)
    rng = np.random.default_rng(seed)
    q, v = random_q(model, rng), rng.normal(size=model.nv)
    for e in make_tree(model).elements:
        if e.joint == "j1":
            yield e, Vec(q[list(e.q)].tolist()), Vec(v[list(e.v)].tolist())


def flat(at):
    return Vec([*at.r, *(x for row in at.R for x in row)])


def rows(numbers):
    return np.array(numbers, dtype=float).reshape(3, 3)


@pytest.mark.parametrize("kind", OURS + THEIRS)
def test_sizes_names_and_units_agree(kind):
    found = JOINTS[kind]
    assert len(found.coordinates) == len(found.zero) == found.nq
    assert len(found.dofs) == len(found.linear) == found.nv
    assert [len([u for e, _ in found.elements for u in e.units[k]]) for k in range(3)] == [found.nq, found.nv, found.nv]


@pytest.mark.parametrize("kind", OURS + THEIRS)
def test_the_rate_is_the_derivative_of_the_retraction(kind):
    for e, q, v in elements(kind):
        _, slope = derivative_along(lambda s, e=e, q=q, v=v: e.kind.retract(q, s[0] * v), Vec((0.0,)), Vec((1.0,)))
        assert_close(np.array(slope, dtype=float), np.array(e.kind.rate(q, v)))
        assert_close(np.array(e.kind.tangent(q, e.kind.rate(q, v))), np.array(v))


@pytest.mark.parametrize("kind", OURS + THEIRS)
def test_the_difference_inverts_the_retraction(kind):
    for e, q, v in elements(kind):
        assert_close(np.array(e.kind.difference(q, e.kind.retract(q, v))), np.array(v))
        assert_close(np.array(e.kind.normalised(q)), np.array(q))


@pytest.mark.parametrize("kind", OURS + THEIRS)
def test_the_unit_motions_are_the_velocity_of_the_placement(kind):
    for e, q, v in elements(kind):
        at = flat(e.kind.placement(e, q))
        slope = Vec([0.0] * 12)
        if e.v:
            _, slope = derivative_along(lambda x, e=e: flat(e.kind.placement(e, x)), q, e.kind.rate(q, v))
        R, W = rows(at[3:]), rows(at[3:]).T @ rows(slope[3:])
        linear, angular = e.kind.velocity(e, q, v)
        assert_close(np.array(linear, dtype=float), R.T @ np.array(slope[:3], dtype=float))
        assert_close(np.array(angular, dtype=float), np.array([W[2, 1], W[0, 2], W[1, 0]]))
        S = np.array([[*m.linear, *m.angular] for m in e.kind.motions(e, q)], dtype=float).reshape(-1, 6)
        assert_close(np.array(v) @ S if e.v else np.zeros(6), np.array([*linear, *angular], dtype=float))
        f, n = Vec((0.3, -0.2, 0.5)), Vec((-0.1, 0.7, 0.2))
        assert_close(np.array(e.kind.force(e, q, f, n), dtype=float), S @ np.array([*f, *n]))


@pytest.mark.parametrize("kind", OURS + THEIRS)
def test_the_drift_is_the_acceleration_of_the_placement_at_constant_velocity(kind):
    for e, q, v in elements(kind):
        if not e.v:
            continue

        def moving(s, e=e, q=q, v=v):
            """Velocity of the origin in the parent's axes, and the angular velocity in the element's."""
            place = e.kind.retract(q, s[0] * v)
            own = e.kind.velocity(e, place, v)
            return Vec([*(e.kind.placement(e, place).R @ own.linear), *own.angular])

        _, slope = derivative_along(moving, Vec((0.0,)), Vec((1.0,)))
        R = np.array(e.kind.placement(e, q).R, dtype=float)
        drift = e.kind.drift(e, q, v)
        expected = np.zeros(6) if drift is None else np.array([*drift.linear, *drift.angular], dtype=float)
        assert_close(np.concatenate([R.T @ np.array(slope[:3]), np.array(slope[3:])]), expected)


@pytest.mark.parametrize("kind", OURS + THEIRS)
def test_the_quaternion_of_a_motion_has_its_rotation_matrix(kind):
    for e, q, _ in elements(kind):
        zero = Vec(e.kind.zero)
        turned = np.array(e.kind.placement(e, zero).R).T @ np.array(e.kind.placement(e, q).R, dtype=float)
        p = e.kind.turn(e, q)
        assert_close(turned, np.eye(3) if p is None else np.array(rotation_matrix(np.array(p, dtype=float))))


@pytest.mark.parametrize("kind", [*OURS, "arc"])
def test_coordinates_from_poses_invert_the_placement(kind):
    model = random_model([kind], 5, armature=False)
    model = replace(model, joints=[replace(model.joints[0], position=(0, 0, 0), orientation=(1, 0, 0, 0))])
    q = random_q(model, np.random.default_rng(5))
    tree, place = make_tree(model), Vec(q.tolist())
    r, p = kinematics.frames(tree, place)[-1].o, kinematics.orientations(tree, place)[-1]
    found = JOINTS[kind].from_pose(tree.elements, np.array(r, dtype=float), np.array(p, dtype=float))
    off = np.array(found) - q
    for e in tree.elements:
        if e.kind.wraps(e):
            off[e.q[0]] -= 2 * np.pi * np.round(off[e.q[0]] / (2 * np.pi))
    assert_close(off, np.zeros(len(q)))


@pytest.mark.parametrize("kind", [*OURS, "arc"])
def test_a_joint_holds_as_a_constraint_along_its_motion(kind):
    model = random_model(["revolute", kind], 6, chain=True, armature=False)
    rng = np.random.default_rng(6)
    q, v = random_q(model, rng), rng.normal(size=model.nv)
    flight = ph.absolute(model)
    missed = ph.compile(flight.model, target="python").constraint_residuals(*flight.to(q, v))
    assert_close(missed.positions, np.zeros(len(missed.positions)))
    assert_close(missed.rates, np.zeros(len(missed.rates)))
    assert len(missed.positions) == 12 - model.nv
    found = closed_joints(make_tree(model), {joint.name: joint.kind for joint in model.joints})
    assert [x.joint for x in found] == [joint.name for joint in model.joints if not joint.kind.floats]


def test_a_kind_without_a_form_as_a_constraint_is_told_so():
    with pytest.raises(ph.ModelError, match=r"joint 'j0': this kind has no form as a constraint(.|\n)*`closing`"):
        ph.absolute(random_model(["patch"], 1, armature=False))


# joints of a user's own, through the whole program

CHAIN = ["revolute", "arc", "patch", "helical-slide", "spherical", "prismatic"]


def machine(types=CHAIN, seed=8):
    model = random_model(types, seed, chain=True)
    rng = np.random.default_rng(seed)
    return model, random_q(model, rng), *(rng.normal(size=model.nv) for _ in range(3))


def test_kernels_compute_what_plain_evaluation_does():
    model, q, v, vd, tau = machine(["revolute", "arc", "patch", "spherical"])
    system, oracle = ph.compile(model), ph.compile(model, target="python")
    asked = {
        "mass_matrix": (q,), "christoffel": (q,), "coriolis": (q, v), "inverse_dynamics": (q, v, vd),
        "forward_dynamics": (q, v, tau), "pose": (q, "b3"), "velocity": (q, v, "b3"), "acceleration": (q, v, vd, "b3"),
        "jacobian": (q, "b3"), "jacobian_rate": (q, v, "b3"), "energy": (q, v), "momentum": (q, v),
        "joint_reactions": (q, v, tau),
    }  # fmt: skip
    for name, arguments in asked.items():
        found, expected = (getattr(s, name)(*arguments) for s in (system, oracle))
        for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
            assert_close(a, b, condition=100)
    assert identity_text(model) == ""  # no text tells its code: such kernels are not kept on disk


def test_the_covariant_form_holds_with_unit_motions_that_change():
    """Γ, C and the bias agree, Ṁ − 2C is skew, and Γ is symmetric but for the quaternion."""
    model, q, v, _, _ = machine()
    system = ph.compile(model, target="python")
    G, C = system.christoffel(q), system.coriolis(q, v)
    assert_close(np.einsum("abg,a->gb", G, v), C, condition=100)
    assert_close(C @ v + system.gravity(q), system.bias(q, v), condition=100)
    ahead, behind = (system.mass_matrix(system.integrate(q, s * v)) for s in (STEP, -STEP))
    N = (ahead - behind) / (2 * STEP) - 2 * C
    assert_close(N, -N.T, condition=BY_DIFFERENCES)
    ball = slice(*[labels.dof_names(model).index(f"j4.omega_{x}") for x in "xz"])
    others = np.delete(np.arange(model.nv), ball)
    assert_close(G[np.ix_(others, others)], np.swapaxes(G, 0, 1)[np.ix_(others, others)], condition=100)


def test_accelerations_are_the_rates_of_velocities():
    model, q, v, vd, tau = machine()
    system = ph.compile(model, target="python")
    ahead, behind = (system.velocity(system.integrate(q, s * v), v + s * vd, "b5") for s in (STEP, -STEP))
    found = system.acceleration(q, v, vd, "b5")
    for a, b, c in zip(ahead, behind, found, strict=True):
        assert_close((a - b) / (2 * STEP), c, condition=BY_DIFFERENCES)
    twist = np.concatenate(found)
    assert_close(system.jacobian(q, "b5") @ vd + system.jacobian_rate(q, v, "b5") @ v, twist, condition=100)
    vd = system.forward_dynamics(q, v, tau)
    assert_close(system.inverse_dynamics(q, v, vd), tau, condition=1e4)


def test_derivatives_are_those_of_the_motion():
    model, q, v, _, tau = machine(["arc", "patch"])
    system = ph.compile(model)
    dq, dv, dtau = system.forward_dynamics_derivatives(q, v, tau)
    for k, e in enumerate(np.eye(model.nv)):
        by_q = [system.forward_dynamics(system.integrate(q, s * e), v, tau) for s in (STEP, -STEP)]
        by_v = [system.forward_dynamics(q, v + s * e, tau) for s in (STEP, -STEP)]
        by_tau = [system.forward_dynamics(q, v, tau + s * e) for s in (STEP, -STEP)]
        for slopes, (a, b) in zip((dq, dv, dtau), (by_q, by_v, by_tau), strict=True):
            assert_close(slopes[:, k], (a - b) / (2 * STEP), condition=BY_DIFFERENCES)


def test_the_kinetic_energy_grows_along_each_unit_motion_as_said():
    """What variational methods take for ∂T/∂q."""
    model, q, v, _, _ = machine()
    tree, place, speed = make_tree(model), Vec(q.tolist()), Vec(v.tolist())
    found = kinetic_gradient(tree, place, speed)
    for k, unit in enumerate(np.eye(model.nv).tolist()):

        def kinetic(x):
            return Vec((energy.energy(tree, x, speed).kinetic,))

        _, slope = derivative_along(kinetic, place, kinematics.rate(tree, place, Vec(unit)))
        assert_close(np.array(found[k]), np.array(slope[0]), condition=100)


@pytest.mark.parametrize("method", ["dop853", "rkmk4", "variational"])
def test_runs_keep_the_energy(method):
    model, q, v, _, _ = machine(["arc", "spherical"])
    fixed = {} if method == "dop853" else {"step": 1e-3}
    run = ph.simulate(model, q=q, v=v / 3, duration=0.2, method=method, **fixed)
    total = run["kinetic_energy"].values + run["potential_energy"].values
    assert run.attrs["status"] == "finished"
    assert np.ptp(total) < 1e-4 * np.max(abs(total))


def test_large_machines_run_in_loops():
    model, q, v, vd, _ = machine(CHAIN * 12, seed=2)
    system, oracle = ph.compile(model), ph.compile(model, target="python")
    tau = system.inverse_dynamics(q, v, vd)
    assert_close(tau, oracle.inverse_dynamics(q, v, vd), condition=1e3)
    assert_close(system.forward_dynamics(q, v, tau), vd, condition=1e8)
    assert "in loops" in system.source("inverse_dynamics")


def test_its_own_numbers_have_paths_units_derivatives_and_sweeps():
    model, q, v, _, _ = machine(["arc", "revolute"])
    path = "joints.j0.data.radius"
    assert model.numbers()[path] == model.joint("j0").data["radius"]
    options = {"q": q, "v": v, "duration": 0.2, "step": 1e-3, "method": "rk4"}
    run = ph.simulate(model, sensitivities=[path], **options)
    assert run["parameter_units"].values.tolist() == ["m"]

    def end(radius):
        other = replace(model, joints=[replace(model.joint("j0"), data={"radius": radius}), model.joint("j1")])
        return ph.simulate(other, **options)["v"].values[-1]

    r = model.numbers()[path]
    slope = (end(r + STEP) - end(r - STEP)) / (2 * STEP)
    assert_close(run["sensitivity_v"].values[-1, :, 0], slope, condition=BY_DIFFERENCES)
    given = ph.compile(model, parameters=[path])
    other = ph.compile(replace(model, joints=[replace(model.joint("j0"), data={"radius": 0.9}), model.joint("j1")]))
    assert_close(given.mass_matrix(q, parameters={path: 0.9}), other.mass_matrix(q))
    swept = ph.sweep(model, {path: ph.Uniform(0.5, 1.0)}, runs=4, duration=0.1, step=1e-2, method="rk4")
    assert np.ptp(swept["v_end"].values, axis=0).max() > 0


def test_constraints_hold_on_it_in_every_engine():
    model, q, v, _, _ = machine(["arc", "spherical"])
    at = ph.compile(model).pose(q, "b1").position
    rod = ph.Constraint(
        "rod", "distance", body_b="b1", position_a=(2.0, 1.0, -1.0), length=float(np.linalg.norm(at - [2, 1, -1]))
    )
    model = replace(model, constraints=[rod])
    start = ph.consistent_start(model, q=q, v=v)
    found = [
        ph.compile(model, engine=engine).forward_dynamics(start.q, start.v, np.zeros(model.nv))
        for engine in ("fundamental", "absolute", "null-space")
    ]
    for other in found[1:]:
        assert_close(other, found[0], condition=1e4)
    run = ph.simulate(model, q=start.q, v=start.v, duration=0.2)
    assert run.attrs["verdict"] == "good"


def test_it_flies_as_a_constraint_and_comes_back():
    model, q, v, _, _ = machine(["arc", "spherical"])
    model = replace(model, joints=[replace(joint, armature=0.0) for joint in model.joints])
    flight = ph.absolute(model)
    back_q, back_v = flight.back(*flight.to(q, v))
    off = ph.compile(model).difference(q, back_q)
    assert_close(off - 2 * np.pi * np.round(off / (2 * np.pi)), np.zeros(model.nv))
    assert_close(back_v, v)


def test_files_give_and_take_it(tmp_path):
    model, *_ = machine()
    path = tmp_path / "machine.yaml"
    path.write_text(to_yaml(model), encoding="utf-8")
    assert load(path) == model


def test_c_computes_it(tmp_path):
    model, q, v, vd, _ = machine()
    system = ph.compile(model)
    source, library = system.export_c(tmp_path / "m.c", "inverse_dynamics"), tmp_path / "m.so"
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    tau = np.empty(model.nv)
    function = ctypes.CDLL(str(library)).random_8_inverse_dynamics
    function(*(ctypes.c_void_p(a.ctypes.data) for a in (q, v, vd, np.zeros(1), tau)))
    assert_close(tau, system.inverse_dynamics(q, v, vd), condition=100)


def test_pictures_equations_and_symmetries_know_it(tmp_path):
    model, q, v, _, _ = machine(["arc", "revolute"])
    assert "<svg" in ph.draw_cans(model).svg
    assert "r_1" in str([letter.symbol for letter in ph.equations(model).words.letters])
    run = ph.simulate(model, q=q, v=v, duration=0.1)
    assert run["coordinate_units"].values.tolist() == ["rad", "rad"]
    assert conserved(model).angular == ()


# what is refused


def test_wrong_kinds_are_refused():
    def wrong(**changes):
        return type("Wrong", (ph.JointKind,), {"name": "wrong", "elements": ((Arc(), ""),), "coordinates": ("a",),
                    "dofs": ("b",), "keys": ArcJoint.keys, **changes})  # fmt: skip

    for kind, told in (
        (3, "not a kind of joint"),
        (wrong(name="revolute"), "a name twice"),
        (wrong(coordinates=("a", "b")), "coordinates of its elements"),
        (wrong(dofs=()), "dofs of its elements"),
        (wrong(keys={}), "'radius'"),
        (wrong(elements=(("arc", ""),)), "elements"),
        (wrong(name=""), "name"),
        (wrong(elements=((ph.BALL, ""), (ph.PRISMATIC, "x"))), "a motion after a quaternion"),
        (wrong(elements=((type("Odd", (Arc,), {"nq": 2})(), ""),)), "sizes"),
    ):
        with pytest.raises(ph.ModelError, match=told):
            ph.register_joint(kind)
    assert "wrong" not in JOINTS


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (None, "radius: missing"),
        ({"radius": 1.0, "rdius": 2.0}, "no such number of this joint"),
        ({"radius": "wide"}, "not a finite number"),
        (7, "not a mapping"),
    ],
)
def test_wrong_data_is_refused(data, told):
    with pytest.raises(ph.ModelError, match=told):
        ph.Joint("j", "arc", "world", "b", data=data)


def test_a_file_gives_numbers_of_the_kind_as_keys_of_the_joint_or_in_data():
    joint = ph.Joint("j", "arc", "world", "b", data={"radius": 2.0})
    arc = ph.Model("m", bodies=[ph.Body("b", 1.0, (1, 1, 1))], joints=[joint])
    text = to_yaml(arc)
    assert model_from_yaml(text, "m.yaml") == arc
    flat = text.replace("data: {radius: 2.0}", "radius: 2.0")
    assert model_from_yaml(flat, "m.yaml") == arc
    called = model_from_yaml(flat.replace("radius: 2.0", "radius: {parameter: r, value: 2}"), "m.yaml")
    assert called.joint("j").data == {"radius": ph.Parameter("r", 2.0)}
    for wrong, told in {
        text.replace("data:", "radius: 1, data:"): r"m\.yaml:\d+, joints\.j\.radius: given twice",
        flat.replace("type: arc", "type: revolute"): r"joints\.j\.radius: not a number of this kind(.|\n)*a revolute",
        flat.replace("radius: 2.0", "radius: wide"): r"m\.yaml:\d+, joints\.j\.radius",
        flat.replace("radius: 2.0", "radius: [1, 2]"): r"joint 'j', radius|joints\.j\.radius",
        flat.replace("radius: 2.0", "armature: 0"): r"joints\.j\.radius: missing",
        flat.replace("radius", "parnt"): r"Did you mean 'parent'\?",
        flat.replace("radius", "radios"): r"Did you mean 'radius'\?",
    }.items():
        with pytest.raises(ph.ModelError, match=told):
            model_from_yaml(wrong, "m.yaml")


def test_a_number_of_a_kind_with_the_name_of_a_key_of_every_joint_stays_in_data():
    class Stiff(ArcJoint):
        name = "stiff-arc"
        keys: ClassVar = {**ArcJoint.keys, "rest": ph.Key("number", "of its own, m", unit="m")}

    ph.register_joint(Stiff)
    try:
        joints = "{j: {type: stiff-arc, parent: world, child: b, %s}}"
        text = f"{{name: m, bodies: {{b: {{mass: 1, inertia: [1, 1, 1]}}}}, joints: {joints}}}"
        joint = model_from_yaml(text % "radius: 2, rest: 0.5, data: {rest: 3}", "m.yaml").joint("j")
        assert joint.rest == 0.5
        assert joint.data == {"radius": 2.0, "rest": 3.0}
        with pytest.raises(ph.ModelError, match=r"rest: missing"):
            model_from_yaml(text % "radius: 2, rest: 0.5", "m.yaml")
        assert "radius" in schema()["$defs"]["JointEntry"]["properties"]
    finally:
        del JOINTS["stiff-arc"]


def test_a_joint_of_the_package_takes_no_data():
    with pytest.raises(ph.ModelError, match="no such number of this joint"):
        ph.Joint("j", "revolute", "world", "b", data={"radius": 1.0})


def test_a_second_axis_must_be_given():
    class Elbow(ph.JointKind):
        name = "elbow"
        elements = ((ph.REVOLUTE, "axis"), (ph.PRISMATIC, "axis2"))
        coordinates, dofs = ("angle", "travel"), ("rate", "speed")

    ph.register_joint(Elbow)
    try:
        assert ph.Joint("j", "elbow", "world", "b", axis2=(0, 2, 0)).axis2 == (0.0, 2.0, 0.0)
        with pytest.raises(ph.ModelError, match="axis2: missing"):
            ph.Joint("j", "elbow", "world", "b")
        with pytest.raises(ph.ModelError, match="axis2: is zero"):
            ph.Joint("j", "elbow", "world", "b", axis2=(0, 0, 0))
    finally:
        del JOINTS["elbow"]


def test_a_kind_that_this_process_does_not_know_is_told(monkeypatch):
    """As in a worker that has not imported the user's file."""
    joint = ph.Joint("j", "arc", "world", "b", data={"radius": 1.0})
    with monkeypatch.context() as without:
        without.delitem(JOINTS, "arc")
        with pytest.raises(ph.ModelError, match=r"joint 'j': a type that is not registered(.|\n)*register_joint"):
            _ = joint.nq
