"""Consistent mass of beams: against quadrature, frequencies of order four, rotating blades, free flight."""

import numpy as np
import pytest
from scipy.linalg import eigh

import polhode as ph
from polhode.analysis.equations_at_state import EquationsAtState

CLAMPED, FREE = (3.516015269, 22.03449156), (22.37328545, 61.67282287)
"""ω√(ρAL⁴/EI) of beams, clamped and free: closed forms."""
FLAP = {2: 4.13731957, 12: 13.1701505}


def section(mass=1.0, spin=1e-9, axial=1e8, stiff=1.0):
    return ph.Section(
        axial=axial, torsion=stiff, bending_y=stiff, bending_z=stiff, mass=mass, inertia_y=spin, inertia_z=2 * spin
    )


def beam(n, start=("world", (0, 0, 0)), end=(1, 0, 0), made=None, **more):
    made = ph.Beam("b", made or section(), start=start, end=end, elements=n, mass="consistent", **more)
    return ph.Model("c", gravity=(0, 0, 0), beams=[made])


def frequencies(model):
    """Of small motions at rest, rad/s, by stiffness and mass matrix."""
    equations = EquationsAtState(model)
    q, rest = np.array(model.zero), np.zeros(model.nv)
    K = equations.slopes(q, rest, rest, np.zeros(0), 0.0).force[:, : model.nv]
    return np.sqrt(np.maximum(eigh((K + K.T) / 2, equations.mass_matrix(q))[0], 0))


def test_inertia_is_that_of_quadrature():
    """One element between two bodies that move anyhow, without stiffness, against four points of Gauss."""
    l, mass, spin = 0.7, 1.3, 0.02
    model = beam(1, (0, 0, 0), (l, 0, 0), section(mass, spin, 0.0, 0.0))
    system, rng = ph.compile(model, target="python"), np.random.default_rng(5)
    q = system.integrate(np.array(model.zero), rng.normal(size=12))
    v, vd = rng.normal(size=(2, 12))
    x, weight = np.polynomial.legendre.leggauss(4)
    s, weight = (x + 1) / 2, weight / 2 * mass * l
    N = np.array([1 - 3 * s**2 + 2 * s**3, l * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, l * (s**3 - s**2)])
    R = [np.asarray(ph.quaternion.rotation_matrix(q[k : k + 4])) for k in (3, 10)]
    rates = []
    for k in range(2):
        d, w, a = R[k][:, 0], R[k] @ v[6 * k + 3 : 6 * k + 6], R[k] @ vd[6 * k + 3 : 6 * k + 6]
        rates += [vd[6 * k : 6 * k + 3], np.cross(a, d) + np.cross(w, np.cross(w, d))]
    f = (N * weight) @ (N.T @ np.array(rates))  # on x_a, d_a, x_b, d_b
    J = l / 2 * spin * np.diag([3.0, 1.0, 2.0])
    want = []
    for k in range(2):
        w, a = v[6 * k + 3 : 6 * k + 6], vd[6 * k + 3 : 6 * k + 6]
        turn = R[k].T @ np.cross(R[k][:, 0], f[2 * k + 1]) + J @ a + np.cross(w, J @ w)
        want += [*f[2 * k], *turn]
    np.testing.assert_allclose(system.inverse_dynamics(q, v, vd), want, atol=1e-13)


def test_mass_weight_and_rigid_inertia_are_those_of_a_bar():
    """At rest and straight: a rigid motion has the momentum of a bar, gravity the moments of its weight."""
    model = beam(3, (0, 0, 0), (1.2, 0, 0), section(2.0, 1e-2))
    system, q = ph.compile(model, target="python"), np.array(model.zero)
    turning = np.concatenate([[0, x, 0, 0, 0, 1.0] for x in (0, 0.4, 0.8, 1.2)])  # about the z axis through the start
    found = system.momentum(q, turning)
    np.testing.assert_allclose(found.linear, [0, 2.4 * 0.6, 0], atol=1e-14)
    np.testing.assert_allclose(found.angular, [0, 0, 2.4 * 1.2**2 / 3 + 1.2 * 2e-2], atol=1e-14)
    assert system.energy(q, turning).kinetic == pytest.approx(found.angular[2] / 2)
    assert sum(body.mass for body in model.bodies) == pytest.approx(2.4)
    held = ph.Model("c", gravity=(0, 0, -10.0), beams=[ph.Beam("b", section(2.0), start=(0, 0, 0), end=(1, 0, 0),
                    elements=1, mass="consistent")])  # fmt: skip
    weight = -ph.compile(held, target="python").gravity(np.array(held.zero))
    np.testing.assert_allclose(weight, [0, 0, -10, 0, 10 / 6, 0, 0, 0, -10, 0, -10 / 6, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("start", "first", "exact", "n", "error", "order"),
    [
        (("world", (0, 0, 0)), 0, CLAMPED, (2, 4), 4e-5, 3.8),
        ((0, 0, 0), 6, FREE, (4, 8), 1e-4, 3.7),
        pytest.param(("world", (0, 0, 0)), 0, CLAMPED, (8, 16), 1.5e-7, 3.9, marks=pytest.mark.long),
        pytest.param((0, 0, 0), 6, FREE, (8, 16), 5.5e-6, 3.9, marks=pytest.mark.long),
    ],
    ids=["clamped", "free", "clamped, fine", "free, fine"],
)
def test_frequencies_converge_with_order_four(start, first, exact, n, error, order):
    """Both planes have the same; spin about the beam is far above."""
    coarse, fine = (frequencies(beam(k, start, made=section(spin=1e-9)))[first::2][:2] / exact - 1 for k in n)
    assert abs(fine[0]) < error
    assert order < np.log2(coarse[0] / fine[0]) < 4.25


@pytest.mark.long
def test_a_rotating_blade_has_the_published_frequencies():
    """Twelve elements: within 3e-5 of them, and lag² = flap² − η²."""
    hub, shaft = ph.Body("hub", 1.0, (1, 1, 1)), ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1))
    blade = ph.Beam("b", section(), start=("hub", (0, 0, 0)), end=(1, 0, 0), elements=12, mass="consistent")
    rotor = ph.Model("rotor", (0, 0, 0), [hub], [shaft], beams=[blade])
    speeds = np.array([2.0, 6.0, 12.0])
    lag, flap = ph.campbell(rotor, speeds, modes=2).frequencies.T
    np.testing.assert_allclose(flap, [4.1373196, 7.3604, 13.1701505], rtol=3e-5)
    np.testing.assert_allclose(lag**2, flap**2 - speeds**2, rtol=3e-4)


