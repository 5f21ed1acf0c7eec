"""Every kind of force element through one set of laws, and elements of a user's own through the whole program."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import polhode as ph
from close import RESIDUAL, assert_close, complex_step
from machines import random_model, random_q
from polhode.dynamics import forces, inverse, kinematics
from polhode.formats.yaml import model_from_yaml, to_yaml
from polhode.kernel import trace
from polhode.kernel.backends.cuda import cuda_source
from polhode.kernel.differentiate import pullback, pushforward
from polhode.kernel.evaluate import evaluate
from polhode.model import make_tree
from polhode.model.forces.registry import FORCES
from polhode.model.user_kinds import user_kinds
from polhode.result.symmetry import conserved
from polhode.scalar import Vec, cross
from polhode.show.model_text import info_dict
from polhode.simulation.inputs import whole_force
from polhode.spatial import ORIGIN
from polhode.system.identity import identity_text

TYPES = ["free", "revolute", "spherical", "prismatic", "universal"]


@dataclass(frozen=True)
class Drag(ph.ForceElement):
    """Drag on a point of a body: F = −c |u| u, u its velocity."""

    name: str
    body: str
    coefficient: Any = 0.0
    point: Any = (0.0, 0.0, 0.0)

    kind = "drag"
    keys: ClassVar = {
        "body": ph.Key("body", "the body it acts on", needed=True),
        "coefficient": ph.Key("number", "N s²/m²", unit="N s2/m2", letter="c_d"),
        "point": ph.Key("vector", "where it acts, in body axes, m", unit="m"),
    }

    def wrenches(self, state):
        u = state.velocity(self.body, self.point)
        force = -self.coefficient * ph.length(u) * u
        yield ph.Wrench(self.body, force, ph.cross(state.frame(self.body).R @ self.point, force))


@dataclass(frozen=True)
class Attraction(ph.ForceElement):
    """Gravitation between the origins of two bodies, softened: V = −μ/√(r² + s²)."""

    name: str
    body_a: str
    body_b: str
    strength: Any
    softness: Any = 0.5

    kind = "attraction"
    keys: ClassVar = {
        "body_a": ph.Key("body", "a body", needed=True),
        "body_b": ph.Key("body", "another body", needed=True),
        "strength": ph.Key("number", "N m²", unit="N m2", needed=True),
        "softness": ph.Key("number", "m", unit="m"),
    }

    def wrenches(self, state):
        line = state.frame(self.body_b).o - state.frame(self.body_a).o
        r = ph.sqrt(ph.dot(line, line) + self.softness * self.softness)
        pull = self.strength / (r * r * r) * line
        return [ph.Wrench(self.body_a, pull), ph.Wrench(self.body_b, -pull)]

    def potential(self, state):
        line = state.frame(self.body_b).o - state.frame(self.body_a).o
        return -self.strength / ph.sqrt(ph.dot(line, line) + self.softness * self.softness)

    @property
    def is_internal(self):
        return True


def unit(q):
    return tuple(np.array(q) / np.linalg.norm(q))


def between(t, body, other):
    """A force and a torque that see most of two bodies."""
    w = body.angular_velocity - other.angular_velocity
    return body.velocity - ph.sin(t) * other.velocity + body.R.T @ (other.position - body.position), -2 * w


TURN, SIX = unit((3, 1, -1, 2)), (10.0, 20.0, 30.0, 4.0, 5.0, 6.0)
FULL = [[x if i == j else 0.5 * np.cos(i + j) for j in range(6)] for i, x in enumerate(SIX)]

ELEMENTS = {
    "force": ph.Force("f", "b3", (1.0, 2.0, 3.0), (0.1, -0.2, 0.3), (0.1, 0.0, 0.2)),
    "force in body axes": ph.Force("f", "b3", (1.0, 2.0, 3.0), (0.1, -0.2, 0.3), (0.1, 0.0, 0.2), "body"),
    "force of time": ph.Force("f", "b3", lambda t: (ph.sin(t), 1.0, t), point=(0.1, 0.0, 0.2)),
    "spring": ph.Spring("s", "b1", "b3", (0.1, 0.2, 0.3), (-0.3, 0.1, 0.0), 50.0, rest=0.4),
    "spring and damper": ph.Spring("s", "b1", "b3", (0.1, 0.2, 0.3), (-0.3, 0.1, 0.0), 50.0, 3.0, 0.4),
    "spring to the world": ph.Spring("s", "world", "b3", (0.1, 0.2, 0.3), stiffness=20.0),
    "hard spring": ph.Spring("s", "b1", "b3", (0.1, 0.2, 0.3), (-0.3, 0.1, 0.0), 5.0, 0, 0.4, 2.0, polynomial=(3, 7)),
    "table": ph.Spring(
        "s", "b1", "b3", (0.1, 0, 0), rest=0.4, damping=0.3, table=((-1, -5), (0.1, 0), (1, 2), (1.5, 9))
    ),
    "spring of energy": ph.Spring("s", "b1", "b3", (0.1, 0.2, 0.3), energy=lambda e: ph.exp(e) - ph.cos(e)),
    "spring of law": ph.Spring("s", "b1", "b3", (0.1, 0.2, 0.3), law=lambda length, rate: length - rate * rate),
    "cable": ph.Spring("s", "b1", "b3", (0.1, 0.2, 0.3), (-0.3, 0.1, 0.0), 50.0, 3.0, 0.4, only="pull"),
    "slack cable": ph.Spring("s", "b1", "b3", (0.1, 0.2, 0.3), (-0.3, 0.1, 0.0), 50.0, 3.0, 40.0, only="pull"),
    "prop": ph.Spring("s", "b1", "b3", (0.1, 0.2, 0.3), stiffness=50.0, damping=30.0, rest=40.0, only="push"),
    "torsion spring": ph.TorsionSpring("t", "b4", "b2", (1, 2, 3), unit((2, 1, 0, 1)), stiffness=4.0, rest=0.3),
    "torsion": ph.TorsionSpring("t", "b4", "b2", damping=2.0, table=((-1, -4), (0, -1), (2, 3)), polynomial=(1, 2)),
    "torsion of law": ph.TorsionSpring(
        "t", "world", "b2", law=lambda angle, rate: -rate * ph.sqrt(1 + rate * rate), preload=2.0
    ),
    "torsion at a joint": ph.TorsionSpring("t", joint="j1", stiffness=3.0, damping=1.0, rest=7.0, polynomial=(0.1,)),
    "bushing": ph.Bushing("b", "b4", "b2", (0.1, 0.2, 0.3), (-0.3, 0.1, 0.0), stiffness=FULL, at="midway"),
    "bushing, first": ph.Bushing("b", "b4", "b2", (0.1, 0.2, 0), orientation_a=TURN, stiffness=FULL, at="first"),
    "bushing, damped": ph.Bushing("b", "b4", "b2", (0.1, 0, 0), orientation_b=TURN, stiffness=SIX, damping=FULL),
    "damper, first": ph.Bushing("b", "world", "b3", (0.1, 0, 0), orientation_b=TURN, damping=FULL, at="first"),
    "beam": ph.BeamElement(
        "e",
        "b4",
        "b2",
        1.1,
        7.0,
        3.0,
        2.0,
        5.0,
        11.0,
        13.0,
        (0.1, 0.2, 0),
        orientation_a=TURN,
        prestrain=SIX,
        damping=0.3,
    ),
    "beam by sines": ph.BeamElement(  # turned so that the states of these tests are well within its 90°
        "e",
        "b1",
        "b3",
        1.1,
        7.0,
        3.0,
        2.0,
        5.0,
        point_a=(3.0, 1.0, -1.0),
        orientation_a=unit((0.15, 0, -0.99, 0.01)),
        orientation_b=unit((0.68, 0, 0.26, -0.69)),
        load=(1, 2, 3),
        measure="sine",
    ),
    "beam, follower": ph.BeamElement("e", "b4", "b2", 1.1, 7.0, 3.0, 2.0, 5.0, load=(1, 2, 3), follower=True),
    "beam inertia": ph.BeamInertia("e", "b4", "b2", 1.1, 0.7, (0.1, 0.2, 0), orientation_a=TURN),
    "body force": ph.BodyForce(
        "f", lambda t, body, c: -c * ph.length(body.velocity) * body.velocity, "b3", numbers={"c": 0.3}
    ),
    "body force, two": ph.BodyForce("f", between, "b3", "b2", (0.1, 0.2, 0.3), "body"),
    "function": ph.ForceFunction("g", lambda t, q, v: [-0.3 * x for x in v]),
    "friction": ph.JointFriction("c", "j1", 2.0, 3.0, 0.5, 0.1, 0.2),
    "friction of a ball": ph.JointFriction("c", "j2", 2.0, creep_speed=0.7),
    "friction of a second axis": ph.JointFriction("c", "j4", 2.0, 3.0, axis=1),
    "friction by events": ph.JointFriction("c", "j1", 2.0, 3.0, 0.5, 0.1, method="events", drive_speed=0.1),
    "stop by impacts": ph.ImpactStop("c", "j1", -0.01, 0.01, 0.4),
    "thrust": ph.Thrust("c", "b3", 0.2, 5.0, direction=(1.0, 2.0, 2.0), point=(0.1, 0.0, 0.2)),
    "lock": ph.JointLock("c", "j2", lock_time=0.1),
    "stop": ph.JointStop("c", "j1", -0.01, 0.01, stiffness=30.0, dissipation=0.4),
    "stop at a limit": ph.LimitStop("c", "j1", -0.01, 0.01, stiffness=30.0, dissipation=0.4),
    "stop of a second axis": ph.JointStop("c", "j4", upper=-9.0, stiffness=3.0, dissipation=9.0, exponent=1.5, axis=1),
    "stop without loss": ph.JointStop("c", "j3", lower=9.0, stiffness=3.0, exponent=2),
    "backlash": ph.Backlash("c", "j1", "j3", gap=0.02, ratio=-1.5, stiffness=30.0, dissipation=0.4),
    "backlash of one joint": ph.Backlash("c", "j1", offset=0.4, gap=0.02, stiffness=30.0),
    "drag": Drag("d", "b3", 0.7, (0.1, 0.0, 0.2)),
    "attraction": Attraction("a", "b1", "b3", 4.0),
}


@pytest.fixture(params=list(ELEMENTS))
def element(request):
    return ELEMENTS[request.param]


@pytest.fixture
def registered():
    for kind in (Drag, Attraction):
        ph.register_force(kind)
    yield
    for kind in (Drag, Attraction):
        del FORCES[kind.kind]


def machine(*elements):
    model = random_model(TYPES, 4, forces=elements)
    rng = np.random.default_rng(4)
    return make_tree(model), random_q(model, rng), rng.normal(size=model.nv)


def state_of(tree, q, v, t=0.3):
    return kinematics.machine_state(tree, t, Vec(np.asarray(q).tolist()), Vec(np.asarray(v).tolist()))


def generalized(tree, parts, q, v, t=0.3):
    """The generalised forces of elements alone, (nv,)."""
    tree = replace(tree, forces=tuple(parts))
    q, v = Vec(np.asarray(q).tolist()), Vec(np.asarray(v).tolist())
    nothing = Vec([0.0] * tree.nv)
    found = forces.acting(tree, t, q, v)
    return np.array(
        found.generalized
        - forces.joint_forces(tree, q, v)
        - inverse.inverse_dynamics(tree, q, nothing, nothing, ORIGIN, found.wrenches)
    )


def test_every_registered_kind_is_tried():
    missing = set(FORCES) - {element.kind for element in ELEMENTS.values()}
    assert not missing, f"add a row to ELEMENTS, in this file, for {missing}"


def test_the_force_of_the_conservative_part_is_the_slope_of_the_potential(element):
    tree, q, v = machine(element)
    (bound,) = tree.forces
    part = bound.conservative_part()
    directions = [np.array(kinematics.rate(tree, Vec(q.tolist()), Vec(e.tolist()))) for e in np.eye(tree.nv)]
    slopes = [complex_step(lambda x: bound.potential(state_of(tree, x, v)), q, d) for d in directions]
    found = generalized(tree, [] if part is None else [part], q, v)
    assert_close(found, -np.array(slopes), scale=100)


def test_the_two_parts_make_the_whole(element):
    tree, q, v = machine(element)
    (bound,) = tree.forces
    parts = [part for part in (bound.conservative_part(), bound.other_part()) if part is not None]
    assert_close(generalized(tree, parts, q, v), generalized(tree, [bound], q, v), scale=100)


def test_the_forces_of_an_internal_element_cancel(element):
    tree, q, v = machine(element)
    (bound,) = tree.forces
    if not element.is_internal or element.of_coordinates:  # of coordinates: between the two bodies of its joint
        return
    state = state_of(tree, q, v)
    acting = [*bound.wrenches(state), ph.Wrench("b1", Vec([0.0] * 3))]  # some have inertia alone
    about_origin = [n + cross(state.frame(body).o, f) for body, f, n in acting]
    assert_close(np.sum([f for _, f, _ in acting], axis=0), np.zeros(3), scale=100)
    assert_close(np.sum(about_origin, axis=0), np.zeros(3), scale=100)


def test_what_is_conserved_follows_from_the_parts(element):
    parts = pair("b1", "b2", "b3", "b4")
    kept = conserved(ph.Model("four", (0, 0, 0), *parts, forces=[on_pair(element)] if on_pair(element) else []))
    part = element.other_part()
    assert kept.energy == (part is None or on_pair(element) is None)
    assert bool(kept.linear) == (on_pair(element) is None or element.is_internal)


def pair(*names):
    bodies = [ph.Body(name, 1.0, (0.1, 0.2, 0.25)) for name in names or ("b1", "b3")]
    return bodies, [ph.Joint(f"j{body.name}", "free", "world", body.name) for body in bodies]


def on_pair(element):
    """The element, if it fits two bodies that fly."""
    return None if element.of_coordinates else element


def test_what_has_no_potential_of_a_spring_only_takes_energy(element):
    """Dampers, and what dampers add to a one-sided spring, for many velocities."""
    tree, q, _ = machine(element)
    (bound,) = tree.forces
    if element.changes_energy != "dampers" or (part := bound.other_part()) is None:
        return
    for v in np.random.default_rng(7).normal(size=(20, tree.nv)):
        power = generalized(tree, [part], q, v) @ v
        assert power <= RESIDUAL * 100
        assert element.name == "s" or power < 0


def test_graphs_of_an_element_have_its_derivatives_forwards_and_backwards(element):
    """By complex steps: of everything it gives, along every coordinate and velocity."""
    tree, q, v = machine(element)
    whole = whole_force(tree, tree.forces[0])
    rng = np.random.default_rng(5)
    dq, dv = rng.normal(size=tree.nq), rng.normal(size=tree.nv)
    x, dx = np.concatenate([q, v]), np.concatenate([dq, dv])
    expected = complex_step(lambda x: np.array(whole(0.3, *split(tree, x))), x, dx)
    graph = trace(lambda t, q, v: {"y": whole(t, q, v)}, t=(), q=(tree.nq,), v=(tree.nv,))
    given = {"t": np.array(0.3), "q": q, "v": v}
    found = evaluate(pushforward(graph, wrt=["q", "v"]), **given, q_dot=dq, v_dot=dv)
    assert_close(found["y_dot"], expected, condition=10, scale=100)
    weights = rng.normal(size=len(expected))
    back = evaluate(pullback(graph, wrt=["q", "v"]), **given, y_bar=weights)
    assert_close(back["q_bar"] @ dq + back["v_bar"] @ dv, weights @ expected, condition=10, scale=100)


def test_an_element_works_on_batches(element):
    tree, _, _ = machine(element)
    whole, rng = whole_force(tree, tree.forces[0]), np.random.default_rng(8)
    model = random_model(TYPES, 4)
    q, v = random_q(model, rng, (5,)), rng.normal(size=(5, tree.nv))
    found = whole(0.3, Vec(list(q.T)), Vec(list(v.T)))
    expected = [np.array(whole(0.3, Vec(a.tolist()), Vec(b.tolist())), dtype=float) for a, b in zip(q, v, strict=True)]
    each = np.array([np.broadcast_to(x, 5) for x in found]).reshape(-1, 5).T
    expected = np.array(expected)
    none = np.isnan(expected)  # a beam that is bent or twisted past its measure has no value
    assert np.array_equal(np.isnan(each), none)
    assert not none.any(axis=1).all()
    assert_close(np.where(none, 0.0, each), np.where(none, 0.0, expected), condition=10, scale=100)


def split(tree, x):
    """q and v of a row of numbers."""
    return Vec(x[: tree.nq].tolist()), Vec(x[tree.nq :].tolist())


def test_each_number_of_an_element_has_a_path_and_a_unit(element):
    model = random_model(TYPES, 4, forces=[element])
    paths = {path.split(".")[2] for path in model.numbers() if path.startswith("forces.")}
    assert paths == set(element.numeric)
    assert all(element.keys[name].unit for name in element.numeric if element.keys[name].holds != "named")


# elements of a user's own


def gliders():
    """Two bodies that attract each other, one on a rail, one on a table with a fluid."""
    bodies, _ = pair()
    joints = [
        ph.Joint("rail", "prismatic", "world", "b1", axis=(1, 0, 0)),
        ph.Joint("table", "planar", "world", "b3", position=(0.3, 0.2, 0.4)),
    ]
    start = ph.Start(q=(0, 1, 0.2, 0.3), v=(0.1, 0.3, -0.5, 2))
    elements = [Drag("drag", "b3", ph.Parameter("c", 0.4), (0.1, 0.0, 0.0)), Attraction("pull", "b1", "b3", 2.0)]
    return ph.Model("gliders", (0, 0, 0), bodies, joints, forces=elements, start=start)


def test_own_elements_are_compiled_as_they_are_evaluated():
    model = gliders()
    kernels, oracle = ph.compile(model), ph.compile(model, target="python")
    rng = np.random.default_rng(1)
    q, v = np.array([random_q(model, rng) for _ in range(5)]), rng.normal(size=(5, model.nv))
    tau = rng.normal(size=(5, model.nv))
    assert_close(kernels.forward_dynamics(q, v, tau), oracle.forward_dynamics(q, v, tau), scale=10)
    assert_close(kernels.energy(q, v).potential, oracle.energy(q, v).potential)
    assert "extern" in cuda_source(kernels._kernel("test", "forward_dynamics").graph, "forward", "double")


def test_own_elements_are_exported_to_c(tmp_path):
    text = ph.compile(gliders()).export_c(tmp_path / "gliders.c").read_text()
    assert "gliders_forward_dynamics" in text
    assert "sqrt" in text


def test_own_elements_are_differentiated():
    model = gliders()
    system, rng = ph.compile(model), np.random.default_rng(2)
    q, v, tau = random_q(model, rng), rng.normal(size=model.nv), np.zeros(model.nv)
    found = system.forward_dynamics_derivatives(q, v, tau)
    h = 1e-6
    for k, e in enumerate(np.eye(model.nv)):
        ends = [system.forward_dynamics(q, v + s * h * e, tau) for s in (-1, 1)]
        assert_close(found[1][:, k], (ends[1] - ends[0]) / (2 * h), condition=1e5)
        ends = [system.forward_dynamics(system.integrate(q, s * h * e), v, tau) for s in (-1, 1)]
        assert_close(found[0][:, k], (ends[1] - ends[0]) / (2 * h), condition=1e5)


def test_runs_are_differentiated_by_the_numbers_of_own_elements():
    model, paths = gliders(), ["c", "forces.pull.strength"]
    options = {"duration": 0.2, "step": 0.02, "method": "rk4"}
    found = ph.simulate(model, sensitivities=paths, **options).sensitivity_v.isel(time=-1).values
    slopes = ph.gradient(model, lambda q, v: v[0], paths, **options).derivatives
    assert_close([slopes[path] for path in paths], found[0], condition=10)
    h, (drag, pull) = 1e-6, model.forces
    changed = [replace(model, forces=(drag, replace(pull, strength=2.0 + s * h))) for s in (-1, 1)]
    ends = [ph.simulate(each, **options).v.values[-1] for each in changed]
    assert_close(found[:, 1], (ends[1] - ends[0]) / (2 * h), condition=1e5)


def test_numbers_of_own_elements_are_swept():
    model, options = gliders(), {"duration": 0.1, "step": 0.01, "method": "rk4"}
    samples = {"forces.drag.coefficient": ph.Grid([0.0, 1.0]), "forces.pull.strength": ph.Grid([0.0, 3.0])}
    runs = ph.sweep(model, samples, **options)
    drag, pull = model.forces
    changed = replace(model, forces=(replace(drag, coefficient=1.0), replace(pull, strength=3.0)))
    assert_close(runs.v.isel(run=-1, time=-1), ph.simulate(changed, **options).v.isel(time=-1))
    assert abs(runs.v.isel(run=0, time=-1) - runs.v.isel(run=-1, time=-1)).max() > RESIDUAL


def test_own_elements_are_read_and_written(registered):
    model = gliders()
    text = to_yaml(model)
    assert "type: drag" in text
    assert "type: attraction" in text
    assert model_from_yaml(text, "text") == model
    with pytest.raises(ph.ModelError, match=r"forces\.drag.*unknown key"):
        model_from_yaml(text.replace("coefficient", "coeficient"), "text")


def test_kinds_that_are_not_registered_are_not_written_and_not_read():
    with pytest.raises(ph.ModelError, match="files do not know"):
        to_yaml(gliders())
    text = "name: m\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\njoints: {j: {type: free, parent: world, child: b}}\n"
    with pytest.raises(ph.ModelError, match="unknown type of force"):
        model_from_yaml(text + "forces: {d: {type: drag, body: b}}\n", "text")


def test_own_elements_are_told_counted_and_graded(registered):
    model = gliders()
    run = ph.simulate(model, duration=0.2)
    assert "given forces at drag" in str(run.attrs)
    alone = replace(model, forces=model.forces[1:])
    graded = ph.simulate(alone, duration=0.5, tolerance=1e-10)
    total = graded.kinetic_energy + graded.potential_energy
    assert_close(total.values, np.full(len(total), float(total[0])), condition=1e3)
    assert info_dict(model)["forces"][0]["kind"] == "Drag"
    assert "coefficient 0.4" in model.forces[0].summary()


def test_kernels_of_own_elements_are_not_found_again_by_their_numbers():
    """Another program may have another class of this name."""
    assert user_kinds(gliders()) == [Drag, Attraction]
    assert identity_text(gliders()) == ""
    assert identity_text(ph.load("pendulum"))


def test_a_study_is_another_one_when_the_code_of_its_elements_changes():
    def study(power):
        @dataclass(frozen=True)
        class Pull(ph.ForceElement):
            """A force along z."""

            name: str
            size: Any

            keys: ClassVar = {"size": ph.Key("number", unit="N")}

            def wrenches(self, state):
                yield ph.Wrench("b1", Vec([0.0, 0.0, self.size**power]))

        model = ph.Model("two", (0, 0, 0), *pair(), forces=[Pull("p", 2.0)])
        return ph.Study("s", model, {"forces.p.size": ph.Grid([1.0, 2.0])}, 2, duration=0.1, step=0.01)

    assert study(2).identity == study(2).identity
    assert study(2).identity != study(3).identity


@dataclass(frozen=True)
class Odd(ph.ForceElement):
    """One whose keys are not its fields."""

    name: str
    size: Any

    keys: ClassVar = {"length": ph.Key("number")}


class Stray(ph.ForceElement):
    """One that acts on a body that is not there."""

    def wrenches(self, state):
        yield ph.Wrench("moon", Vec([0.0, 0.0, 1.0]))


class Short(ph.ForceElement):
    """One with too few generalised forces."""

    def generalized(self, state):
        return [1.0]


AT = ([0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0], [0.0] * 12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Drag("d", "b", "fast"), ["force 'd', coefficient", "not a finite number"]),
        (lambda: Drag("d", "b", 1.0, (1, 2)), ["force 'd', point", "wrong size"]),
        (lambda: ph.Model("m", bodies=[], joints=[], forces=[Drag("d", "b")]), ["force 'd'", "unknown body"]),
        (lambda: ph.Model("m", forces=[Drag]), ["not a force"]),
        (lambda: Odd("o", 1.0), ["force 'o'", "Odd", "found name, size; expected name, length"]),
        (lambda: ph.compile(ph.Model("m", (0, 0, 0), *pair(), forces=[Stray("s")])).bias(*AT), ["force 's'", "'moon'"]),
        (
            lambda: ph.compile(ph.Model("m", (0, 0, 0), *pair(), forces=[Short("s")])).bias(*AT),
            ["force 's'", "12 generalised"],
        ),
        (lambda: ph.register_force(Drag("d", "b")), ["not a kind of force element"]),
        (lambda: ph.register_force(type("Nameless", (ph.ForceElement,), {})), ["no name for files"]),
        (lambda: ph.register_force(type("Other", (ph.ForceElement,), {"kind": "spring"})), ["a name twice"]),
    ],
)
def test_what_is_wrong_is_said(make, words):
    with pytest.raises(ph.PolhodeError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


@dataclass(frozen=True)
class Pad(ph.ForceElement):
    """A pad below a height of 0: F = −k z, where z < 0."""

    name: str
    body: str
    k: Any = 800.0

    kind = "pad"
    keys: ClassVar = {
        "body": ph.Key("body", "the body it carries", needed=True),
        "k": ph.Key("number", "N/m", unit="N/m"),
    }

    def wrenches(self, state):
        z = state.frame(self.body).o[2]
        yield ph.Wrench(self.body, ph.Vec([0.0, 0.0, ph.where(z < 0, -self.k * z, 0.0)]))


def test_a_sweep_takes_an_element_of_a_users_own_with_conditions():
    model = ph.Model(
        "drop",
        gravity=(0, 0, 0),
        bodies=[ph.Body("ball", 2.0, (0.1, 0.1, 0.1))],
        joints=[ph.Joint("height", "prismatic", "world", "ball")],
        forces=[Pad("pad", "ball")],
    )
    runs = ph.sweep(model, {"forces.pad.k": ph.Grid([800.0, 3200.0])}, q=[0.5], v=[-1.0], duration=1.5)
    assert_close(runs.q[:, -1, 0].values, 1 - np.pi / np.sqrt([400.0, 1600.0]), scale=1e6)
