"""Modal bodies against the whole finite-element model: energy, bias, momenta, frequencies, statics, derivatives."""

import numpy as np
import pytest
from scipy.linalg import eigh

import polhode as ph
from finite_elements import beam, block
from polhode.formats.yaml import model_from_yaml, to_yaml

ROUNDING = 1e-12
"""The bar of the comparison with the whole model; what is found is 1e-15 of the largest term."""

M, K, NODES = block((3, 1, 1), (0.6, 0.1, 0.05))
STIFF = eigh(K, M, eigvals_only=True)
ORTHOGONAL = np.finfo(float).eps * STIFF[-1] / STIFF[6]
"""How far from orthogonal modes are, by rounding: eigenvectors err by ε of the largest eigenvalue over those they
belong to, the first six being 0. Found is 1e-14 to 1.2e-13, by the processor that BLAS takes itself to be on."""

LEFT, RIGHT = ([k for k, x in enumerate(NODES[:, 0]) if x == end] for end in (0.0, NODES[:, 0].max()))


def arm(frame="", modes=2, **more):
    return ph.ModalBody.from_matrices("arm", M, K, NODES, {"left": LEFT, "right": RIGHT}, modes, frame=frame, **more)


def machine(body, kind="free", gravity=(0.0, 0.0, 0.0), **more):
    joint = ph.Joint("carrier", kind, "world", body.name, axis=(0.0, 0.0, 1.0))
    return ph.Model("modal", gravity, joints=[joint, *more.pop("joints", ())], modal=[body], **more)


def without_springs(model):
    """Without elastic forces, beside which those of inertia are small."""
    name = next(joint.name for joint in model.joints if joint.type == "modal")
    return model.with_numbers({f"joints.{name}.stiffness": [0.0] * model.joint(name).nv})


def state(k, seed=0, far=0.02):
    rng = np.random.default_rng(seed)
    p = rng.normal(size=4)
    q = np.concatenate([rng.normal(size=3), p / np.linalg.norm(p), far * rng.normal(size=k)])
    return q, rng.normal(size=6 + k)


def whole_energy(body, A, v, shape):
    """½ Σ Ms_ab ṙ_a·ṙ_b over the nodes; v: velocity of the origin in body axes, ω, q̇; shape: modal coordinates."""
    places = body.nodes + np.einsum("adi,i->ad", body.shapes, shape)
    omega = np.array([[0, -v[5], v[4]], [v[5], 0, -v[3]], [-v[4], v[3], 0]])
    speeds = A.T @ v[:3] + places @ omega.T + np.einsum("adi,i->ad", body.shapes, v[6:])
    return np.einsum("ad,ab,bd", speeds, M[::3, ::3], speeds) / 2


def skew(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def hamel_bias(body, A, v, shape):
    """d/dt ∂T/∂v along the motion at v̇ = 0, ω × ∂T/∂ω, less X T: Boltzmann and Hamel, by complex steps."""
    h = 1e-30
    units = np.eye(len(v))

    def momenta(A, shape):  # T is quadratic in v: differences are exact
        return np.array(
            [whole_energy(body, A, v + e / 2, shape) - whole_energy(body, A, v - e / 2, shape) for e in units]
        )

    rate = momenta(A @ (np.eye(3) + 1j * h * skew(v[3:6])), shape + 1j * h * v[6:]).imag / h
    rate[3:6] += np.cross(v[3:6], momenta(A, shape)[3:6])
    for a, axis in enumerate(np.eye(3)):
        rate[3 + a] -= whole_energy(body, A @ (np.eye(3) + 1j * h * skew(axis)), v, shape).imag / h
    for i, mode in enumerate(np.eye(len(shape))):
        rate[6 + i] -= whole_energy(body, A, v, shape + 1j * h * mode).imag / h
    return rate


def close(found, wanted, most):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=most)


@pytest.mark.parametrize("frame", ["", "left"])
def test_kinetic_energy_and_bias_are_those_of_the_whole_model(frame):
    body = arm(frame)
    system, k = ph.compile(without_springs(machine(body)), target="python"), len(body.frequencies)
    assert body.is_exact
    for seed in range(3):
        q, v = state(k, seed)
        A = np.asarray(ph.quaternion.rotation_matrix(q[3:7]))
        T = whole_energy(body, A, v, q[7:])
        close(system.energy(q, v).kinetic, T, ROUNDING * T)
        close(v @ system.mass_matrix(q) @ v / 2, T, ROUNDING * T)
        found, wanted = system.bias(q, v), hamel_bias(body, A, v, q[7:])
        close(found, wanted, ROUNDING * np.max(abs(wanted)))


