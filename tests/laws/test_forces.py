"""Springs, dampers, given forces and functions of the user's: as generalised forces and as energies."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

import polhode as ph
from close import assert_close
from machines import ALL, random_model, random_q, unit
from polhode.dynamics import kinematics
from polhode.dynamics.energy import energy
from polhode.model import make_tree
from polhode.scalar import Vec

seeds = st.integers(0, 2**31)
MOVING = [kind for kind in ALL if kind != "fixed"]
TYPES = ["free", "revolute", "spherical", "prismatic", "universal"]


def machine(forces, seed=4):
    model = random_model(TYPES, seed, forces=forces)
    rng = np.random.default_rng(seed)
    return (
        ph.compile(model, target="python"),
        ph.compile(random_model(TYPES, seed), target="python"),
        random_q(model, rng),
        rng.normal(size=model.nv),
    )


def gradient(model, q):
    """Of the potential energy along the tangent directions, by complex steps."""
    tree = make_tree(model)
    zero = Vec([0.0] * tree.nv)
    found = []
    for e in np.eye(tree.nv):
        qdot = np.array(kinematics.rate(tree, Vec(q.tolist()), Vec(e.tolist())))
        found.append(energy(tree, Vec((q + 1e-30j * qdot).tolist()), zero).potential.imag / 1e-30)
    return np.array(found)


@pytest.mark.parametrize("rest", [0.0, 0.7])
def test_a_spring_between_points_pulls_down_its_energy(rest):
    spring = ph.Spring("s", "b1", "b3", (0.1, 0.2, 0.3), (-0.3, 0.1, 0.0), stiffness=50.0, rest=rest)
    system, bare, q, v = machine([spring])
    pull = system.bias(q, v) - bare.bias(q, v)
    assert_close(pull, gradient(system.model, q) - gradient(bare.model, q), scale=100)


def random_element(kind, a, b, rng):
    """A random spring, torsion spring or bushing between two bodies, and the same without its damper."""
    turn, point = unit(rng.normal(size=4)), rng.normal(size=3)
    rows = tuple(zip(np.cumsum(rng.uniform(0.1, 1, 5)) - 1.5, rng.normal(size=5), strict=True))
    if kind == "bushing":
        K, D = (x @ x.T for x in rng.normal(size=(2, 6, 6)))
        at = rng.choice(["first", "midway"])
        make = partial(ph.Bushing, "e", a, b, point, orientation_a=turn, stiffness=K, at=str(at))
        return make(damping=D), make()
    if kind == "torsion":
        make = partial(
            ph.TorsionSpring, "e", a, b, rng.normal(size=3), orientation_b=turn, table=rows, rest=rng.normal()
        )
    else:
        make = partial(ph.Spring, "e", a, b, point, rest=1.0, table=rows, polynomial=tuple(rng.normal(size=2)))
        make = partial(make, only=str(rng.choice(["both", "pull", "push"])))
    return make(damping=2.0, stiffness=3.0), make(stiffness=3.0)


@given(
    st.sampled_from(["spring", "torsion", "bushing"]), st.lists(st.sampled_from(MOVING), min_size=2, max_size=4), seeds
)
def test_springs_and_bushings_on_any_tree_pull_down_their_energy_and_their_dampers_take_some(kind, types, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.choice(["world", *(f"b{k}" for k in range(len(types)))], 2, replace=False)
    damped, plain = random_element(kind, str(a), str(b), rng)
    models = [random_model(types, seed, forces=forces) for forces in ([damped], [plain], [])]
    bias = [ph.compile(model, target="python").bias for model in models]
    q, v = random_q(models[0], rng), rng.normal(size=models[0].nv)
    whole, elastic, bare = (np.atleast_1d(found(q, v)) for found in bias)
    slope = gradient(models[1], q) - gradient(models[2], q)
    assert_close(elastic - bare, slope, condition=10, scale=max([100.0, *abs(bare), *abs(elastic)]))
    assert (whole - elastic) @ v >= -1e-9 * max([1.0, *abs(whole)])


def test_a_spring_to_the_world_acts_on_one_body_only():
    spring = ph.Spring("s", "world", "b0", (1.0, 2.0, 3.0), (0.0, 0.0, 0.5), stiffness=20.0, rest=0.3)
    system, bare, q, v = machine([spring])
    pull = system.bias(q, v) - bare.bias(q, v)
    assert_close(pull, gradient(system.model, q) - gradient(bare.model, q), scale=100)


def test_a_damper_takes_power_along_its_line():
    damper = ph.Spring("d", "b0", "b4", (0.1, 0.0, 0.0), (0.0, 0.2, 0.0), damping=3.0, rest=0.0)
    system, bare, q, v = machine([damper])
    power = -(system.bias(q, v) - bare.bias(q, v)) @ v
    a, b = (system.jacobian(q, name, x) @ v for name, x in (("b0", (0.1, 0, 0)), ("b4", (0, 0.2, 0))))
    line = _point(system, q, "b4", (0, 0.2, 0)) - _point(system, q, "b0", (0.1, 0, 0))
    along = line / np.linalg.norm(line)
    assert_close(power, -3.0 * (along @ (b - a)[:3]) ** 2, scale=10)


def _point(system, q, body, x):
    pose = system.pose(q, body)
    return pose.position + ph.quaternion.rotate(ph.quaternion.normalise(pose.quaternion), x)


@pytest.mark.parametrize("axes", ["world", "body"])
def test_a_given_force_does_the_work_of_its_point(axes):
    f, n, x = np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.2, -0.4]), (0.3, -0.1, 0.2)
    system, bare, q, v = machine([ph.Force("f", "b3", f, n, x, axes)])
    if axes == "body":
        p = ph.quaternion.normalise(system.pose(q, "b3").quaternion)
        f, n = ph.quaternion.rotate(p, f), ph.quaternion.rotate(p, n)
    expected = system.jacobian(q, "b3", x).T @ np.concatenate([f, n])
    assert_close(bare.bias(q, v) - system.bias(q, v), expected, scale=100)
    assert_close(bare.forward_dynamics(q, v, expected), system.forward_dynamics(q, v, 0 * v), condition=1e3)


def test_a_force_of_time_is_taken_at_its_time():
    system, bare, q, v = machine([ph.Force("f", "b0", force=lambda t: (ph.sin(t), 0.0, 2 * t))])
    for t in (0.0, 0.7):
        expected = system.jacobian(q, "b0").T @ [np.sin(t), 0, 2 * t, 0, 0, 0]
        assert_close(bare.bias(q, v) - system.bias(q, v, t=t), expected, scale=100)
    times = np.array([0.0, 0.7])
    assert_close(system.bias(q, v, t=times)[1], system.bias(q, v, t=0.7))


def test_a_wrench_of_a_call_is_one_more_force():
    system, _, q, v = machine([])
    f, n = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.5, 0.2])
    expected = system.jacobian(q, "b4").T @ np.concatenate([f, n])
    assert_close(system.bias(q, v) - system.bias(q, v, wrench={"b4": (f, n)}), expected, scale=100)
    derivatives = system.forward_dynamics_derivatives(q, v, v, wrench={"b4": (f, n)})
    h = 1e-6
    e = np.eye(system.nv)[4]
    there, back = (
        system.forward_dynamics(system.integrate(q, s * h * e), v, v, wrench={"b4": (f, n)}) for s in (1, -1)
    )
    assert np.max(abs((there - back) / (2 * h) - derivatives.dq[:, 4])) < 1e-6 * (1 + np.max(abs(derivatives.dq)))


def test_a_function_of_the_users_is_a_generalised_force():
    def push(t, q, v):
        return [ph.where(v[0] > 0, -2 * v[0], 0.0), *(ph.sin(x) for x in q[: len(v) - 1])]

    system, bare, q, v = machine([ph.ForceFunction("u", push)])
    expected = [-2 * v[0] if v[0] > 0 else 0.0, *np.sin(q[: len(v) - 1])]
    assert_close(bare.bias(q, v) - system.bias(q, v), expected, scale=100)
    batch = system.bias(np.tile(q, (3, 1)), np.array([v, -v, v]))
    assert_close(batch[0], system.bias(q, v), scale=100)
    assert_close(batch[1], system.bias(q, -v), scale=100)


def test_a_function_with_a_wrong_result_is_told_by_name():
    system, _, q, v = machine([ph.ForceFunction("mine", lambda t, q, v: [1.0, 2.0])])
    with pytest.raises(ph.CompileError, match=r"force 'mine'.*\n.*2 numbers"):
        system.bias(q, v)


def test_joint_springs_dampers_and_rest_angles():
    joints = [
        ph.Joint("a", "revolute", "world", "x", stiffness=5.0, rest=0.2, damping=0.5),
        ph.Joint("b", "planar", "x", "y", stiffness=(1.0, 2.0, 3.0), rest=(0.1, 0.2, 0.3), damping=(4.0, 5.0, 6.0)),
        ph.Joint("c", "spherical", "y", "z", damping=0.7),
    ]
    bodies = [ph.Body(n, 1.0, (1.0, 1.0, 1.0)) for n in "xyz"]
    system = ph.compile(ph.Model("m", bodies=bodies, joints=joints), target="python")
    bare = ph.compile(
        ph.Model("m", bodies=bodies, joints=[ph.Joint(j.name, j.type, j.parent, j.child) for j in joints]),
        target="python",
    )
    q, v = np.array([0.5, 0.4, 0.3, 0.2, 1, 0, 0, 0]), np.arange(1.0, 8.0)
    expected = [5 * 0.3 + 0.5, 0.3 + 8, 2 * 0.1 + 15, 3 * -0.1 + 24, 0.7 * 5, 0.7 * 6, 0.7 * 7]
    assert_close(system.bias(q, v) - bare.bias(q, v), expected, scale=100)
    stored = system.energy(q, v).potential - bare.energy(q, v).potential
    assert_close(stored, (5 * 0.3**2 + 0.3**2 + 2 * 0.1**2 + 3 * 0.1**2) / 2)
