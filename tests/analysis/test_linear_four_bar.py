"""A four-bar with springs, closed in space with redundant rows: its rest and frequency against one coordinate."""

import math

import mpmath
import numpy as np
import pytest

import polhode as ph
from analysis_cases import BASE, COUPLER, CRANK, MASSES, REST, ROCKER, SPRING, STIFFNESS, G, four_bar

mpmath.mp.dps = 30


def corners(a):
    """The ends of crank and coupler at the crank's angle a: the coupler's end where two circles meet, above."""
    x, z = CRANK * mpmath.cos(a), CRANK * mpmath.sin(a)
    dx, dz = BASE - x, -z
    d = mpmath.sqrt(dx * dx + dz * dz)
    along = (COUPLER**2 - ROCKER**2 + d * d) / (2 * d)
    up = mpmath.sqrt(COUPLER**2 - along**2)
    return (x, z), (x + (along * dx - up * dz) / d, z + (along * dz + up * dx) / d)


def angles(a):
    """Of the bars, from the horizontal: crank, coupler, rocker."""
    (x1, z1), (x2, z2) = corners(a)
    return a, mpmath.atan2(z2 - z1, x2 - x1), mpmath.atan2(z2, x2 - BASE)


def potential(a):
    (x1, z1), (_, z2) = corners(a)
    heights = z1 / 2, (z1 + z2) / 2, z2 / 2
    length = mpmath.sqrt((x1 - BASE) ** 2 + z1**2)  # from the crank's end to the rocker's hinge
    springs = STIFFNESS * (a - REST) ** 2 / 2 + SPRING * (length - mpmath.mpf("0.2")) ** 2 / 2
    return G * sum(m * h for m, h in zip(MASSES, heights, strict=True)) + springs


def inertia(a):
    """m(a) with kinetic energy m ȧ²/2."""
    total = MASSES[0] * CRANK**2 / 3
    x = [mpmath.diff(lambda a, i=i: (corners(a)[0][i] + corners(a)[1][i]) / 2, a) for i in range(2)]
    turn = mpmath.diff(lambda a: angles(a)[1], a)
    total += MASSES[1] * (x[0] ** 2 + x[1] ** 2 + COUPLER**2 / 12 * turn**2)
    return total + MASSES[2] * ROCKER**2 / 3 * mpmath.diff(lambda a: angles(a)[2], a) ** 2


@pytest.fixture(scope="module")
def rest():
    """Where the one coordinate rests, and its frequency there."""
    a = mpmath.findroot(lambda a: mpmath.diff(potential, a), 0.7)
    return a, mpmath.sqrt(mpmath.diff(potential, a, 2) / inertia(a))


def begin():
    _, coupler, rocker = (float(x) for x in angles(0.8))
    return [0.8, coupler - 0.8, rocker]


def test_the_rest_of_a_four_bar(rest):
    found = ph.equilibrium(four_bar(), begin(), stability=True)
    crank, coupler, rocker = (float(x) for x in angles(rest[0]))
    assert found.q == pytest.approx([crank, coupler - crank, rocker], abs=1e-11)
    assert found.residual < 1e-10
    assert found.missing < 1e-12
    assert found.stability == "marginal"


def test_the_frequency_of_a_four_bar(rest):
    model = four_bar()
    found = ph.equilibrium(model, begin())
    small = ph.linearize(model, found.q, found.v)
    assert len(small.A) == 2  # one freedom, whatever the redundant rows
    (mode,) = small.modes()
    assert mode.frequency == pytest.approx(float(rest[1]), rel=1e-11)
    crank, coupler, rocker = (mpmath.diff(lambda a, i=i: angles(a)[i], rest[0]) for i in range(3))
    shape = np.array([mode.shape[f"q.{name}"] for name in ("crank", "coupler", "rocker")])
    expected = np.array([float(crank), float(coupler - crank), float(rocker)])
    assert shape * expected[0] / shape[0] == pytest.approx(expected, rel=1e-10)