def test_a_rotating_blade_stiffens():
    hub, shaft = ph.Body("hub", 1.0, (1, 1, 1)), ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1))
    blade = ph.Beam("b", section(), start=("hub", (0, 0, 0)), end=(1, 0, 0), elements=2, mass="consistent")
    rotor = ph.Model("rotor", (0, 0, 0), [hub], [shaft], beams=[blade])
    assert ph.campbell(rotor, [2.0], modes=2).frequencies[0, 1] == pytest.approx(FLAP[2], rel=4e-3)


@pytest.mark.long
@pytest.mark.parametrize("method", ["dop853", "radau"])
@pytest.mark.parametrize("n", [1, 4])
def test_momenta_and_energy_stay_in_free_flight(n, method):
    """Momenta to rounding where steps are explicit; by an iteration to what all steps may err by."""
    model = beam(n, (0, 0, 0), (1, 0, 0), section(1.3, 1e-2, 1e3))
    v = 0.5 * np.random.default_rng(1).normal(size=model.nv)
    run = ph.simulate(model, v=v, duration=0.2, tolerance=1e-11, method=method)
    assert run.attrs["verdict"] == "good"
    most, exact = (1e-11, 1e-14) if method == "dop853" else (run.attrs["steps_taken"] * 1e-11,) * 2
    for name, bound in (("linear_momentum", exact), ("angular_momentum", exact), ("total_energy", most)):
        values = run[name].values
        assert np.max(abs(values - values[0])) < bound


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "step", "bound"),
    [("rk4", 5e-4, 1e-8), ("implicit-midpoint", 5e-4, 1e-6), ("generalized-alpha", 5e-4, 1e-5)],
)
def test_methods_of_all_kinds_take_it(method, step, bound):
    model = beam(1, (0, 0, 0), (1, 0, 0), section(1.3, 1e-2, 1e3))
    v = 0.5 * np.random.default_rng(1).normal(size=model.nv)
    energy = ph.simulate(model, v=v, duration=0.1, step=step, method=method).total_energy.values
    assert np.max(abs(energy - energy[0])) < bound


@pytest.mark.long
def test_sweeps_and_held_strains_take_it():
    model = beam(2, made=section(1.3, 1e-2, 1e3), held="elongation")
    assert ph.simulate(ph.Model("c", beams=[ph.Beam("b", section(1.3, 1e-2, 1e3), start=("world", (0, 0, 0)),
                       end=(1, 0, 0), elements=2, mass="consistent", held="elongation")]), duration=0.1
                       ).attrs["verdict"] == "good"  # fmt: skip
    free = beam(1, made=section(1.3, 1e-2, 1e3))
    v = 0.2 * np.random.default_rng(2).normal(size=free.nv)
    many = ph.sweep(free, {"forces.b-1.bending_y": ph.Grid([1.0, 2.0])}, v=v, duration=0.05)
    one = ph.simulate(free.with_numbers({"forces.b-1.bending_y": 2.0}), v=v, duration=0.05)
    np.testing.assert_allclose(
        many.q.values[-1, -1] if many.q.ndim == 3 else many.q.values[-1], one.q.values[-1], atol=1e-7
    )
    assert model.constraints


def test_files_name_it(tmp_path):
    path = tmp_path / "beam.yaml"
    path.write_text(
        "name: b\nsections: {rod: {shape: circle, diameter: 6 mm, material: steel}}\n"
        "beams: {b: {section: rod, start: {body: world}, end: [1, 0, 0], elements: 2, mass: consistent}}\n"
    )
    assert [force.kind for force in ph.load(path).forces] == ["beam-inertia"] * 2 + ["beam-element"] * 2
    with pytest.raises(ph.ModelError, match="mass: unknown"):
        ph.Beam("b", section(), start=(0, 0, 0), end=(1, 0, 0), mass="lumped")
