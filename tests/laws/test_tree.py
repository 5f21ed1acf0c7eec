"""Trees of every joint kind: the laws that any right dynamics obeys."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

import polhode as ph
from close import assert_close
from machines import ALL, ONE_AXIS, machines, random_model, random_q
from polhode.dynamics import covariant, forward, inertia, inverse, kinematics
from polhode.dynamics.energy import energy
from polhode.model import make_tree, regrouped
from polhode.scalar import Vec

FEW = settings(max_examples=25)


def as_vec(x):
    return Vec(np.asarray(x).tolist())


def complex_along(tree, function, q, direction):
    """Derivative of a function of q along a tangent direction, by a complex step."""
    h = 1e-30
    qdot = np.array(kinematics.rate(tree, as_vec(q), as_vec(direction)))
    return np.imag(np.array(function(Vec((np.asarray(q) + 1j * h * qdot).tolist())))) / h


def structure(tree):
    """c[a, b, d]: +ε on the axes of each quaternion."""
    c = np.zeros((tree.nv,) * 3)
    for e in tree.elements:
        if e.kind.quaternion:
            x, y, z = e.v
            for a, b, d in ((x, y, z), (y, z, x), (z, x, y)):
                c[a, b, d], c[b, a, d] = 1, -1
    return c


@FEW
@given(machines())
def test_mass_matrix_is_symmetric_positive_and_the_kinetic_energy(machine):
    _, system, q, v, _ = machine
    assume(system.nv)
    M = system.mass_matrix(q)
    assert_close(M, M.T)
    assert np.min(np.linalg.eigvalsh(M)) > 0
    assert_close(v @ M @ v / 2, system.energy(q, v).kinetic, scale=100)


@FEW
@given(machines())
def test_mass_matrix_is_a_sum_over_body_jacobians(machine):
    """M = Σ JᵀI J + armature, with Jacobians at the mass centres (Zoric 86–91)."""
    model, system, q, _, _ = machine
    expected = np.zeros((system.nv, system.nv))
    for body in model.bodies:
        J = system.jacobian(q, body.name, body.center)
        R = ph.quaternion.rotation_matrix(ph.quaternion.normalise(system.pose(q, body.name).quaternion))
        expected += body.mass * J[:3].T @ J[:3] + J[3:].T @ R @ np.array(body.inertia) @ R.T @ J[3:]
    start = 0
    for joint in model.joints:
        for k in range(joint.nv):
            linear = joint.type == "free" and k < 3
            expected[start + k, start + k] += 0 if linear else joint.armature
        start += joint.nv
    assert_close(system.mass_matrix(q), expected, scale=10)


@FEW
@given(machines())
def test_forward_undoes_inverse(machine):
    _, system, q, v, vd = machine
    assume(system.nv)
    tau = system.inverse_dynamics(q, v, vd)
    condition = np.linalg.cond(system.mass_matrix(q))
    assert_close(system.forward_dynamics(q, v, tau), vd, condition=condition, scale=10)
    assert_close(system.mass_matrix(q) @ vd + system.bias(q, v), tau, scale=100)


@FEW
@given(machines())
def test_sparse_factors_solve_the_mass_matrix(machine):
    model, system, q, v, _ = machine
    assume(system.nv)
    tree = make_tree(model)
    M = inertia.mass_matrix(tree, as_vec(q))
    L, D = inertia.factor(tree, M)
    Ln, Mn = np.array(L), np.array(M)
    assert_close(Ln.T @ np.diag(D) @ Ln, Mn, scale=10)
    x = inertia.solve_factored(tree, L, D, as_vec(v))
    assert_close(Mn @ np.array(x), v, condition=np.linalg.cond(Mn))


@FEW
@given(machines(most=4))
def test_christoffel_symbols_are_koszuls_connection(machine):
    model, system, q, _, _ = machine
    assume(system.nv)
    tree = make_tree(model)
    n = system.nv
    M = system.mass_matrix(q)
    X = np.array([complex_along(tree, lambda y: inertia.mass_matrix(tree, y), q, e) for e in np.eye(n)])
    c = np.einsum("abd,dg->abg", structure(tree), M)
    twice = X + X.transpose(1, 0, 2) - X.transpose(1, 2, 0)  # X_a M[b,g] + X_b M[a,g] − X_g M[a,b]
    twice = twice + c - c.transpose(0, 2, 1) - c.transpose(2, 0, 1)
    assert_close(system.christoffel(q), twice / 2, scale=100)


@FEW
@given(machines(kinds=[*ONE_AXIS, "universal", "planar", "cylindrical"]))
def test_symbols_of_one_axis_joints_are_symmetric(machine):
    _, system, q, _, _ = machine
    G = system.christoffel(q)
    assert_close(G, G.transpose(1, 0, 2), scale=10)


@FEW
@given(machines())
def test_symbols_are_symmetric_up_to_the_structure_constants(machine):
    model, system, q, _, _ = machine
    G = system.christoffel(q)
    torsion = np.einsum("abd,dg->abg", structure(make_tree(model)), system.mass_matrix(q))
    assert_close(G - G.transpose(1, 0, 2), torsion, scale=10)


@FEW
@given(machines())
def test_rate_of_the_mass_matrix_less_twice_the_coriolis_matrix_is_skew(machine):
    model, system, q, v, _ = machine
    assume(system.nv)
    tree = make_tree(model)
    Mdot = complex_along(tree, lambda y: inertia.mass_matrix(tree, y), q, v)
    C = system.coriolis(q, v)
    assert_close(C + C.T, Mdot, scale=100)
    assert_close(np.einsum("abg,a->gb", system.christoffel(q), v), C, scale=100)
    at_rest = ph.compile(ph.Model("no gravity", (0, 0, 0), model.bodies, model.joints), target="python")
    assert_close(C @ v, at_rest.bias(q, v), scale=100)


@FEW
@given(machines())
def test_gravity_is_the_gradient_of_the_potential_energy(machine):
    model, system, q, _, _ = machine
    assume(system.nv)
    tree = make_tree(model)
    zero = Vec([0.0] * system.nv)
    expected = [complex_along(tree, lambda y: energy(tree, y, zero).potential, q, e) for e in np.eye(system.nv)]
    assert_close(system.gravity(q), expected, scale=100)


@FEW
@given(machines())
def test_energy_grows_by_the_power_of_the_applied_forces(machine):
    """d/dt (T + V) = τ·v, along q̇ = rate(q, v), v̇ = forward dynamics."""
    model, system, q, v, tau = machine
    assume(system.nv)
    tree = make_tree(model)
    vd = system.forward_dynamics(q, v, tau)
    along_q = complex_along(tree, lambda y: sum(energy(tree, y, as_vec(v))), q, v)
    along_v = vd @ system.mass_matrix(q) @ v
    condition = np.linalg.cond(system.mass_matrix(q))
    assert_close(along_q + along_v, tau @ v, condition=condition, scale=1e3)


@FEW
@given(machines())
def test_jacobians_give_velocities_and_accelerations(machine):
    model, system, q, v, vd = machine
    body = model.bodies[-1].name
    J, Jdot = system.jacobian(q, body), system.jacobian_rate(q, v, body)
    assert_close(J @ v, np.concatenate(system.velocity(q, v, body)), scale=10)
    assert_close(J @ vd + Jdot @ v, np.concatenate(system.acceleration(q, v, vd, body)), scale=100)


@FEW
@given(machines())
def test_velocity_is_the_rate_of_the_pose(machine):
    model, system, q, v, _ = machine
    assume(system.nv)
    tree = make_tree(model)
    name = model.bodies[-1].name
    i = tree.of_body[name]
    found = system.velocity(q, v, name)
    moved = complex_along(tree, lambda y: kinematics.frames(tree, y)[i].o, q, v)
    turned = complex_along(tree, lambda y: kinematics.orientations(tree, y)[i], q, v)
    p = system.pose(q, name).quaternion
    assert_close(found.linear, moved, scale=10)
    assert_close(found.angular, ph.quaternion.angular_velocity_space(p, turned, unit=False), scale=10)
    J = ph.quaternion.rotation_matrix(p, unit=False)
    assert_close(np.array(kinematics.frames(tree, as_vec(q))[i].R), J)


def hung(joint, name):
    """The same joint with a body in place of the world as its parent."""
    return ph.Joint(**{**vars(joint), "parent": name}) if joint.parent == "world" else joint


@FEW
@given(machines())
def test_momentum_changes_by_weight_alone_for_a_free_machine(machine):
    """A machine hung on the world by a free joint: Σ forces = m g, whatever its inner joints do."""
    inner = machine[0]
    base = ph.Body("base", 1.0, (1.0, 1.2, 1.4), (0.1, 0.2, 0.3))
    joints = [ph.Joint("fly", "free", "world", "base"), *(hung(joint, "base") for joint in inner.joints)]
    free = ph.Model("free", bodies=[base, *inner.bodies], joints=joints)
    system = ph.compile(free, target="python")
    rng = np.random.default_rng(3)
    q, v = random_q(free, rng), rng.normal(size=free.nv)
    vd = system.forward_dynamics(q, v, np.zeros(free.nv))
    h = 1e-5
    step = lambda s: system.momentum(system.integrate(q, s * v + s * s / 2 * vd), v + s * vd)
    before, after = step(-h), step(h)
    mass = sum(b.mass for b in free.bodies)
    force = (after.linear - before.linear) / (2 * h)
    moment = (after.angular - before.angular) / (2 * h)
    expected = mass * np.array(free.gravity)
    assert np.max(abs(force - expected)) < 1e-5
    assert np.max(abs(moment - np.cross(system.center_of_mass(q), expected))) < 1e-4


@FEW
@given(machines())
def test_derivatives_are_those_along_the_tangent_directions(machine):
    _, system, q, v, tau = machine
    assume(system.nv)
    d = system.forward_dynamics_derivatives(q, v, tau)
    M = system.mass_matrix(q)
    assert_close(d.dtau @ M, np.eye(system.nv), condition=np.linalg.cond(M))
    h = 1e-6
    for k, e in enumerate(np.eye(system.nv)[:3]):
        there, back = (system.forward_dynamics(system.integrate(q, s * h * e), v, tau) for s in (1, -1))
        assert np.max(abs((there - back) / (2 * h) - d.dq[:, k])) < 1e-6 * (1 + np.max(abs(d.dq)))
    vd = system.forward_dynamics(q, v, tau)
    i = system.inverse_dynamics_derivatives(q, v, vd)
    condition = np.linalg.cond(M)
    assert_close(i.dvd, M, scale=10)
    assert_close(M @ d.dq, -i.dq, condition=condition, scale=100)
    assert_close(M @ d.dv, -i.dv, condition=condition, scale=100)


@given(machines(kinds=["free"], most=1))
@settings(max_examples=5)
def test_one_free_body_has_the_planar_moments_as_symbols(machine):
    """Γ[a, b, g] = Σ_d ε_dbg Π_da for a body about its mass centre (BEYOND §2)."""
    model, _, _, _, _ = machine
    body = ph.Body("b", 1.0, model.bodies[0].inertia)
    system = ph.compile(
        ph.Model("one", bodies=[body], joints=[ph.Joint("j", "spherical", "world", "b")]), target="python"
    )
    J = np.array(body.inertia)
    Pi = np.trace(J) / 2 * np.eye(3) - J
    eps = np.zeros((3, 3, 3))
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        eps[a, b, c], eps[b, a, c] = 1, -1
    expected = np.einsum("dbg,da->abg", eps, Pi)
    assert_close(system.christoffel([0.5, 0.5, -0.5, 0.5]), expected)


@FEW
@given(machines())
def test_integrate_and_difference_are_inverse(machine):
    _, system, q, v, _ = machine
    assert_close(system.difference(q, system.integrate(q, 0.3 * v)), 0.3 * v, scale=10)
    assert_close(system.difference(q, q), np.zeros(system.nv))


@FEW
@given(machines())
def test_turning_the_world_changes_nothing_inside(machine):
    model, system, q, v, tau = machine
    assume(system.nv)
    p = np.array([0.5, -0.5, 0.5, 0.5])

    def turn(joint):
        place, attitude = ph.quaternion.rotate(p, joint.position), ph.quaternion.product(p, joint.orientation)
        return ph.Joint(**{**vars(joint), "position": place, "orientation": attitude})

    turned = [turn(joint) if joint.parent == "world" else joint for joint in model.joints]
    gravity = ph.quaternion.rotate(p, model.gravity)
    other = ph.compile(ph.Model("turned", gravity, model.bodies, turned), target="python")
    condition = np.linalg.cond(system.mass_matrix(q))
    assert_close(other.forward_dynamics(q, v, tau), system.forward_dynamics(q, v, tau), condition=condition, scale=10)


def test_a_welded_body_is_part_of_its_parent():
    base = ph.Body("base", 2.0, (1.0, 1.5, 2.0), (0.1, 0.2, 0.3))
    weld = ph.Body("weld", 1.0, (0.5, 0.6, 0.7), (0.3, 0.0, -0.1))
    place, turn = np.array([0.4, -0.2, 0.1]), np.array([0.5, 0.5, 0.5, -0.5])
    hinge = ph.Joint("hinge", "universal", "world", "base", axis=(1, 0, 0))
    two = ph.compile(
        ph.Model(
            "two",
            bodies=[base, weld],
            joints=[hinge, ph.Joint("w", "fixed", "base", "weld", position=place, orientation=turn)],
        ),
        target="python",
    )
    R = ph.quaternion.rotation_matrix(turn)
    c2 = place + R @ weld.center
    c = (2 * np.array(base.center) + c2) / 3
    J = np.zeros((3, 3))
    for m, x, I in ((2, np.array(base.center), np.diag(base.inertia)), (1, c2, R @ np.diag(weld.inertia) @ R.T)):
        d = x - c
        J += I + m * ((d @ d) * np.eye(3) - np.outer(d, d))
    one = ph.compile(
        ph.Model("one", bodies=[ph.Body("base", 3.0, ((J + J.T) / 2).tolist(), c)], joints=[hinge]), target="python"
    )
    q, v, vd = [0.3, -0.4], [1.0, 2.0], [0.5, -0.3]
    assert_close(two.inverse_dynamics(q, v, vd), one.inverse_dynamics(q, v, vd), scale=100)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3)])
def test_batches_are_what_their_entries_are(kind, shape):
    model = random_model([kind, "revolute", kind], 5)
    system = ph.compile(model, target="python")
    rng = np.random.default_rng(0)
    q, v, w = random_q(model, rng, shape), rng.normal(size=(*shape, model.nv)), rng.normal(size=model.nv)
    calls = {
        "mass_matrix": (q,), "christoffel": (q,), "coriolis": (q, v), "bias": (q, v), "gravity": (q,),
        "inverse_dynamics": (q, v, w), "forward_dynamics": (q, v, w), "energy": (q, v), "momentum": (q, v),
        "center_of_mass": (q,), "rate": (q, v), "integrate": (q, v), "forward_dynamics_derivatives": (q, v, w),
        "inverse_dynamics_derivatives": (q, v, w),
    }  # fmt: skip
    for name, args in calls.items():
        batch = getattr(system, name)(*args)
        for index in np.ndindex(*shape):
            one = getattr(system, name)(*(a[index] if a is not w else a for a in args))
            for whole, part in zip(*((x if isinstance(x, tuple) else (x,)) for x in (batch, one)), strict=True):
                assert_close(np.asarray(whole)[index], part, condition=1e3)


def test_a_five_hundred_link_chain_is_within_reach():
    model = random_model(["revolute"] * 500, 2, chain=True, armature=False)
    system = ph.compile(model, target="python")
    rng = np.random.default_rng(0)
    q, v = 0.1 * rng.normal(size=500), rng.normal(size=500)
    tau = system.inverse_dynamics(q, v, v)
    condition = np.linalg.cond(system.mass_matrix(q))
    assert_close(system.forward_dynamics(q, v, tau), v, condition=condition)


@FEW
@given(machines())
def test_a_regrouped_tree_has_the_same_equations_of_motion(machine):
    model, system, q, v, vd = machine
    assume(system.nv)
    tree = regrouped(make_tree(model))
    assert all(e.kind.name != "fixed" for e in tree.elements)
    assert all(e.inertia.mass == 0 for e in tree.elements if e.kind.name in ("revolute", "ball"))
    q, v, vd = as_vec(q), as_vec(v), as_vec(vd)
    assert_close(np.array(inertia.mass_matrix(tree, q)), system.mass_matrix(q), scale=10)
    tau = inverse.inverse_dynamics(tree, q, v, vd)
    assert_close(np.array(tau), system.inverse_dynamics(q, v, vd), scale=100)
    condition = np.linalg.cond(system.mass_matrix(q))
    assert_close(np.array(forward.forward_dynamics(tree, q, v, tau)), np.array(vd), condition=condition, scale=10)
    assert_close(np.array(covariant.christoffel(tree, q)), system.christoffel(q), scale=10)
    assert_close(np.array(covariant.coriolis(tree, q, v)), system.coriolis(q, v), scale=100)