def test_christoffel_symbols_and_coriolis_matrix_give_the_bias():
    body = arm()
    k = len(body.frequencies)
    forearm = ph.Body("forearm", 0.5, (0.01, 0.02, 0.02), (0.2, 0.0, 0.0))
    elbow = ph.Joint("elbow", "revolute", "arm-right", "forearm", axis=(0, 1, 0))
    model = without_springs(machine(body, bodies=[forearm], joints=[elbow]))
    system = ph.compile(model, target="python")
    q, v = state(k + 1, 4)
    C = system.coriolis(q, v)
    bias = system.bias(q, v)
    G = system.christoffel(q)
    close(C @ v, bias, ROUNDING * np.max(abs(bias)))
    close(np.einsum("abg,a,b->g", G, v, v), bias, ROUNDING * np.max(abs(bias)))


def test_without_modes_it_is_the_rigid_body():
    body = ph.ModalBody.from_matrices("arm", M, K, NODES, {"left": LEFT}, 0)
    assert body.frequencies == ()
    close(body.mass, 1000 * 0.6 * 0.1 * 0.05, 1e-12)
    close(body.center, (0.3, 0.05, 0.025), 1e-12)
    wanted = body.mass / 12 * np.diag([0.1**2 + 0.05**2, 0.6**2 + 0.05**2, 0.6**2 + 0.1**2])
    rigid = ph.Model(
        "rigid", (0, 0, 0), [ph.Body("arm", body.mass, wanted.tolist(), (0.3, 0.05, 0.025))],
        [ph.Joint("carrier", "free", "world", "arm")],
    )  # fmt: skip
    q, v = state(0)
    mine, others = (ph.compile(model, target="python") for model in (machine(body), rigid))
    close(mine.mass_matrix(q), others.mass_matrix(q), 1e-13)
    close(mine.bias(q, v), others.bias(q, v), 1e-12)


def test_a_floating_frame_is_that_of_tisserand():
    """The modes have no momentum: S = 0 and ∫r0 × φ = 0 at rest."""
    body = arm()
    k = len(body.frequencies)
    found = ph.compile(machine(body), target="python").mass_matrix([0, 0, 0, 1, 0, 0, 0, *[0] * k])
    assert np.max(abs(found[:6, 6:])) < ORTHOGONAL * np.max(abs(found))
    close(found[6:, 6:], np.diag(body.masses), ORTHOGONAL * max(body.masses))


@pytest.mark.long
def test_a_free_tumble_keeps_momenta_and_energy():
    body = arm()
    model = machine(body)
    q, v = [*model.zero], [0.1, 0.2, 0.0, 3.0, 5.0, 4.0, *[0.0] * len(body.frequencies)]
    q[7] = 0.002
    run = ph.simulate(model, q=q, v=v, duration=0.05, tolerance=1e-10)
    assert run.attrs["verdict"] == "good"
    for name in ("linear_momentum", "angular_momentum"):
        found = run[name].values
        assert np.max(abs(found - found[0])) < 1e-13 * np.max(abs(found))
    energy = run.total_energy.values
    assert np.max(abs(energy - energy[0])) < 1e-9 * energy[0]


def clamped_beam(modes=8, frame="root", **more):
    matrices = beam(16, GJ=600.0, **more)
    return matrices, ph.ModalBody.from_matrices("beam", *matrices, {"root": 0, "tip": 16}, modes, frame=frame)


def test_frequencies_of_a_clamped_beam():
    (M, K, _), body = clamped_beam()
    model = machine(body, "fixed")
    found = np.sort(abs(np.linalg.eigvals(ph.linearize(model, q=model.zero).A).imag))[::2]
    wanted = 1 / np.sqrt(eigh(M[6:, 6:], K[6:, 6:], eigvals_only=True)[::-1])
    assert len(body.frequencies) == 14
    close(found[:4] / wanted[:4], 1.0, 1e-3)
    close(found[0] / (3.516015269 * np.sqrt(80 / 0.5)), 1.0, 1e-4)
    assert not body.is_exact
    assert "rotations have mass" in str(body)


