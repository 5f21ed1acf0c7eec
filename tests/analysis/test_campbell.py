"""Campbell diagrams: rotating cantilevers against an independent Ritz solution, modes followed, what is refused."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.polynomial import Polynomial
from scipy.linalg import eigh

import polhode as ph
from polhode.analysis import campbell
from polhode.analysis.held_speeds import with_speeds_held
from polhode.cli import main

FLAP = {2: (4.13731957, 22.6149220), 12: (13.1701505, 37.6031123)}
"""ω√(ρAL⁴/EI) of a rotating cantilever without a hub, by η = Ω√(ρAL⁴/EI): ../shared/benchmarks, computed to 1e-8."""


def section(axial=1e6, torsion=1.0, spin=1e-6):
    return ph.Section(axial=axial, torsion=torsion, bending_y=1, bending_z=1, mass=1, inertia_y=spin, inertia_z=spin)


def rotor(n, radius=0.0, gravity=(0, 0, 0), hub=1.0, **more):
    return ph.Model(
        "rotor",
        gravity,
        [ph.Body("hub", 1.0, (hub, hub, hub))],
        [ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1))],
        beams=[
            ph.Beam("blade", more.pop("section", section()), start=("hub", (radius, 0, 0)), end=(radius + 1, 0, 0),
                    elements=n, **more)
        ],
    )  # fmt: skip


def ritz(eta, radius=0.0, terms=14):
    """Flap frequencies of the rotating Euler–Bernoulli beam with EI = ρA = L = 1, clamped at a radius.

    ∫w″² + T w′² = ω² ∫w²,  T = η² (r (1 − s) + (1 − s²)/2),  w = s² P(2s − 1) with Legendre polynomials P
    """
    s = Polynomial([0, 1])
    basis = [s * s * np.polynomial.Legendre.basis(k, domain=[0, 1]).convert(kind=Polynomial) for k in range(terms)]
    x, weight = np.polynomial.legendre.leggauss(2 * terms + 4)
    x, weight = (x + 1) / 2, weight / 2
    tension = eta**2 * (radius * (1 - x) + (1 - x**2) / 2)
    w, slope, bend = (np.array([p.deriv(k)(x) if k else p(x) for p in basis]) for k in (0, 1, 2))
    return np.sqrt(eigh((bend * weight) @ bend.T + (slope * weight * tension) @ slope.T, (w * weight) @ w.T)[0])


def test_the_reference_has_the_published_digits():
    np.testing.assert_allclose(ritz(2)[:2], FLAP[2], rtol=3e-9)
    np.testing.assert_allclose(ritz(12)[:2], FLAP[12], rtol=3e-9)


def test_a_rotating_blade_stiffens():
    """Flap and lag of four elements with half bars; lag² = flap² − η². Shapes: z, and y."""
    found = ph.campbell(rotor(4, section=section(1e8)), [2.0, 12.0], modes=2)
    lag, flap = found.frequencies.T
    np.testing.assert_allclose(flap, [FLAP[2][0], FLAP[12][0]], rtol=2e-3)
    np.testing.assert_allclose(lag**2, flap**2 - [4, 144], rtol=1e-4)
    tip = found.names.index("blade-4.speed_z")
    assert np.min(abs(found.shapes[:, 1, tip])) > 0.7
    assert np.max(abs(found.shapes[:, 0, tip])) < 1e-9
    assert np.max(abs(found.damping)) < 1e-9
    (where,) = found.crossings([1.0])
    assert where.mode == 0
    assert 3 < where.speed < 5


@pytest.mark.long
@pytest.mark.parametrize("radius", [0.0, 0.5, 2.0])
def test_frequencies_converge_with_order_two(radius):
    speeds = [2.0, 6.0, 12.0]
    exact = np.array([ritz(eta, radius)[:2] for eta in speeds])
    errors = []
    for n in (4, 8, 16):
        found = ph.campbell(rotor(n, radius, section=section(1e8)), speeds, modes=4).frequencies
        flap = found[:, [1, 3]] if np.all(found[:, 1] > found[:, 0]) else found
        lag = found[:, [0, 2]]
        np.testing.assert_allclose(lag**2, flap**2 - np.array(speeds)[:, None] ** 2, rtol=2e-4)
        errors.append(abs(flap / exact - 1))
    assert np.max(errors[2]) < 2e-2
    np.testing.assert_allclose(np.log2(errors[1] / errors[2])[:, 1], 2, atol=0.2)


def test_a_shaft_that_is_not_driven_vibrates_too():
    """Without forces on it: a light hub raises the frequency of bending in the plane, as a heavy one does not."""
    driven, heavy, light = (
        ph.campbell(rotor(2, hub=hub), [2.0], modes=2, drive=drive).frequencies[0]
        for hub, drive in ((1e-3, True), (1e6, False), (1e-3, False))
    )
    np.testing.assert_allclose(heavy, driven, rtol=1e-5)
    assert max(light) > 1.5 * max(driven)


def test_a_held_speed_is_that_of_a_heavy_body():
    arm = ph.Body("arm", 1.0, (0.1, 0.1, 0.1), center=(0.3, 0, 0))
    joints = [
        ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1)),
        ph.Joint("hinge", "revolute", "hub", "arm", axis=(0, 0, 1), position=(0.5, 0, 0)),
    ]
    model = ph.Model("two", (0, 0, 0), [ph.Body("hub", 1.0, (1, 1, 1)), arm], joints)
    small = with_speeds_held(ph.linearize(model, v=[3.0, 0.0]), ["shaft"])
    want = 3.0 * np.sqrt(0.3 * 0.5 / (0.1 + 0.09))  # m r c Ω² against I + m c²
    assert "v.shaft" not in small.states
    np.testing.assert_allclose(sorted(small.eigenvalues().imag), [-want, want], rtol=1e-12)
    with pytest.raises(ph.InputError, match="no such name"):
        with_speeds_held(small, ["shift"])


def test_modes_that_cross_are_followed_by_their_shapes():
    """The first flap overtakes torsion, which hardly stiffens."""
    found = ph.campbell(rotor(1, section=section(torsion=1e-3, spin=1e-5)), [0.0, 4.0, 8.0, 12.0, 16.0], modes=3)
    twist, flap = (found.names.index(f"blade-1.{name}") for name in ("omega_x", "speed_z"))
    first, last = found.frequencies[0], found.frequencies[-1]
    by = {name: int(np.argmax(abs(found.shapes[0, :, k]))) for name, k in (("twist", twist), ("flap", flap))}
    assert first[by["flap"]] < first[by["twist"]] < last[by["twist"]] < last[by["flap"]]
    assert np.min(abs(found.shapes[:, by["twist"], twist])) > 0.99


def test_the_command_goes_through_speeds(tmp_path):
    text = """