def test_a_force_at_the_crank_meets_the_inertia_of_all(rest):
    model = four_bar()
    found = ph.equilibrium(model, begin())
    M, C, K = ph.linearize(model, found.q, found.v).second_order(["crank"])
    assert M[0, 0] == pytest.approx(float(inertia(rest[0])), rel=1e-11)
    assert K[0, 0] == pytest.approx(float(mpmath.diff(potential, rest[0], 2)), rel=1e-10)
    assert abs(C[0, 0]) < 1e-10


def test_other_coordinates_tell_the_same_frequency():
    model = four_bar()
    found = ph.equilibrium(model, begin())
    small = ph.linearize(model, found.q, found.v)
    parts = [small.part([name]).eigenvalues() for name in ("crank", "coupler", "rocker")]
    for values in parts:
        assert np.sort(values.imag) == pytest.approx(np.sort(parts[0].imag), rel=1e-11)


def test_a_parallelogram_is_a_pendulum():
    """Two hanging bars of length l with a coupler between: ω² = (m/2 + M + m/2) g l / (2 m l²/3 + M l²)."""
    l, m, M, width = 0.4, 0.7, 1.1, 0.6
    bar = lambda name: ph.Body(name, m, (m * l**2 / 12, m * l**2 / 12, 0), center=(0, 0, -l / 2))
    hinge = lambda name, x: ph.Joint(name, "revolute", "world", name, axis=(0, 1, 0), position=(x, 0, 0))
    model = ph.Model(
        "swing",
        bodies=[bar("left"), bar("right"), ph.Body("seat", M, (0.01, 0.02, 0.02), center=(width / 2, 0, 0))],
        joints=[
            hinge("left", 0.0),
            hinge("right", width),
            ph.Joint("seat", "revolute", "left", "seat", axis=(0, 1, 0), position=(0, 0, -l)),
        ],
        constraints=[
            ph.Constraint(
                "pin",
                "spherical",
                {"body_a": "right", "position_a": (0, 0, -l), "body_b": "seat", "position_b": (width, 0, 0)},
            )
        ],
    )
    found = ph.equilibrium(model, [0.3, 0.3, -0.3])
    assert found.q == pytest.approx([0, 0, 0], abs=1e-10)
    (mode,) = ph.linearize(model, found.q, found.v).modes()
    assert mode.frequency == pytest.approx(math.sqrt((m + M) * G * l / (2 * m * l**2 / 3 + M * l**2)), rel=1e-12)


def bricard(stiffness):
    """Six bars round a cube, hinged across each other; one is the ground, and one row of the closure is redundant."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    bodies, joints = [], []
    for i, axis in enumerate(axes):
        rod = corners[i + 1] - corners[i]
        inertia = np.where(rod == 0, 0.0841667, 0.00166667)
        bodies.append(ph.Body(f"rod{i}", 1.0, inertia, center=rod / 2))
        place = corners[i] - (corners[i - 1] if i else 0)
        parent = f"rod{i - 1}" if i else "world"
        joints.append(ph.Joint(f"hinge{i}", "revolute", parent, f"rod{i}", axis, place, stiffness=stiffness))
    along_x = (math.sqrt(0.5), 0, math.sqrt(0.5), 0)
    ends = {"position_a": corners[5], "orientation_a": along_x, "orientation_b": along_x}
    close = ph.Constraint("close", "revolute", {"body_b": "rod4", "position_b": (0, 1, 0), **ends})
    return ph.Model("bricard", gravity=(0, 0, 0), bodies=bodies, joints=joints, constraints=[close])


def test_an_overconstrained_linkage_has_its_one_freedom():
    """Bricard's: hinges turn by ∓s in turn, so ω² = 5 k/(tᵀ M t); off the closure by 1e-8 it is the same."""
    model, t = bricard(3.0), np.array([1, -1, 1, -1, 1])
    M = ph.compile(model, target="python").mass_matrix(np.zeros(5))
    for off in (0.0, 1e-8):
        small = ph.linearize(model, off * np.cos(np.arange(5)), np.zeros(5))
        assert len(small.A) == 2
        (mode,) = small.modes()
        assert mode.frequency**2 == pytest.approx(3.0 * (t @ t) / (t @ M @ t), rel=1e-12 + 10 * off)
        shape = np.array([mode.shape[f"q.hinge{i}"] for i in range(5)])
        assert np.max(abs(shape / shape[0] - t)) < 1e-12 + 10 * off