def test_frequencies_of_a_free_beam():
    """Fixed interfaces are the worst choice for a body whose interfaces are free; 14 modes with them held do."""
    (M, K, _), body = clamped_beam(14, frame="")
    squares = eigh(M, K + 1e2 * M, eigvals_only=True)[::-1]
    wanted = np.sqrt(1 / squares[6:] - 1e2)
    close(np.array(body.frequencies[:4]) / wanted[:4], 1.0, 6e-4)


def test_frequencies_of_a_free_body_are_those_of_the_reduction_itself():
    """14 coordinates are off by 9e-4: so is Ritz's method on constraint modes and modes with interfaces held."""
    (M, K, _), body = clamped_beam(8, frame="")
    n = len(M)
    held, inside = [*range(6), *range(n - 6, n)], [*range(6, n - 6)]
    T = np.zeros((n, 20))
    T[held, range(12)] = 1.0
    T[inside, :12] = -np.linalg.solve(K[np.ix_(inside, inside)], K[np.ix_(inside, held)])
    T[inside, 12:] = eigh(K[np.ix_(inside, inside)], M[np.ix_(inside, inside)])[1][:, :8]
    ritz = np.sqrt(eigh(T.T @ K @ T, T.T @ M @ T, eigvals_only=True)[6:])
    close(np.array(body.frequencies[:8]) / ritz[:8], 1.0, 1e-10)


@pytest.mark.parametrize("kind", ["fixed", "revolute"])
def test_static_deflection_of_the_tip_is_that_of_finite_elements(kind):
    """Constraint modes are exact in statics, however few modes there are; a hinge held by a spring carries the arm."""
    (_, K, _), body = clamped_beam(modes=2)
    load = np.array([0.0, 0.01, 0.03, 0.0, 0.004, 0.002])
    u = np.linalg.solve(K[6:, 6:], np.concatenate([np.zeros(len(K) - 12), load]))[-6:]
    force = ph.Force("tip", "beam-tip", force=load[:3], torque=load[3:])
    hinge = ph.Joint("carrier", kind, "world", "beam", axis=(0, 0, 1), stiffness=0.0 if kind == "fixed" else 5.0)
    model = ph.Model("static", (0, 0, 0), joints=[hinge], modal=[body], forces=[force])
    found = ph.equilibrium(model)
    pose = ph.compile(model, target="python").pose(found.q, "beam-tip")
    turn = 2 * np.asarray(pose.quaternion)[1:]
    if kind == "revolute":  # the hinge turns by the moment about z, and the arm with it
        angle = (load[1] + load[5]) / 5.0
        u[1], u[5] = u[1] + angle, u[5] + angle
    # loads are small: what is of second order is below 1e-5 of a deflection
    close(pose.position - [1, 0, 0], u[:3], 2e-5)
    close(turn, u[3:], 2e-5)
    close(pose.position[2], u[2], 1e-4 * abs(u[2]))


def test_bodies_hang_on_interfaces_by_joints():
    """A modal arm that carries a forearm is two rigid bodies where its modes are held."""
    stiff = ph.ModalBody.from_matrices("arm", M, K, NODES, {"left": LEFT, "right": RIGHT}, 0, frame="left")
    forearm = ph.Body("forearm", 0.5, (0.01, 0.02, 0.02), (0.2, 0.0, 0.0))
    elbow = ph.Joint("elbow", "revolute", "arm-right", "forearm", axis=(0, 1, 0))
    model = machine(stiff, "spherical", (0, 0, -9.81), bodies=[forearm], joints=[elbow])
    rigid = ph.Model(
        "rigid",
        bodies=[ph.Body("arm", stiff.mass, stiff.inertia, stiff.center), forearm],
        joints=[
            ph.Joint("carrier", "spherical", "world", "arm"),
            ph.Joint(
                "elbow", "revolute", "arm", "forearm", axis=(0, 1, 0), position=stiff.interfaces["right"].position
            ),
        ],
    )
    k = len(stiff.frequencies)
    assert k == 6
    q, v = [1.0, 0, 0, 0, 0.5], [0.3, 0.2, 0.1, 1.0]
    mine, others = (ph.compile(each, target="python") for each in (model, rigid))
    whole, speeds = [*q, *[0.0] * k], [*v, *[0.0] * k]
    close(mine.mass_matrix(whole)[:4, :4], others.mass_matrix(q), 1e-13)
    close(mine.bias(whole, speeds)[:4], others.bias(q, v), 1e-12)
    close(mine.jacobian(whole, "forearm")[:, :4], others.jacobian(q, "forearm"), 1e-13)