name: rotor
gravity: [0, 0, -9.81]
sections: {rod: {shape: circle, diameter: 6 mm, material: steel}}
bodies: {hub: {mass: 2, inertia: [0.01, 0.01, 0.02]}}
joints: {shaft: {type: revolute, parent: world, child: hub, axis: [0, 0, 1]}}
beams: {blade: {section: rod, start: {body: hub, position: [0.05, 0, 0]}, end: [0.85, 0, 0], elements: 1}}
"""
    path, picture = tmp_path / "rotor.yaml", tmp_path / "rotor.svg"
    path.write_text(text)
    run = CliRunner().invoke(main, ["modes", str(path), "--speed", "0:60:20"], catch_exceptions=False)
    assert "speed of 'shaft'" in run.output
    assert "1×" in run.output
    told = CliRunner().invoke(
        main, ["modes", str(path), "--speed", "0:60:20", "--json", "--out", str(picture)], catch_exceptions=False
    )
    found = json.loads(told.output)
    assert found["speeds"] == [0, 20, 40, 60]
    assert found["eigenvalues"][3][0][1] > found["eigenvalues"][0][0][1]
    assert "Campbell" in picture.read_text()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: ph.campbell(m, [2.0, 1.0]), "ascending"),
        (lambda m: ph.campbell(m, "fast"), "ascending"),
        (lambda m: ph.campbell(m, [1.0], shaft="axle"), "no such name"),
        (lambda m: ph.campbell(m, [1.0], modes=0), "not a count"),
        pytest.param(
            lambda m: ph.campbell(rotor(1, gravity=(0, -9.81, 0)), [1.0], shaft="shaft"), "gravity is along it",
            marks=pytest.mark.long,
        ),
        (lambda m: ph.campbell(ph.Model("b", beams=[ph.Beam("b", section(), start=(0, 0, 0), end=(1, 0, 0))]), [1.0]),
         "no joint turns"),
        (lambda m: ph.plot.campbell(ph.campbell(m, [1.0])), "two or more speeds"),
    ],
)  # fmt: skip
def test_what_has_no_diagram_is_told(call, said):
    with pytest.raises(ph.InputError, match=said):
        call(rotor(1))


def test_modes_of_one_frequency_are_followed_whatever_shapes_were_found_of_them(monkeypatch):
    """A round blade at rest bends alike in both planes: any two shapes of these may be found, nearly the same ones."""
    found_by_solver = campbell.oscillations

    def nearly_parallel(small):
        values, shapes = found_by_solver(small)
        for k in range(len(values) - 1):
            if abs(values[k] - values[k + 1]) < 1e-8 * abs(values[k]):
                shapes[k : k + 2] = shapes[k] + shapes[k + 1], shapes[k] + 1.3 * shapes[k + 1]
        return values, shapes

    monkeypatch.setattr(campbell, "oscillations", nearly_parallel)
    found = ph.campbell(rotor(2), [0.0, 6.0, 12.0], modes=2)
    assert found.frequencies.shape == (3, 2)
    assert np.all(found.frequencies[:, 1] >= found.frequencies[:, 0])
    assert found.frequencies[-1, 1] > 12.0 > found.frequencies[-1, 0] > found.frequencies[0, 0]
    flap = found.names.index("blade-2.speed_z")
    assert np.all(abs(found.shapes[:, 0, flap]) < 1e-3)
    assert np.all(abs(found.shapes[:, 1, flap]) > 0.5)
