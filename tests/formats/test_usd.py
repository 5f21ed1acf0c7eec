"""USD files: equal to machines written by hand, masses by UsdPhysics' own rules, and files that must be refused."""

import importlib
import math
import os
import subprocess
import sys
import warnings
from dataclasses import replace

import mujoco
import numpy as np
import pytest

import polhode as ph
from machines import random_q
from polhode.errors import ModelError
from polhode.formats.usd import stage, stage_reader
from polhode.formats.usd.reader import load_usd
from polhode.quaternion import conjugate, normalise, product, rotate, rotation_matrix
from polhode.scalar import Vec

TOLERANCE = 1e-12
"""Poses in m, matrices and torques relative to their largest entry: 10 to 1000 roundings."""
SINGLE = 1e-6
"""Relative, where UsdPhysics computes in single precision."""


@pytest.fixture
def inside(monkeypatch):
    """Files are read within this process, which takes a tenth of the time."""
    monkeypatch.setattr(stage, "stage_answer", stage_reader.stage_answer)


def loaded(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        return load_usd(path, **options)


# texts

HEAD = {"metersPerUnit": 1, "upAxis": '"Z"'}


def numbers(values):
    return "(" + ", ".join(repr(float(x)) for x in values) + ")"


def usda(*prims, scene="", **head):
    said = "\n".join(f"    {key} = {value}" for key, value in {**HEAD, **head}.items() if value is not None)
    return f'#usda 1.0\n(\n{said}\n)\ndef PhysicsScene "scene"\n{{\n{scene}\n}}\n' + "\n".join(prims)


def written(folder, *prims, name="m.usda", **head):
    path = folder / name
    path.write_text(usda(*prims, **head))
    return path


def prim(kind, name, *lines, schemas=()):
    listed = ", ".join(f'"{schema}"' for schema in schemas)
    head = f" (\n prepend apiSchemas = [{listed}]\n)" if schemas else ""
    return f'def {kind} "{name}"{head}\n{{\n' + "\n".join(lines) + "\n}"


def placed(position=(0, 0, 0), orientation=(1, 0, 0, 0), scale=(1, 1, 1)):
    M = np.eye(4)
    M[:3, :3] = np.diag(scale) @ np.array(rotation_matrix(np.array(normalise(Vec(map(float, orientation)))))).T
    M[3, :3] = position
    rows = ", ".join(numbers(row) for row in M)
    return f'matrix4d xformOp:transform = ({rows})\nuniform token[] xformOpOrder = ["xformOp:transform"]'


def solid(name, *more, mass=1.5, moments=(0.5, 0.375, 0.25), axes=(1, 0, 0, 0), center=(0.125, 0.25, -0.5), at=""):
    lines = [
        f"float physics:mass = {mass}", f"float3 physics:diagonalInertia = {numbers(moments)}",
        f"quatf physics:principalAxes = {numbers(axes)}", f"point3f physics:centerOfMass = {numbers(center)}",
    ]  # fmt: skip
    schemas = ("PhysicsRigidBodyAPI", "PhysicsMassAPI")
    return prim("Xform", name, *lines, at, *more, schemas=schemas)


def joint(kind, name, bodies, frames, *more, schemas=()):
    lines = []
    for k, (body, (position, orientation)) in enumerate(zip(bodies, frames, strict=True)):
        lines += [f"rel physics:body{k} = </{body}>"] if body else []
        lines += [f"point3f physics:localPos{k} = {numbers(position)}"]
        lines += [f"quatf physics:localRot{k} = {numbers(orientation)}"]
    return prim(kind, name, *lines, *more, schemas=schemas)


HINGE = 'uniform token physics:axis = "Y"'

# joints, against machines written by hand

AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
EVERY = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def generic(*free):
    """A PhysicsJoint with some axes free: its type, its schemas and its lines."""
    locked = [name for name in EVERY if name not in free]
    lines = [f"float limit:{name}:physics:{end} = {x}" for name in locked for end, x in (("low", 1), ("high", -1))]
    return "PhysicsJoint", tuple(f"PhysicsLimitAPI:{name}" for name in locked), lines


def single(kind, axis="X"):
    return f"Physics{kind}Joint", (), [f'uniform token physics:axis = "{axis}"'] if axis else []


KINDS = {
    "fixed": (single("Fixed", ""), "fixed", {}),
    "revolute": (single("Revolute", "Y"), "revolute", {"axis": AXES["Y"]}),
    "prismatic": (single("Prismatic", "Z"), "prismatic", {"axis": AXES["Z"]}),
    "spherical": (single("Spherical"), "spherical", {}),
    "generic-fixed": (generic(), "fixed", {}),
    "generic-revolute": (generic("rotZ"), "revolute", {"axis": AXES["Z"]}),
    "generic-prismatic": (generic("transX"), "prismatic", {"axis": AXES["X"]}),
    "cylindrical": (generic("transY", "rotY"), "cylindrical", {"axis": AXES["Y"]}),
    "universal": (generic("rotX", "rotZ"), "universal", {"axis": AXES["X"], "axis2": AXES["Z"]}),
    "generic-spherical": (generic("rotX", "rotY", "rotZ"), "spherical", {}),
    "planar": (generic("transX", "transY", "rotZ"), "planar", {}),
}
FRAMES = [
    ((0.25, -0.5, 1.0), (1, 2, -1, 3)), ((-0.125, 0.375, 0.5), (2, -1, 1, 1)),
    ((0.5, 0.25, -0.75), (1, 0, 0, 0)), ((0.0, 0.0, 0.0), (3, 1, 2, -1)),
]  # fmt: skip
"""Frames of a joint on the world and its body, and of one between two bodies; single precision has these numbers."""


MOMENTS = (0.5, 0.375, 0.25)
NUMBERS = [("a", 1.5, (0.125, 0.25, -0.5), (1, 0, 0, 0)), ("b", 2.25, (0.5, 0.0, 0.125), (1, 1, 2, 0))]
"""Name, mass, centre and principal axes of two bodies."""
STILL = [((0, 0, 0), (1, 0, 0, 0))] * 2
"""Frames of a joint at the origins of its bodies."""


def unit(q):
    return tuple(normalise(Vec(map(float, q))))


def by_hand(kind, data):
    """Two bodies in a row by joints of one kind, every frame of a joint a frame without mass.

    Coordinates of a ball are about the axes of its child.
    """
    bodies, joints = [], []
    for k, (name, mass, center, axes) in enumerate(NUMBERS):
        R = np.array(rotation_matrix(np.array(unit(axes))))
        J = R @ np.diag(MOMENTS) @ R.T
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bodies.append(ph.Body(name, mass, ((J + J.T) / 2).tolist(), center))
            bodies.append(ph.Body(f"{name}.frame", 0.0, (0, 0, 0), physical=False))
        (r0, p0), (r1, p1) = [(r, Vec(unit(p))) for r, p in FRAMES[2 * k : 2 * k + 2]]
        if kind == "spherical":
            p0, p1 = product(p0, conjugate(p1)), Vec(unit((1, 0, 0, 0)))
        back, frame = conjugate(p1), f"{name}.frame"
        joints.append(ph.Joint(f"j{k}", kind, ("world", "a")[k], frame, position=r0, orientation=unit(p0), **data))
        at = {"position": -rotate(back, Vec(r1)), "orientation": unit(back)}
        joints.append(ph.Joint(f"j{k}.fixed", "fixed", frame, name, **at))
    return ph.Model("m", bodies=bodies, joints=joints)


def begin(model):
    return np.array(model.start.q if model.start else model.zero)


def poses(system, q):
    return {name: system.pose(q, name) for name in "ab"}


def text_of(said, at, turned=False, unit=1.0):
    """The same two bodies as a USD; turned: the second body of each joint first.  unit: metres in a unit"""
    kind, schemas, lines = said
    out = []
    for k, (name, mass, center, axes) in enumerate(NUMBERS):
        r, p = at[name]
        own = {"moments": np.array(MOMENTS) / unit**2, "center": np.array(center) / unit, "mass": mass, "axes": axes}
        out.append(solid(name, at=placed(np.array(r) / unit, p), **own))
        ends = (("", "a")[k], name)
        frames = [(np.array(r) / unit, p) for r, p in FRAMES[2 * k : 2 * k + 2]]
        step = -1 if turned else 1
        out.append(joint(kind, f"j{k}", ends[::step], frames[::step], *lines, schemas=schemas))
    return out


def farthest(found, wanted):
    """The largest difference of the poses of bodies, by name."""
    each = [
        max(np.max(abs(r - s)), min(np.max(abs(p - t)), np.max(abs(p + t))))
        for (r, p), (s, t) in ((found[name], wanted[name]) for name in wanted)
    ]
    return max(each)


def compared(one, other, names, seed=0, times=3):
    """The largest difference of poses, mass matrices and inverse dynamics of two models with the same q and v."""
    random, most = np.random.default_rng(seed), 0.0
    a, b = ph.compile(one, target="python"), ph.compile(other, target="python")
    assert (one.nq, one.nv) == (other.nq, other.nv)
    for _ in range(times):
        q, (v, vd) = random_q(one, random), random.uniform(-1, 1, (2, one.nv))
        M, N = a.mass_matrix(q), b.mass_matrix(q)
        most = max(most, np.max(abs(M - N), initial=0.0) / np.max(abs(M), initial=1.0))
        tau = a.inverse_dynamics(q, v, vd)
        most = max(most, np.max(abs(tau - b.inverse_dynamics(q, v, vd)), initial=0.0) / np.max(abs(tau), initial=1.0))
        most = max(most, farthest({x: a.pose(q, x) for x in names}, {x: b.pose(q, x) for x in names}))
    return most


@pytest.mark.parametrize("name", KINDS)
def test_a_joint_is_that_of_a_machine_written_by_hand(name, tmp_path, inside):
    """Frames on both bodies, and the start where the file has the bodies."""
    said, kind, data = KINDS[name]
    wanted = by_hand(kind, data)
    at = poses(ph.compile(wanted, target="python"), random_q(wanted, np.random.default_rng(5)))
    found = loaded(written(tmp_path, *text_of(said, at)))
    assert compared(wanted, found, "ab") < TOLERANCE
    assert farthest(poses(ph.compile(found, target="python"), begin(found)), at) < TOLERANCE


@pytest.mark.parametrize("name", ["revolute", "prismatic", "cylindrical", "universal", "planar", "spherical"])
def test_a_joint_may_name_its_bodies_the_other_way_round(name, tmp_path, inside):
    """Bodies begin where the file has them; axes are the opposite ones, last first, so that coordinates stay."""
    said, kind, data = KINDS[name]
    opposite = [tuple(-x for x in axis) for axis in reversed(data.values())]
    wanted = by_hand(kind, dict(zip(data, opposite, strict=True)))
    at = poses(ph.compile(wanted, target="python"), random_q(wanted, np.random.default_rng(6)))
    found = loaded(written(tmp_path, *text_of(said, at, turned=True)))
    assert farthest(poses(ph.compile(found, target="python"), begin(found)), at) < TOLERANCE
    assert compared(wanted, found, "ab") < TOLERANCE


def test_units_of_length_and_mass_change_nothing(tmp_path, inside):
    """The same machine in units of 1/64 m and 2 kg."""
    said, kind, data = KINDS["revolute"]
    wanted = by_hand(kind, data)
    at = poses(ph.compile(wanted, target="python"), np.array([0.3, -0.4]))
    small = loaded(written(tmp_path, *text_of(said, at, unit=1 / 64), metersPerUnit=1 / 64))
    assert compared(wanted, small, "ab") < TOLERANCE
    heavy = loaded(written(tmp_path, *text_of(said, at), name="heavy.usda", kilogramsPerUnit=2))
    double = replace(wanted, bodies=[
        replace(b, mass=2 * b.mass, inertia=(2 * b.inertia_matrix()).tolist()) if b.mass else b for b in wanted.bodies
    ])  # fmt: skip
    assert compared(double, heavy, "ab") < TOLERANCE


def test_a_scale_acts_on_lengths_in_a_prim_and_not_on_its_inertia(tmp_path, inside):
    """Frames of joints and centres are in the scaled space of their prim."""
    found = []
    for scale, center, point in (
        ((1, 1, 1), (0.5, 1.0, 2.0), (0.5, 0.0, 0.5)),
        ((2, 4, 8), (0.25, 0.25, 0.25), (0.25, 0.0, 0.0625)),
    ):
        body = solid("a", at=placed((0, 0, 1), scale=scale), center=center)
        frames = [((0, 0, 1.5), (1, 0, 0, 0)), (point, (1, 0, 0, 0))]
        hinge = joint("PhysicsRevoluteJoint", "j", ("", "a"), frames, HINGE)
        found.append(loaded(written(tmp_path, body, hinge, name=f"{scale[0]}.usda")))
    assert found[0].bodies[0] == found[1].bodies[0]
    assert compared(*found, "a") < TOLERANCE


@pytest.mark.parametrize("name", ["revolute", "fixed", "spherical", "prismatic", "cylindrical", "universal", "planar"])
def test_a_joint_outside_of_the_tree_holds_as_much_as_one_in_it(name, tmp_path, inside):
    """excludeFromArticulation makes it a constraint between free bodies, with the same accelerations."""
    said, kind, data = KINDS[name]
    wanted = by_hand(kind, data)
    at = poses(ph.compile(wanted, target="python"), random_q(wanted, np.random.default_rng(7)))
    apart = (said[0], said[1], [*said[2], "uniform bool physics:excludeFromArticulation = true"])
    accelerations = []
    for file, text in (("tree", said), ("loop", apart)):
        model = loaded(written(tmp_path, *text_of(text, at), name=f"{file}.usda"))
        assert len(model.constraints) == (2 if file == "loop" else 0)
        system, v, q = ph.compile(model, target="python"), np.zeros(model.nv), begin(model)
        vd = system.forward_dynamics(q, v, v)
        accelerations.append(np.array([system.acceleration(q, v, vd, body) for body in "ab"]))
    assert np.max(abs(accelerations[0] - accelerations[1])) < 1e-10 * (1 + np.max(abs(accelerations[0])))


def test_a_second_way_to_a_body_closes_a_loop(tmp_path, inside):
    """Three bars on two pins of the world; the end pin is left for a constraint."""
    no = (1, 0, 0, 0)
    where = {"crank": (0, 0, 0), "rod": (0, 0, 0.5), "rocker": (1, 0, 0)}
    pins = {
        "motor": ("", "crank", (0, 0, 0)),
        "knee": ("crank", "rod", (0, 0, 0.5)),
        "pivot": ("", "rocker", (1, 0, 0)),
        "end": ("rocker", "rod", (1, 0, 0.5)),
    }
    parts = [solid(name, at=placed(r)) for name, r in where.items()]
    for name, (one, other, point) in pins.items():
        frames = [(np.subtract(point, where.get(body, (0, 0, 0))), no) for body in (one, other)]
        parts.append(joint("PhysicsRevoluteJoint", name, (one, other), frames, HINGE))
    bars = loaded(written(tmp_path, *parts))
    assert [(c.name, c.type) for c in bars.constraints] == [("end", "revolute")]
    assert [j.name for j in bars.joints if j.type == "revolute"] == ["motor", "pivot", "knee"]
    system, v = ph.compile(bars, target="python"), np.zeros(3)
    vd = system.forward_dynamics(np.zeros(3), v, v)
    assert abs(vd[0] - vd[1]) < 1e-10  # a parallelogram: crank and rocker turn alike
    assert abs(vd[2] + vd[0]) < 1e-10  # and the rod does not turn


def test_drives_are_springs_and_dampers_per_radian(tmp_path, inside):
    drive = [
        f"float drive:angular:physics:{key} = {x}"
        for key, x in (("stiffness", 2), ("damping", 0.5), ("targetPosition", 90))
    ]
    limits = ["float physics:lowerLimit = -45", "float physics:upperLimit = 180"]
    frames = STILL
    text = joint("PhysicsRevoluteJoint", "j", ("", "a"), frames, *drive, *limits, schemas=("PhysicsDriveAPI:angular",))
    found = loaded(written(tmp_path, solid("a"), text)).joints[0]
    degree = math.pi / 180
    assert (found.stiffness, found.damping) == pytest.approx((2 / degree, 0.5 / degree), rel=1e-15)
    assert (found.rest, found.lower, found.upper) == pytest.approx((math.pi / 2, -math.pi / 4, math.pi), rel=1e-15)
    slide = [
        f"float drive:linear:physics:{key} = {x}"
        for key, x in (("stiffness", 2), ("damping", 0.5), ("targetPosition", 3))
    ]
    limits = ["float physics:lowerLimit = -2", "float physics:upperLimit = 4"]
    text = joint("PhysicsPrismaticJoint", "j", ("", "a"), frames, *slide, *limits, schemas=("PhysicsDriveAPI:linear",))
    found = loaded(written(tmp_path, solid("a"), text, name="slide.usda", metersPerUnit=0.5)).joints[0]
    assert (found.stiffness, found.damping, found.rest, found.lower, found.upper) == (2.0, 0.5, 1.5, -1.0, 2.0)


def test_a_rod_keeps_its_length_and_a_rope_is_told(tmp_path, inside):
    frames = [((0, 0, 2), (1, 0, 0, 0)), ((0, 0, 0.5), (1, 0, 0, 0))]
    for low, high in ((1.5, 1.5), (0.0, 1.5)):
        lengths = (f"float physics:minDistance = {low}", f"float physics:maxDistance = {high}")
        text = joint("PhysicsDistanceJoint", "rod", ("", "a"), frames, *lengths)
        model = loaded(written(tmp_path, solid("a"), text, name=f"{low}.usda"))
        if low == high:
            (rod,) = model.constraints
            assert (rod.type, rod.data["length"], tuple(rod.data["position_b"])) == ("distance", 1.5, (0.0, 0.0, 0.5))
        else:
            assert model.ignored == ("distance joints that hold a range of distances (1)",)


def test_a_joint_on_a_prim_of_a_body_is_on_the_body(tmp_path, inside):
    """A prim below a body stands for it, with its own frame; one that is below none is on the world."""
    no = (1, 0, 0, 0)
    mount = prim("Xform", "mount", placed((1, 2, 3)))
    text = joint("PhysicsRevoluteJoint", "j", ("floor", "a/mount"), [((0, 0, 0), no), ((0, 0, 0), no)], HINGE)
    model = loaded(written(tmp_path, prim("Xform", "floor", placed((5, 0, 0))), solid("a", mount), text))
    pivot = model.joints[0]
    assert (pivot.parent, pivot.child) == ("world", "a.j")
    assert np.allclose(pivot.position, (5, -2, 0), atol=1e-15)  # the point of the axis next to the body's origin
    assert np.allclose(model.joints[1].position, (-1, 0, -3), atol=1e-15)


def test_a_joint_between_prims_that_stand_still_is_left_out(tmp_path, inside):
    text = joint("PhysicsFixedJoint", "j", ("floor", ""), STILL)
    with pytest.warns(ph.PolhodeWarning, match="joints of which no end moves: left out: 'j'"):
        model = load_usd(written(tmp_path, prim("Xform", "floor"), solid("a"), text))
    assert [j.type for j in model.joints] == ["free"]


# bodies


def test_bodies_without_joints_fly_and_kinematic_ones_stand_still(tmp_path, inside):
    inner = solid("inner", at=placed((0, 1, 0)))
    still = solid("still", "bool physics:kinematicEnabled = true")
    off = solid("off", "bool physics:rigidBodyEnabled = false")
    with pytest.warns(ph.PolhodeWarning, match="kinematic bodies: they stand still: 'still'"):
        model = load_usd(written(tmp_path, solid("a", inner, at=placed((1, 2, 3))), still, off))
    assert [(j.type, j.child) for j in model.joints] == [("free", "a"), ("free", "inner")]
    assert model.start.q == (1, 2, 3, 1, 0, 0, 0, 1, 3, 3, 1, 0, 0, 0)


def test_gravity_is_the_scenes_or_downwards(tmp_path, inside):
    def gravity(name, scene="", **head):
        return loaded(written(tmp_path, solid("a"), scene=scene, name=f"{name}.usda", **head)).gravity

    assert gravity("z") == (0, 0, -9.81)
    assert gravity("y", upAxis='"Y"') == (0, -9.81, 0)
    given = "vector3f physics:gravityDirection = (0, 3, 4)\nfloat physics:gravityMagnitude = 200"
    assert gravity("given", given, metersPerUnit=0.01) == pytest.approx((0, 1.2, 1.6), rel=1e-15)
    assert gravity("none", "float physics:gravityMagnitude = 0") == (0, 0, 0)


def test_names_are_those_of_prims_or_paths_where_two_have_one(tmp_path, inside):
    groups = [prim("Xform", side, solid("hand"), solid(f"arm_{side}")) for side in ("left", "right")]
    model = loaded(written(tmp_path, *groups, solid("world")))
    assert [b.name for b in model.bodies] == ["left/hand", "arm_left", "right/hand", "arm_right", "world_"]


SHAPES = {
    "Cube": ("double size = 0.5", '<geom type="box" size="0.25 0.25 0.25" density="700"/>'),
    "Sphere": ("double radius = 0.5", '<geom type="sphere" size="0.5" density="700"/>'),
    "Cylinder": ("double radius = 0.25\ndouble height = 1.5", '<geom type="cylinder" size="0.25 0.75" density="700"/>'),
    "Capsule": ("double radius = 0.25\ndouble height = 1.5", '<geom type="capsule" size="0.25 0.75" density="700"/>'),
}


def shape(kind, name, *lines, mass=()):
    return prim(kind, name, *lines, schemas=("PhysicsCollisionAPI", *(["PhysicsMassAPI"] if mass else [])))


@pytest.mark.parametrize("kind", SHAPES)
def test_a_body_by_its_shape_weighs_what_it_does_in_mujoco(kind, tmp_path, inside):
    lines, geom = SHAPES[kind]
    schemas = ("PhysicsRigidBodyAPI", "PhysicsMassAPI")
    own = prim("Xform", "a", "float physics:density = 700", shape(kind, "c", lines), schemas=schemas)
    body = loaded(written(tmp_path, own)).bodies[0]
    other = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody><body><freejoint/>{geom}</body></worldbody></mujoco>")
    assert body.mass == pytest.approx(other.body_mass[1], rel=1e-14)
    assert np.sort(np.linalg.eigvalsh(body.inertia_matrix())) == pytest.approx(
        np.sort(other.body_inertia[1]), rel=1e-13
    )


def test_a_cone_weighs_what_its_slices_do(tmp_path, inside):
    r, h, n = 0.5, 1.5, 4000
    sizes = f'double radius = {r}\ndouble height = {h}\nuniform token axis = "X"'
    own = prim("Xform", "a", shape("Cone", "c", sizes), schemas=("PhysicsRigidBodyAPI",))
    body = loaded(written(tmp_path, own)).bodies[0]
    x = (np.arange(n) + 0.5) / n * h - h / 2
    s = r * (0.5 - x / h)
    m = 1000 * math.pi * s * s * h / n
    c = (m @ x) / m.sum()
    J = (m @ (s * s / 2), m @ (s * s / 4 + (x - c) ** 2), m @ (s * s / 4 + (x - c) ** 2))
    assert body.mass == pytest.approx(m.sum(), rel=1e-6)
    assert body.center == pytest.approx((c, 0, 0), rel=1e-6)
    assert np.diag(body.inertia_matrix()) == pytest.approx(J, rel=1e-6)


MASSES = {
    "densities": ("float physics:density = 500", ["", "float physics:density = 2000"]),
    "mass of a shape": ("float physics:density = 500", ["float physics:mass = 3", ""]),
    "mass of the body": ("float physics:mass = 7", ["", "float physics:density = 3"]),
    "centre of the body": ("point3f physics:centerOfMass = (0.5, 0.25, 1)", ["", ""]),
    "nothing": ("", ["", ""]),
}


@pytest.mark.parametrize("name", MASSES)
def test_masses_follow_the_rules_of_usd_physics(name, tmp_path, inside):
    """Those of UsdPhysicsRigidBodyAPI::ComputeMassProperties, which asks for the volume of each shape alone."""
    pxr = {part: importlib.import_module(f"pxr.{part}") for part in ("Usd", "UsdPhysics", "Gf")}
    own, parts = MASSES[name]
    box, ball = (placed((0.5, 0.25, -1), (1, 2, 3, 4), (1, 2, 3)), placed((-1, 0.5, 0.25), scale=(0.5, 0.5, 0.5)))
    shapes = [
        shape("Cube", "box", "double size = 0.5", box, parts[0], mass=(1,)),
        shape("Sphere", "ball", ball, parts[1], mass=(1,)),
    ]
    path = written(tmp_path, prim("Xform", "a", own, *shapes, placed((1, 2, 3))
                                  , schemas=("PhysicsRigidBodyAPI", "PhysicsMassAPI")))  # fmt: skip
    body = loaded(path).bodies[0]
    read, Gf = stage.read_stage(path), pxr["Gf"]
    from polhode.formats.usd.masses import shape_volume

    def information(one):
        volume, center, inertia = shape_volume(read, read.prims[str(one.GetPath())])
        at = read.prims["/a"].pose(1.0).at.inverse().then(read.prims[str(one.GetPath())].pose(1.0).at)
        found = pxr["UsdPhysics"].RigidBodyAPI.MassInformation()
        found.volume, found.centerOfMass = volume, Gf.Vec3f(*center)
        found.inertia = Gf.Matrix3f(*inertia.ravel().tolist())
        found.localPos = Gf.Vec3f(*at.position)
        found.localRot = Gf.Quatf(at.orientation[0], *at.orientation[1:])
        return found

    opened = pxr["Usd"].Stage.Open(str(path))
    api = pxr["UsdPhysics"].RigidBodyAPI(opened.GetPrimAtPath("/a"))
    mass, moments, center, axes = api.ComputeMassProperties(information)
    R = np.array(rotation_matrix(np.array([axes.GetReal(), *axes.GetImaginary()])))
    J = R @ np.diag(list(moments)) @ R.T
    assert body.mass == pytest.approx(mass, rel=SINGLE)
    assert body.center == pytest.approx(list(center), rel=SINGLE, abs=SINGLE)
    assert np.max(abs(body.inertia_matrix() - J)) < 10 * SINGLE * np.max(J)


def test_what_is_drawn_is_in_metres_and_on_its_body(tmp_path, inside):
    ball = prim("Sphere", "eye", "double radius = 2", placed((0, 0, 8)))
    pill = prim("Capsule", "arm", 'double radius = 1\ndouble height = 4\nuniform token axis = "X"')
    model = loaded(written(tmp_path, solid("a", ball, pill, at=placed((1, 1, 1))), metersPerUnit=0.5))
    assert [s.type for s in model.shapes] == ["sphere", "cylinder", "sphere", "sphere"]
    assert [s.size for s in model.shapes] == [(1.0,), (0.5, 2.0), (0.5,), (0.5,)]
    assert model.shapes[0].position == (0, 0, 4)
    assert [s.position for s in model.shapes[2:]] == [(-1, 0, 0), (1, 0, 0)]


def test_what_would_change_the_motion_and_is_not_read_is_told(tmp_path, inside):
    drive = ['uniform token drive:angular:physics:type = "acceleration"', "float drive:angular:physics:stiffness = 1"]
    frames = STILL
    parts = [
        solid("a", "vector3f physics:velocity = (1, 0, 0)"), solid("b"),
        joint("PhysicsRevoluteJoint", "j", ("", "a"), frames, *drive, "float physxJoint:armature = 0.1",
              "float physics:breakForce = 5", schemas=("PhysicsDriveAPI:angular",)),
        joint("PhysicsFixedJoint", "off", ("a", "b"), frames, "bool physics:jointEnabled = false"),
    ]  # fmt: skip
    model = loaded(written(tmp_path, *parts))
    assert [j.type for j in model.joints] == ["revolute", "free"]
    assert model.ignored == (
        "joints that are not enabled (1)", "velocities of bodies at the start (1)", "drives by acceleration (1)",
        "forces at which joints break (1)", "armature of joints, in PhysX's words (1)",
    )  # fmt: skip


# files that are refused


def with_joint(said, bodies, frames=STILL):
    kind, schemas, lines = said
    return solid("a") + "\n" + joint(kind, "j", bodies, frames, *lines, schemas=schemas)


WRONG = {
    "nothing moves": (prim("Xform", "a"), ["no bodies", "PhysicsRigidBodyAPI"]),
    "no mass": (prim("Xform", "a", schemas=("PhysicsRigidBodyAPI",)), ["'/a'", "without mass", "physics:mass"]),
    "a mesh": (prim("Xform", "a", shape("Mesh", "m"), schemas=("PhysicsRigidBodyAPI",)), ["'/a/m'", "found Mesh"]),
    "an ellipsoid": (
        prim("Xform", "a", shape("Sphere", "s", placed(scale=(1, 1, 2))), schemas=("PhysicsRigidBodyAPI",)),
        ["'/a/s'", "1, 1, 2", "equal scales"],
    ),
    "nan": (solid("a", mass="nan"), ["'/a'", "physics:mass is not finite"]),
    "below zero": (solid("a", mass=-1), ["'/a'", "below zero"]),
    "infinite moments": (solid("a", moments=(1, math.inf, 1)), ["diagonalInertia is not finite"]),
    "mirrored": (solid("a", at=placed(scale=(1, 1, -1))), ["'/a'", "mirrored"]),
    "flat": (solid("a", at=placed(scale=(1, 1, 0))), ["'/a'", "a scale of zero"]),
    "sheared": (
        prim("Xform", "g", placed(scale=(1, 2, 1)), solid("a", at=placed(orientation=(3, 1, 1, 1)))),
        ["'/g/a'", "sheared"],
    ),
    "moving": (
        solid("a", "double3 xformOp:translate.timeSamples = {\n0: (0, 0, 0), 1: (1, 0, 0)\n}",
              'uniform token[] xformOpOrder = ["xformOp:translate"]'),
        ["'/a'", "changes with time"],
    ),
    "moving above": (
        prim("Xform", "g", "double3 xformOp:translate.timeSamples = {\n0: (0, 0, 0)\n}",
             'uniform token[] xformOpOrder = ["xformOp:translate"]', solid("a")),
        ["'/g/a'", "changes with time"],
    ),
    "a timed mass": (
        solid("a").replace("mass = 1.5", "mass.timeSamples = {\n0: 1\n}"), ["physics:mass changes with time"],
    ),
    "nobody": (with_joint(single("Fixed", ""), ("b", "a")), ["'/j'", "body0 is no prim", "'/b'"]),
    "itself": (with_joint(single("Fixed", ""), ("a", "a")), ["'/j'", "and itself"]),
    "no turn": (
        with_joint(single("Fixed", ""), ("", "a"), [((0, 0, 0), (0, 0, 0, 0))] * 2),
        ["'/j'", "localRot0", "without length"],
    ),
    "two turns and a travel": (
        with_joint(generic("rotX", "rotY", "transZ"), ("", "a")),
        ["'/j'", "no kind of ours", "free: transZ, rotX, rotY"],
    ),
    "an instancer": (
        prim("PointInstancer", "many", "rel prototypes = </many/a>", solid("a")), ["'/many'", "PointInstancer"],
    ),
    "a unit of nothing": (solid("a"), ["metersPerUnit is no unit"]),
    "an axis that is none": (solid("a"), ["upAxis is no axis", "'q'"]),
    "not USD": ("}", ["cannot be read"]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_wrong_is_refused_with_the_prim(name, tmp_path, inside):
    text, said = WRONG[name]
    heads = {"a unit of nothing": {"metersPerUnit": 0}, "an axis that is none": {"upAxis": '"q"'}}
    head = heads.get(name, {})
    path = written(tmp_path, text, **head)
    with pytest.raises(ModelError) as caught:
        loaded(path)
    for piece in (path.name, *said):
        assert piece in str(caught.value)
    assert str(caught.value).count(path.name) == 1


def test_a_package_is_refused_by_name(tmp_path):
    (tmp_path / "m.usdz").write_bytes(b"PK")
    with pytest.raises(ModelError, match="a ZIP archive: unpack it"):
        ph.load(tmp_path / "m.usdz")


REFERENCES = {
    "above": ("references = @../part.usda@</part>", "leaves the model's folder"),
    "absolute": ("references = @/etc/part.usda@</part>", "leaves the model's folder"),
    "payload": ("payload = @../part.usda@</part>", "leaves the model's folder"),
    "link": ("references = @./link.usda@</part>", "leaves the model's folder"),
    "address": ("references = @https://example.com/part.usda@</part>", "a reference that is not read"),
    "other format": ("references = @./part.txt@</part>", "a reference that is not read"),
    "package": ("references = @./part.usdz[a.usda]@</part>", "a reference that is not read"),
    "expression": ('references = @`"./part.usda"`@</part>', "a reference that is not read"),
    "missing": ("references = @./nowhere.usda@</part>", "that it refers to is missing"),
    "device": ("references = @./pipe.usda@</part>", "not a plain file"),
    "circle": ("references = </a>", "do not fit together"),
    "clips": ("clips = {\ndictionary default = {\nasset[] assetPaths = [@../x.usda@]\n}\n}", "value clips"),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_what_a_file_refers_to_stays_in_its_folder(name, tmp_path, inside, capfd):
    said, why = REFERENCES[name]
    home = tmp_path / "home"
    home.mkdir()
    written(tmp_path, solid("part"), name="part.usda")
    (home / "link.usda").symlink_to(tmp_path / "part.usda")
    if hasattr(os, "mkfifo"):
        os.mkfifo(home / "pipe.usda")
    path = written(home, f'def Xform "a" (\n{said}\n)\n{{\n}}')
    with pytest.raises(ModelError, match=why):
        loaded(path)


def test_parts_in_the_folder_are_read_and_instances_too(tmp_path, inside):
    written(tmp_path, solid("part", at=placed((0, 0, 1))), name="part.usda")
    parts = [
        f'def Xform "{name}" (\nreferences = @./part.usda@</part>\ninstanceable = {flag}\n)\n{{\n}}'
        for name, flag in (("a", "false"), ("b", "true"))
    ]
    group = 'def Xform "c" (\nreferences = @./group.usda@</group>\ninstanceable = true\n)\n{\n}'
    written(tmp_path, prim("Xform", "group", solid("inner")), name="group.usda")
    model = loaded(written(tmp_path, *parts, group))
    assert [b.name for b in model.bodies] == ["a", "b", "inner"]
    elsewhere = tmp_path / "home"
    elsewhere.mkdir()
    path = written(elsewhere, 'def Xform "a" (\nreferences = @../part.usda@</part>\n)\n{\n}')
    assert loaded(path, packages=[tmp_path]).bodies[0].mass == 1.5


def test_no_plugin_is_taken_from_the_folder_of_a_file(tmp_path, inside, monkeypatch):
    info = '{"Plugins": [{"Type": "resource", "Name": "evil", "Root": ".", "ResourcePath": ".", "Info": {}}]}'
    for folder in (tmp_path, tmp_path / "usd"):
        folder.mkdir(exist_ok=True)
        (folder / "plugInfo.json").write_text(info)
    monkeypatch.chdir(tmp_path)
    loaded(written(tmp_path, solid("a")))
    names = {plugin.name for plugin in importlib.import_module("pxr.Plug").Registry().GetAllPlugins()}
    assert "usdPhysics" in names
    assert "evil" not in names


def test_sizes_are_bounded(tmp_path, inside, monkeypatch):
    path = written(tmp_path, *(solid(f"a{k}") for k in range(5)))
    for name, most in (("MAX_PRIMS", 3), ("MAX_BYTES", 100), ("MAX_DEPTH", 0)):
        with monkeypatch.context() as patch:
            patch.setattr(stage_reader, name, most)
            with pytest.raises(ModelError, match=r"too (many|large|deep)|nested too deep"):
                loaded(path)


# the process


def test_text_and_binary_files_are_read_by_a_process_of_their_own(tmp_path):
    frames = [((0, 0, 1), (1, 0, 0, 0)), ((0, 0, 1), (1, 0, 0, 0))]
    path = written(tmp_path, solid("a"), joint("PhysicsRevoluteJoint", "j", ("", "a"), frames, HINGE))
    code = f"from pxr import Sdf; Sdf.Layer.FindOrOpen({str(path)!r}).Export({str(tmp_path / 'b.usdc')!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    text, binary = loaded(path), loaded(tmp_path / "b.usdc")
    assert (text.bodies, text.joints) == (binary.bodies, binary.joints)
    assert replace(text, name=binary.name) == binary


def test_a_crash_of_the_reader_is_an_error_of_ours(tmp_path, monkeypatch):
    crash = tmp_path / "crash.py"
    crash.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    monkeypatch.setattr(stage_reader, "__file__", str(crash))
    with pytest.raises(ModelError, match="the reader of OpenUSD broke off"):
        loaded(written(tmp_path, solid("a")))


def test_a_missing_package_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(stage, "stage_answer", lambda path, folders: {"missing": "No module named 'pxr'"})
    with pytest.raises(ph.PolhodeError, match=r"pip install 'polhode\[usd\]'"):
        loaded(written(tmp_path, solid("a")))


@pytest.mark.long
def test_damaged_binary_files_give_a_model_or_an_error(tmp_path):
    """500 damaged files. OpenUSD 26.11 crashed on one of 500 others."""
    path = written(tmp_path, solid("a"), joint("PhysicsRevoluteJoint", "j", ("", "a"), [FRAMES[0], FRAMES[1]], HINGE))
    code = f"from pxr import Sdf; Sdf.Layer.FindOrOpen({str(path)!r}).Export({str(tmp_path / 'b.usdc')!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    sound, random = (tmp_path / "b.usdc").read_bytes(), np.random.default_rng(3)
    outcomes = {"loaded": 0, "refused": 0}
    for k in range(500):
        content = bytearray(sound)
        at = int(random.integers(len(content)))
        if k % 4 == 0:
            content[at : at + 8] = b"\xff" * 8
        elif k % 4 == 1:
            content = content[:at]
        elif k % 4 == 2:
            other = int(random.integers(len(content)))
            content[at : at + 16] = content[other : other + 16]
        else:
            for place in random.integers(len(content), size=3):
                content[place] = int(random.integers(256))
        damaged = tmp_path / f"{k}.usdc"
        damaged.write_bytes(content)
        try:
            loaded(damaged)
            outcomes["loaded"] += 1
        except ph.PolhodeError:
            outcomes["refused"] += 1
    print(outcomes)
    assert sum(outcomes.values()) == 500