def test_derivatives_are_those_of_complex_steps():
    body = arm(modes=0)
    k = len(body.frequencies)
    forearm = ph.Body("forearm", 0.5, (0.01, 0.02, 0.02), (0.2, 0.0, 0.0))
    elbow = ph.Joint("elbow", "revolute", "arm-right", "forearm", axis=(0, 1, 0))
    model = machine(body, "revolute", (1.0, 2.0, -9.81), bodies=[forearm], joints=[elbow])
    system = ph.compile(model, target="python")
    rng = np.random.default_rng(2)
    q, v = np.concatenate([[0.3, 0.4], 0.02 * rng.normal(size=k)]), rng.normal(size=2 + k)
    tau = rng.normal(size=2 + k)
    found = system.forward_dynamics_derivatives(q, v, tau)
    tree = ph.model.make_tree(model)
    from polhode.dynamics.arguments import Arguments
    from polhode.dynamics.with_forces import forward_dynamics
    from polhode.scalar import Vec

    def vd(q, v):
        return np.array(forward_dynamics(Arguments(tree, Vec(q), Vec(v), tau=Vec(tau))))

    for b, unit in enumerate(np.eye(2 + k)):
        by_q, by_v = vd(q + 1e-30j * unit, v).imag / 1e-30, vd(q, v + 1e-30j * unit).imag / 1e-30
        size = np.max(abs(np.asarray(found[0])))
        close(np.asarray(found[0])[:, b], by_q, 1e-11 * size)
        close(np.asarray(found[1])[:, b], by_v, 1e-11 * np.max(abs(np.asarray(found[1]))))


@pytest.mark.long
def test_a_loop_through_interfaces_holds():
    """An arm with both ends pinned: constraints at an interface have columns for the modes."""
    body = arm("left", modes=0)
    pin = ph.Constraint("pin", "spherical", body_a="world", body_b="arm-right", position_a=(0.6, 0.0, 0.0))
    model = machine(body, "spherical", (0, 0, -9.81), constraints=[pin])
    run = ph.simulate(model, duration=0.02)
    assert run.attrs["status"] == "finished"
    assert np.max(abs(run.constraint_residual.values)) < 1e-9


@pytest.mark.long
def test_numbers_of_modes_are_swept():
    """The stiffness of a mode is a number of the model: frequencies of runs follow."""
    body = arm("left", modes=0)
    model = machine(body, "fixed")
    first = model.numbers()["joints.arm-left.stiffness.0"]
    q = np.zeros(len(body.frequencies))
    q[0] = 1e-3
    runs = ph.sweep(model, {"joints.arm-left.stiffness.0": ph.Grid([first, 4 * first])}, q=q, duration=0.05, times=51)
    shapes = runs.q.values[..., 0]
    time = np.linspace(0, 0.05, 51)
    for shape, factor in zip(shapes.reshape(2, -1), (1.0, 2.0), strict=True):
        close(shape, 1e-3 * np.cos(factor * body.frequencies[0] * time), 1e-6)


def test_damping_ratios_are_those_of_the_modes():
    body = arm("left", modes=0, damping_ratio=0.05)
    model = machine(body, "fixed")
    values = np.linalg.eigvals(ph.linearize(model, q=model.zero).A)
    close(-values.real / abs(values), 0.05, 1e-9)


def test_the_model_is_written_and_read():
    model = machine(arm(modes=0))
    with pytest.warns(ph.errors.PolhodeWarning, match="not that of a real body"):
        assert model_from_yaml(to_yaml(model), "arm.yaml") == model


