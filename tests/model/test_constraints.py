"""Every kind of constraint through one set of laws, and kinds of a user's own through the whole program."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from machines import random_model, random_q
from polhode.check.constraint_monitor import ConstraintMonitor
from polhode.dynamics import constraints, inverse, kinematics, reactions
from polhode.formats.yaml import model_from_yaml, to_yaml
from polhode.kernel import evaluate, trace
from polhode.kernel.backends.cuda import cuda_source
from polhode.model import make_tree
from polhode.model.constraints.base import ENDS
from polhode.model.constraints.constraint import check_data
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.user_kinds import user_kinds
from polhode.result.symmetry import conserved
from polhode.scalar import Vec, jacobian
from polhode.show.model_text import info_dict
from polhode.spatial import ORIGIN
from polhode.system.identity import identity_text

TYPES = ["free", "free", "revolute", "prismatic"]


class Ellipsoid(ph.BodyConstraint):
    """A point of b on an ellipsoid about the frame of a."""

    name = "point-on-ellipsoid"
    keys: ClassVar = {**ENDS, "radii": ph.Key("vector", "along x, y and z, m", unit="m", letter="r", needed=True)}
    rows = ("height",)

    def positions(self, a, b, data):
        scaled = [x / r for x, r in zip(a.R.T @ (b.o - a.o), data["radii"], strict=True)]
        return ph.sqrt(sum(x * x for x in scaled)) - 1.0


class Differential(ph.CoordinateConstraint):
    """Two joints whose coordinates add up to a third number."""

    name = "differential"
    keys: ClassVar = {
        "left": ph.Key("joint", "a joint of one axis", needed=True),
        "right": ph.Key("joint", "another", needed=True),
        "total": ph.Key("number", "of both coordinates; 0 unless given"),
    }
    rows = ("sum",)

    def residual(self, state, data):
        return state.coordinate(data["left"]) + state.coordinate(data["right"]) - data.get("total", 0.0)


@pytest.fixture(autouse=True)
def registered():
    """The kinds of this file, while its tests run."""
    for kind in (Ellipsoid, Differential):
        ph.register_constraint(kind)
    yield
    for kind in (Ellipsoid, Differential):
        del CONSTRAINTS[kind.name]


TURN = np.array([0.9, 0.1, -0.2, 0.3])
FRAMES = {
    "body_a": "b0",
    "body_b": "b1",
    "position_a": (0.1, 0.2, -0.1),
    "position_b": (-0.2, 0.1, 0.3),
    "orientation_a": tuple((TURN / np.linalg.norm(TURN)).tolist()),
    "axis_b": (0.3, -0.2, 0.8),
}
DATA = {
    **dict.fromkeys(("weld", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar"), FRAMES),
    "screw": {**FRAMES, "pitch": 0.4},
    "distance": {**FRAMES, "length": 0.7},
    "point-on-line": FRAMES,
    "point-on-plane": FRAMES,
    "point-on-curve": {**FRAMES, "function": lambda p: [p[0] * p[0] - p[1], p[2] - ph.sin(p[0])]},
    "rolling-disk": {**FRAMES, "radius": 0.4, "rim": 0.05},
    "rolling-sphere": {**FRAMES, "radius": 0.4},
    "knife-edge": FRAMES,
    "mimic": {"joint": "j2", "source": "j3", "polynomial": (0.1, 0.5, -0.3)},
    "gear": {"joint": "j2", "source": "j3", "multiplier": 1.5, "offset": 0.2},
    "beam-strain": {
        **{name: value for name, value in FRAMES.items() if name != "axis_b"},
        "length": 0.9,
        "mode": "bending-xz-end",
        "shear": (0.3, 0.7),
        "strain": 0.1,
    },
    "prescribed": {"joint": "j2", "value": lambda t: ph.sin(2 * t)},
    "function": {"function": lambda t, q: [q[0] * q[7] - t, ph.sin(q[1])], "rows": 2},
    Ellipsoid.name: {**FRAMES, "radii": (1.0, 0.5, 0.3)},
    Differential.name: {"left": "j2", "right": "j3", "total": 0.4},
}


@pytest.fixture(params=list(DATA))
def constraint(request):
    return ph.Constraint("held", request.param, DATA[request.param])


def machine(constraint):
    model = random_model(TYPES, 3, armature=False, shuffle=False, constraints=[constraint])
    rng = np.random.default_rng(3)
    found = constraints.conditions(constraint, [str(k) for k in range(constraint.data.get("rows", 0))])
    return model, found, random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


def vector(x):
    return Vec(np.asarray(x).tolist())


def rows_of(model, found):
    """φ, r, A, b of conditions, as a function of (t, q, v)."""
    tree = make_tree(model)
    graph = trace(lambda t, q, v: constraints.rows(tree, found, t, q, v), t=(), q=(model.nq,), v=(model.nv,))
    return lambda t, q, v: [np.array(x, dtype=float) for x in evaluate(graph, t=t, q=q, v=v)]


def test_every_registered_kind_is_tried():
    missing, unknown = set(CONSTRAINTS) - set(DATA), set(DATA) - set(CONSTRAINTS)
    assert not missing, f"add data to DATA, in this file, for {missing}"
    assert not unknown
    assert all(kind.name == name for name, kind in CONSTRAINTS.items())


def test_the_rates_are_those_of_the_residual(constraint):
    """r of the rows of positions is dφ/dt along the motion."""
    model, found, q, v, _ = machine(constraint)
    tree, t = make_tree(model), 0.3
    phi, r, _, _ = rows_of(model, found)(t, q, v)
    qdot = np.array(kinematics.rate(tree, vector(q), vector(v)))

    def along(s):
        return constraints.positions(tree, found, t + s[0], vector(q) + s[0] * vector(qdot))

    slopes = [row[0] for row in jacobian(along, Vec([0.0]))[1]]
    assert_close(r[: len(phi)], np.array(slopes, dtype=float), condition=100)
    assert len(r) == sum(len(c.rows) for c in found)


def test_the_rows_are_the_derivative_of_the_rates(constraint):
    """dr/dt = A v̇ − b along any motion, and r is linear in v."""
    model, found, q, v, vd = machine(constraint)
    tree, t, h, at = make_tree(model), 0.3, 1e-6, rows_of(model, found)
    qdot = np.array(kinematics.rate(tree, vector(q), vector(v)))
    _, r, A, b = at(t, q, v)
    early, late = (at(t + s * h, q + s * h * qdot, v + s * h * vd)[1] for s in (-1, 1))
    assert_close(A @ vd - b, (late - early) / (2 * h), condition=1e5, scale=100)
    assert_close(A @ v + at(t, q, 0 * v)[1], r, condition=100)


def test_the_reaction_does_the_work_of_the_multipliers(constraint):
    """The reaction on body b and its opposite on body a are Aᵀλ."""
    if constraint.kind.of_coordinates:
        return
    model, found, q, v, _ = machine(constraint)
    tree = make_tree(model)
    state = kinematics.machine_state(tree, 0.3, vector(q), vector(v))
    A = rows_of(model, found)(0.3, q, v)[2]
    counts = [sum(len(c.rows) for c in found if c.holonomic == held) for held in (True, False)]
    lam = np.random.default_rng(5).normal(size=sum(counts))
    held, slipping = vector(lam[: counts[0]]), vector(lam[counts[0] :])
    wrenches: dict = {}
    reactions.on_bodies(tree, state, [(constraint, reactions.reaction(constraint, state, held, slipping))], wrenches)
    nothing = vector(np.zeros(tree.nv))
    work = -np.array(inverse.inverse_dynamics(tree, vector(q), nothing, nothing, ORIGIN, wrenches))
    assert_close(work, A.T @ lam, condition=100)


def test_each_row_has_a_unit_and_each_number_a_path(constraint):
    model, found, *_ = machine(constraint)
    joints = {joint.name: ["N m"] * joint.nv for joint in model.joints}
    units = [constraint.kind.multiplier_unit(row, constraint.data, joints) for c in found for row in c.rows]
    assert len(units) == sum(len(c.rows) for c in found)
    assert all(units)
    paths = {path.split(".")[2] for path in model.numbers() if path.startswith("constraints.")}
    assert paths == {name for name in constraint.numeric if constraint.kind.keys[name].is_numeric}


def test_needed_keys_are_missed_and_other_keys_refused(constraint):
    check_data(constraint)
    for name, key in constraint.kind.keys.items():
        if key.needed:
            rest = {other: value for other, value in constraint.data.items() if other != name}
            with pytest.raises(ph.ModelError, match=f"'{name}' is missing"):
                check_data(ph.Constraint("held", constraint.type, rest))
    with pytest.raises(ph.ModelError, match="no such key"):
        check_data(ph.Constraint("held", constraint.type, {**constraint.data, "nonsense": 1.0}))


def test_energy_stays_unless_time_enters(constraint):
    model, *_ = machine(constraint)
    moves = constraint.type in ("prescribed", "function")
    assert conserved(model).energy != moves


# kinds of a user's own


def bead(**more):
    """A bead that slides on an ellipsoid under gravity, beside two wheels in a differential."""
    bodies = [ph.Body("bead", 0.2, (0.001, 0.001, 0.001)), *(ph.Body(n, 1.0, (0.1, 0.1, 0.2)) for n in ("l", "r"))]
    sizes = [ph.Joint(f"{axis}", "prismatic", p, c, axis=d) for axis, p, c, d in SLIDES]
    wheels = [ph.Joint(f"{n}-wheel", "revolute", "world", n) for n in ("l", "r")]
    light = [ph.Body(n, 0.05, (0.001, 0.001, 0.001)) for n in ("x-slide", "y-slide")]
    data = {"body_b": "bead", "radii": (ph.Parameter("rx", 1.0), 0.8, 0.6)}
    held = [
        ph.Constraint("surface", Ellipsoid.name, data),
        ph.Constraint("wheels", Differential.name, left="l-wheel", right="r-wheel", total=0.5),
    ]
    start = ph.Start(q=(0.6, 0, -0.48, 0.2, 0.3), v=(0.0, 0.4, 0.0, 1.0, -1.0))
    return ph.Model("bead", bodies=[*light, *bodies], joints=[*sizes, *wheels], constraints=held, start=start, **more)


SLIDES = [
    ("x", "world", "x-slide", (1, 0, 0)),
    ("y", "x-slide", "y-slide", (0, 1, 0)),
    ("z", "y-slide", "bead", (0, 0, 1)),
]
RUN = {"duration": 0.2, "step": 0.01, "method": "rk4"}


def test_own_kinds_are_compiled_as_they_are_evaluated(tmp_path):
    model = bead()
    system, oracle = ph.compile(model), ph.compile(model, target="python")
    q, v = np.array(model.start.q, dtype=float), np.array(model.start.v, dtype=float)
    tau = np.arange(5.0)
    assert_close(system.forward_dynamics(q, v, tau), oracle.forward_dynamics(q, v, tau), condition=100)
    assert system.constraint_names == ["surface.height", "wheels.sum"]
    assert ConstraintMonitor(system).multiplier_units == ("N", "N m")
    force = system.constraint_reactions(q, v, tau).force
    assert force.shape == (1, 3)  # of the one between bodies: along the normal of the ellipsoid
    normal = q[:3] / np.array([1.0, 0.8, 0.6]) ** 2
    assert_close(np.cross(force[0], normal), np.zeros(3), condition=100)
    assert "extern" in cuda_source(system._kernel("test", "forward_dynamics").graph, "forward", "double")
    assert "bead_forward_dynamics" in system.export_c(tmp_path / "bead.c").read_text()


def test_own_kinds_are_differentiated():
    model = bead()
    system, h = ph.compile(model), 1e-6
    q, v, tau = np.array(model.start.q, dtype=float), np.array(model.start.v, dtype=float), np.zeros(5)
    found = system.forward_dynamics_derivatives(q, v, tau)
    for k, e in enumerate(np.eye(5)):
        ends = [system.forward_dynamics(q, v + s * h * e, tau) for s in (-1, 1)]
        assert_close(found[1][:, k], (ends[1] - ends[0]) / (2 * h), condition=1e5, scale=10)


def test_runs_under_own_kinds_keep_to_them_and_are_graded():
    run = ph.simulate(bead(), duration=0.5)
    x, y, z = (run.q.sel(coordinate=name).values for name in ("x", "y", "z"))
    assert np.max(abs(np.hypot(np.hypot(x, y / 0.8), z / 0.6) - 1)) < 1e-9
    total = run.q.sel(coordinate="l-wheel") + run.q.sel(coordinate="r-wheel")
    assert np.max(abs(total - 0.5)) < 1e-9
    assert "constraint_residual" in run
    assert run.attrs["status"] == "finished"


def test_runs_under_own_kinds_are_differentiated():
    model, paths = bead(), ["rx", "gravity.2"]
    run = ph.simulate(model, sensitivities=paths, **RUN)
    assert list(run.parameter_units.values) == ["m", "m/s2"]
    found = run.sensitivity_v.isel(time=-1).values
    assert np.all(found[:3, 0])
    h = 1e-6
    ends = [
        ph.simulate(replace(model, gravity=(0.0, 0.0, -9.81 + s * h)), **RUN).v.isel(time=-1).values for s in (-1, 1)
    ]
    assert_close(found[:, 1], (ends[1] - ends[0]) / (2 * h), condition=1e6)


def test_numbers_of_own_kinds_are_inputs_of_kernels():
    model = bead()
    system = ph.compile(model, parameters=["rx", "constraints.wheels.total"])
    q, v, tau = np.array(model.start.q, dtype=float), np.array(model.start.v, dtype=float), np.zeros(5)
    data = {**model.constraints[0].data, "radii": (1.3, 0.8, 0.6)}
    other = replace(model, constraints=(ph.Constraint("surface", Ellipsoid.name, data), model.constraints[1]))
    given = {"rx": 1.3, "constraints.wheels.total": 0.5}
    found = system.forward_dynamics(q, v, tau, parameters=given)
    assert_close(found, ph.compile(other).forward_dynamics(q, v, tau), condition=100)


def test_own_kinds_are_swept():
    runs = ph.sweep(bead(), {"start.v.y": ph.Grid([0.0, 0.4])}, **RUN)
    alone = ph.simulate(bead(), **RUN)
    assert_close(runs.v.isel(run=1, time=-1), alone.v.isel(time=-1), condition=1e3)


def test_own_kinds_are_read_and_written():
    model = bead()
    text = to_yaml(model)
    assert "type: point-on-ellipsoid" in text
    assert model_from_yaml(text, "text") == model
    with pytest.raises(ph.ModelError, match=r"constraints\.surface.*\n?.*radii"):
        model_from_yaml(text.replace("radii: [rx, 0.8, 0.6]", "length: 1"), "text")


def test_own_kinds_are_told():
    model = bead()
    assert info_dict(model)["constraints"][0]["type"] == "point-on-ellipsoid"
    assert user_kinds(model) == [Ellipsoid, Differential]
    assert identity_text(model) == ""
    run = ph.simulate(model, **RUN)
    assert "surface.height" in run.constraint.values
    assert ph.plot.draw("reactions", run).axes


def test_own_kinds_are_kept_out_when_they_are_not_registered():
    text = to_yaml(bead())
    del CONSTRAINTS[Ellipsoid.name]
    kept = model_from_yaml(text, "text")
    with pytest.raises(ph.ModelError, match="no such type"):
        ph.compile(kept)
    ph.register_constraint(Ellipsoid)


class Squared(ph.BodyConstraint):
    """A blade with a residual that is not linear in the velocities."""

    name = "squared-blade"
    rate_rows = ("across",)

    def velocities(self, a, b, data):
        speed = ph.dot(b.axis(1), b.velocity - a.carries(b.o))
        return speed * speed


def test_rows_of_velocities_that_are_not_linear_are_refused():
    ph.register_constraint(Squared)
    try:
        model = random_model(["free"], 3, constraints=[ph.Constraint("blade", "squared-blade", body_b="b0")])
        with pytest.raises(ph.CompileError, match=r"constraint 'blade': not linear in v(.|\n)*row 'across'"):
            ph.compile(model)
    finally:
        del CONSTRAINTS["squared-blade"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ph.register_constraint(Ellipsoid()), ["not a kind of constraint"]),
        (lambda: ph.register_constraint(type("Nameless", (ph.BodyConstraint,), {"rows": ("x",)})), ["has no name"]),
        (lambda: ph.register_constraint(type("Rowless", (ph.BodyConstraint,), {"name": "none"})), ["has no rows"]),
        (
            lambda: ph.register_constraint(type("Other", (ph.BodyConstraint,), {"name": "weld", "rows": ("x",)})),
            ["a name twice"],
        ),
        (
            lambda: ph.register_constraint(
                type(
                    "Odd",
                    (ph.BodyConstraint,),
                    {"name": "odd", "rows": ("x",), "keys": {**ENDS, "length": ph.Key("joint")}},
                )
            ),
            ["a key of two sorts", "'length'"],
        ),
        (
            lambda: ph.register_constraint(
                type("Lost", (ph.BodyConstraint,), {"name": "lost", "rows": ("x",), "keys": {"size": ph.Key("number")}})
            ),
            ["names no bodies", "size"],
        ),
        (
            lambda: check_data(ph.Constraint("held", Ellipsoid.name, body_b="b", radii=(1.0, 2.0))),
            ["constraint 'held', radii", "wrong size"],
        ),
    ],
)
def test_what_is_wrong_is_said(make, words):
    with pytest.raises(ph.ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