@pytest.mark.long
def test_spin_up_fails_as_is_known_and_is_warned_of():
    """A rotating arm without centrifugal stiffening loses its stability where a beam would gain."""
    (_, _, _), body = clamped_beam(modes=0)
    model = machine(body, "revolute")
    omega = 1.5 * body.frequencies[0]
    v = np.zeros(model.nv)
    v[0] = omega
    q = np.zeros(model.nq)
    q[1:] = 1e-4
    with pytest.warns(ph.errors.PolhodeWarning, match="modal body 'beam'") as told:
        run = ph.simulate(model, q=q, v=v, duration=0.12, tolerance=1e-6, verify=False)
    reach = np.max(abs(run.q.values[:, 1:]), axis=1)
    assert reach[-1] > 20 * reach[0]
    assert sorted("lack centrifugal stiffening" in str(each.message) for each in told) == [False, True]
    assert run.attrs["grade"].count("modal bodies") == 2


def test_frames_of_both_kinds_span_the_same_motions():
    """Rigid motions and modes together are the same small motions, so a free body has the same frequencies."""
    found = []
    for frame in ("", "left"):
        body = arm(frame)
        model = machine(body)
        system = ph.compile(model, target="python")
        springs = np.diag([*[0.0] * 6, *(np.array(body.masses) * np.array(body.frequencies) ** 2)])
        squares = eigh(springs, system.mass_matrix(model.zero), eigvals_only=True)
        found.append(np.sqrt(squares[6:]))
    close(found[0] / found[1], 1.0, 1e-9)


def test_two_modal_bodies_in_a_row():
    """The inner one's tip carries the outer one: energy, bias and accelerations agree with each other."""
    inner, outer = (
        ph.ModalBody.from_matrices(name, M, K, NODES, {"left": LEFT, "right": RIGHT}, 0, frame="left")
        for name in ("inner", "outer")
    )
    joints = [
        ph.Joint("hinge", "revolute", "world", "inner", axis=(0, 1, 0)),
        ph.Joint("knee", "revolute", "inner-right", "outer", axis=(0, 0, 1)),
    ]
    model = ph.Model("row", (0, 0, 0), joints=joints, modal=[inner, outer])
    model = model.with_numbers({f"joints.{name}-left.stiffness": [0.0] * 6 for name in ("inner", "outer")})
    system = ph.compile(model, target="python")
    rng = np.random.default_rng(3)
    q, v = 0.02 * rng.normal(size=model.nq), rng.normal(size=model.nv)
    mass, bias = system.mass_matrix(q), system.bias(q, v)
    close(system.energy(q, v).kinetic, v @ mass @ v / 2, 1e-12)
    close(system.coriolis(q, v) @ v, bias, 1e-12 * np.max(abs(bias)))
    close(mass @ system.forward_dynamics(q, v, np.zeros(model.nv)), -bias, 1e-12 * np.max(abs(bias)))
    jacobian = system.jacobian(q, "outer-right")
    moved = system.velocity(q, v, "outer-right")
    close(jacobian @ v, [*moved.linear, *moved.angular], 1e-13 * np.max(abs(jacobian @ v)))
    momentum = system.centroidal_map(q) @ v
    close(momentum[:3], system.momentum(q, v).linear, 1e-12 * np.max(abs(momentum)))


def test_a_beam_of_consistent_mass_on_an_interface():
    """Inertia that couples bodies and coordinates that are shared go together."""
    body = arm("left", modes=0)
    section = ph.Section(axial=1e5, torsion=1.0, bending_y=2.0, bending_z=3.0, mass=0.4, inertia_y=1e-4, inertia_z=1e-4)
    hinge = ph.Joint("carrier", "revolute", "world", "arm", axis=(0, 1, 0))
    rod = ph.Beam("rod", section, start=("arm-right", (0, 0, 0)), end=(0.9, 0, 0), elements=1, mass="consistent")
    model = ph.Model("both", (0, 0, 0), joints=[hinge], modal=[body], beams=[rod])
    system = ph.compile(model, target="python")
    rng = np.random.default_rng(5)
    v = rng.normal(size=model.nv)
    q = np.asarray(system.integrate(model.zero, 0.02 * rng.normal(size=model.nv)))
    mass = system.mass_matrix(q)
    close(system.energy(q, v).kinetic, v @ mass @ v / 2, 1e-12)
    bias = system.bias(q, v)
    close(mass @ system.forward_dynamics(q, v, np.zeros(model.nv)), -bias, 1e-9 * np.max(abs(bias)))
    close(system.centroidal_map(q)[:3] @ v, system.momentum(q, v).linear, 1e-12)


@pytest.mark.parametrize(
    "edit",
    [
        lambda model: model.mirrored((1, 0, 0)),
        lambda model: model.scaled(length=2.0),
        lambda model: model.with_locked({"arm-left": [0.0] * 6}),
        lambda model: ph.compile(model, target="python").torque_regressor(model.zero, [0] * 12, [0] * 12),
        lambda model: ph.inverse_kinematics(model, {"arm-right": (0.0, 0.0, 1.0)}),
        lambda model: ph.compile(model, engine="absolute").forward_dynamics(model.zero, [0] * 12, [0] * 12),
    ],
    ids=["mirrored", "scaled", "locked", "regressor", "inverse kinematics", "absolute"],
)
def test_what_does_not_know_modes_is_refused(edit):
    with pytest.raises(ph.errors.InputError, match="modal bod"):
        edit(machine(arm(modes=0)))


def test_interfaces_need_their_modes():
    parts = machine(arm(modes=0))
    follower = [joint for joint in parts.joints if joint.type != "modal"]
    bodies = [body for body in parts.bodies if body.name != "arm-left"]
    with pytest.raises(ph.errors.ModelError, match="no modal coordinates to share"):
        ph.Model("lost", bodies=bodies, joints=follower)


def test_many_freedoms_are_reduced_by_another_way(monkeypatch):
    """The modes of large models are found a few at a time; they are the same."""
    wanted = arm(modes=2)
    monkeypatch.setattr("polhode.model.modal.reduction.DENSE", 0)
    found = arm(modes=2)
    close(np.array(found.frequencies) / np.array(wanted.frequencies), 1.0, 1e-9)


BAD = [
    ({"M": M[:-1]}, "not square"),
    ({"M": np.triu(M)}, "not symmetric"),
    ({"M": -M}, "no mass"),
    ({"K": -K}, "not positive"),
    ({"K": K + 1e3 * np.eye(len(K))}, "a rigid motion is resisted"),
    ({"K": np.where(np.eye(len(K)) > 0, np.nan, K)}, "not finite"),
    ({"nodes": NODES[:, :2]}, "wrong shape"),
    ({"nodes": NODES[:-1]}, "not three or six freedoms a node"),
    ({"interfaces": {"bolt": 999}}, "no such node"),
    ({"interfaces": {"bolt": "12"}}, "no such node"),
    ({"interfaces": {"a": LEFT, "b": [*RIGHT, LEFT[0]]}}, "a node of two interfaces"),
    ({"interfaces": {}}, "no interfaces"),
    ({"interfaces": {"bolt": LEFT[:2]}}, "its rotation is not known"),
    ({"interfaces": {"bolt": LEFT[0]}}, "they do not hold the body"),
    ({"modes": -1}, "not a count"),
    ({"modes": 1000}, "more than there are"),
    ({"damping_ratio": 1.5}, "out of range"),
    ({"frame": "middle"}, "no such interface"),
    ({"units": "furlong, kg, s"}, "unknown"),
    ({"mass": 4.0}, "not that of the matrix"),
    ({"freedoms": [(0, 9)] * len(M)}, "not freedoms"),
    ({"labels": [1] * len(NODES)}, "not node numbers"),
]


@pytest.mark.parametrize(("change", "text"), BAD, ids=[text for _, text in BAD])
def test_bad_input_is_told_by_name(change, text):
    given = {"M": M, "K": K, "nodes": NODES, "interfaces": {"left": LEFT, "right": RIGHT}, "modes": 2, **change}
    with pytest.raises(ph.errors.ModelError, match=text) as error:
        ph.ModalBody.from_matrices("bracket", **given)
    assert "modal body 'bracket'" in str(error.value)


def test_units_of_other_systems():
    """Millimetres and tonnes give the same body; mixed units are warned of."""
    found = ph.ModalBody.from_matrices(
        "arm", M / 1e3, K / 1e3, 1e3 * NODES, {"left": LEFT, "right": RIGHT}, 2, units="mm, t, s"
    )
    wanted = arm()
    close(found.mass, wanted.mass, 1e-12)
    close(found.frequencies, wanted.frequencies, 1e-9 * max(wanted.frequencies))
    with pytest.warns(ph.errors.PolhodeWarning, match="no known material"):
        ph.ModalBody.from_matrices("arm", M / 1e9, K, NODES, {"left": LEFT, "right": RIGHT}, 0)
