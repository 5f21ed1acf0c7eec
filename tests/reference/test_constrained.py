"""The published problems with constraints, at tolerance 1e-12; `make test-all` adds those that take minutes."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from run_cases import columns, table

TIGHT = 1e-12
LONG = pytest.mark.long


def run(model, times, tolerance=TIGHT, **options):
    found = ph.simulate(model, samples=times, duration=float(np.max(times)), tolerance=tolerance, **options)
    assert found.attrs["status"] == "finished", found.attrs["reason"]
    return found


# A01, a pendulum of one point


def as_rod(kind):
    """A ball that flies, or slides in a plane, at the end of a rod: its own turning takes no part."""
    ball = ph.Body("ball", 1.0, (0.1, 0.1, 0.1))
    rod = ph.Constraint("rod", "distance", {"body_b": "ball", "length": 1.0})
    joint = ph.Joint("j", kind, "world", "ball", orientation=(np.sqrt(0.5), np.sqrt(0.5), 0, 0))
    return ph.Model("A01", bodies=[ball], joints=[joint], constraints=[rod])


def as_hinge():
    """A point mass at the end of a weightless arm that flies, held at its other end by a hinge."""
    arm = ph.Body("ball", 1.0, (0, 0, 0), (1, 0, 0))
    hinge = ph.Constraint("hinge", "revolute", {"body_b": "ball", "axis_a": (0, 1, 0), "axis_b": (0, 1, 0)})
    joint = ph.Joint("j", "free", "world", "ball")
    return ph.Model("A01", bodies=[arm], joints=[joint], constraints=[hinge])


PENDULA = {
    "a rod to a free ball": (as_rod("free"), [-1, 0, 0, 1, 0, 0, 0]),
    "a rod to a ball in a plane": (as_rod("planar"), [-1, 0, 0]),
    "a hinge to a point that flies": (as_hinge(), [0, 0, 0, 0, 0, 0, 1]),
}


@pytest.mark.parametrize("way", PENDULA)
def test_A01_a_pendulum_held_by_a_constraint(way):
    model, q = PENDULA[way]
    rows = table("exact_pendulum")
    found = run(model, rows["t"], q=q, v=[0] * model.nv)
    at, turned = found["position"].values[1:, 0], found["quaternion"].values[1:, 0]
    if way.startswith("a hinge"):
        at = at + np.array([ph.quaternion.rotate(p, (1.0, 0, 0)) for p in turned])
    assert np.max(abs(at[:, [0, 2]] - columns(rows, "x", "y"))) < 1e-10


# A02, a row of four-bars


def one_coordinate(c, times):
    """B0 of the row by the equation of one coordinate, φ̈ = −c cos φ."""
    options = {"method": "DOP853", "rtol": 3e-14, "atol": 1e-14, "t_eval": times}
    phi, rate = solve_ivp(lambda t, y: [y[1], -c * np.cos(y[0])], (0, times[-1]), [np.pi / 2, -1.0], **options).y
    return np.stack([np.cos(phi), np.sin(phi), -np.sin(phi) * rate, np.cos(phi) * rate], axis=-1)


def of_rod(found):
    phi, rate = found["q"].values[:, 0], found["v"].values[:, 0]
    return np.stack([np.cos(phi), np.sin(phi), -np.sin(phi) * rate, np.cos(phi) * rate], axis=-1)


def whole(windows):
    """c of the equation of one coordinate, from the kinetic and the potential energy of the row."""
    swinging, carried = windows + 1, windows
    return 9.81 * (swinging / 2 + carried) / (swinging / 3 + carried)


def test_A02_two_windows_by_the_published_digits():
    rows = table("n_four_bar")
    found = of_rod(run(ph.load("n-four-bar-2"), rows["t"]))[1:]
    expected = columns(rows, "x", "y", "vx", "vy")
    assert np.max(abs(found - expected)) < 1e-8
    assert rows["c"][0] == pytest.approx(whole(2), rel=1e-14)
    assert np.max(abs(one_coordinate(whole(2), rows["t"]) - expected)) < 1e-10


def passes(windows, duration, tolerance=TIGHT, bound=1e-6):
    """A row runs through its singular configurations, on the motion of one coordinate.

    Rounding of the loops, ε, moves the rods apart by ε/s where the sine s of their angle is small, and that by
    ε ω/s² in velocity: a step that ends there costs 1e-9 of the energy, whatever the tolerance. So no tolerance gives
    an error below that, and 1e-7 is what the verdict is asked about.
    """
    times = np.linspace(0, duration, 11)
    found = run(ph.load(f"n-four-bar-{windows}"), times, tolerance, accuracy=1e-7, verify=True)
    assert found.attrs["verdict"] == "good"
    assert np.min(found["q"].values[:, 0]) < -1  # it went through the horizontal
    assert np.max(abs(of_rod(found) - one_coordinate(whole(windows), times))) < bound
    assert np.ptp(found["q"].values[:, : windows + 1], axis=1).max() < 1e-6


@pytest.mark.parametrize("tolerance", [1e-9, TIGHT])
@pytest.mark.parametrize("windows", [3, 8])
def test_A02_passes_its_singular_configuration(tolerance, windows):
    passes(windows, 3.0, tolerance)


@LONG
def test_A02_forty_windows_pass_their_singular_configuration():
    assert whole(40) == pytest.approx(11.059099378881987, rel=1e-14)
    # A companion at 1e-13 does not pass all ten: rounding grows with the windows. Which steps end near a singular
    # position is chance: tolerances from 0.8 to 2e-10 gave 1e-7 to 2e-6. The verdict vouches for 1e-7 of 1 + 5 rad/s
    # in angles and rates, and a rate of 5 rad/s makes of an error of the angle five times that of a velocity.
    passes(40, 10.0, 1e-10, bound=1e-7 * 6 * 6)


@LONG
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10])
def test_A02_forty_windows_pass_at_looser_tolerances(tolerance):
    times = np.linspace(0, 10, 3)
    found = run(ph.load("n-four-bar-40"), times, tolerance)
    assert np.max(abs(of_rod(found) - one_coordinate(whole(40), times))) < 1e4 * tolerance


# A03, Andrews' squeezer


def published(quantity):
    rows = np.genfromtxt(_lines("andrews"), delimiter=",", dtype=None, encoding="utf-8", skip_header=1)
    (row,) = [list(row)[1:] for row in rows if row[0] == quantity]
    return np.array([x for x in row if not np.isnan(x)])


def _lines(name):
    from run_cases import DATA

    return [line for line in (DATA / f"{name}.csv").read_text(encoding="utf-8").splitlines() if line[0] != "#"]


def loop_forces(model, q, v):
    """The forces of the three loops on K2 in space axes: ours stand in the axes of body a of each loop."""
    system = ph.compile(model)
    found, names = system.constraint_forces(q, v, np.zeros(7)).multipliers, system.constraint_names
    forces = []
    for loop, angle in (("E3", q[2]), ("E4", q[3] + q[4]), ("E6", q[5] + q[6])):
        x, y = found[[names.index(f"{loop}.{axis}") for axis in "xy"]]
        forces += [np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y]
    return np.array(forces)


def test_A03_andrews_squeezer_starts_as_published():
    model = ph.load("andrews")
    q, v = np.array(model.start.q), np.zeros(7)
    found = ph.compile(model).forward_dynamics(q, v, np.zeros(7))
    assert np.max(abs(found - published("vd0"))) < 1e-12 * np.max(abs(found)) * 100
    assert np.max(abs(loop_forces(model, q, v) + published("lambda0"))) < 1e-10  # M q̈ + Gᵀλ = f: the other sign


def test_A03_andrews_squeezer_moves_as_published():
    model = ph.load("andrews")
    found = run(model, [0.03])
    q, v = found["q"].values[-1], found["v"].values[-1]
    assert np.max(abs(q - published("q"))) < 1e-8
    assert np.max(abs(v / published("v") - 1)) < 1e-6
    vd = ph.compile(model).forward_dynamics(q, v, np.zeros(7))
    assert np.max(abs(vd / published("vd") - 1)) < 1e-5
    assert np.max(abs(loop_forces(model, q, v) / published("lambda") + 1)) < 1e-5
    total = found["kinetic_energy"].values + found["potential_energy"].values
    assert abs(total[-1] - total[0] - 0.033 * (q[0] - model.start.q[0])) < 1e-10  # the motor's work


# A04, Bricard's mechanism


def test_A04_bricards_mechanism():
    model, rows = ph.load("bricard"), table("bricard")
    found = run(model, rows["t"])
    assert found.attrs["verdict"] == "good"
    corner = found["position"].sel(body="rod4").values[1:]
    assert np.max(abs(corner - columns(rows, "x", "y", "z"))) < 1e-8
    # the closure: hinge turns alternate (−a, −b, …), (1 + cos A)(1 + cos B) = 1, A = π/2 + a, B = π/2 + b
    a, b = -found["q"].values[:, 0], -found["q"].values[:, 1]
    assert np.max(abs((1 - np.sin(a)) * (1 - np.sin(b)) - 1)) < 1e-10
    assert np.max(abs(found["q"].values[:, [2, 4]] - found["q"].values[:, [0]])) < 1e-10
    assert ph.diagnose(model, found["q"].values[-1], found["v"].values[-1]).redundant


@LONG
def test_A04_ten_seconds_keep_the_energy():
    found = run(ph.load("bricard"), np.linspace(0, 10, 101), 1e-10)
    total = found["kinetic_energy"].values + found["potential_energy"].values
    assert np.ptp(total) < 1e-8 * np.max(found["kinetic_energy"].values)


# A05, the flyball governor


@pytest.mark.parametrize("options", [{"tolerance": 1e-9}, {"method": "radau3", "step": 1e-3}], ids=["dop853", "radau3"])
def test_A05_the_flyball_governor(options):
    rows = table("flyball_governor")
    found = run(ph.load("flyball-governor"), rows["t"], **options)
    q, v = found["q"].values[1:], found["v"].values[1:]
    expected = columns(rows, "s", "angle", "rate")
    assert np.max(abs(np.stack([q[:, 1], q[:, 2], v[:, 0]], axis=-1) - expected)) < 1e-7
    assert np.max(abs(q[:, 2] - q[:, 3])) < 1e-10


# the rolling disk


R, G = 0.3, 9.81


def disk_state(lean, turn, spin, lean_rate=0.0):
    """A disk of radius R whose axis points `lean` above the horizontal; rates about the vertical and its own axis."""
    half = np.pi / 4 - lean / 2
    q = [0, 0, R * np.cos(lean), np.cos(half), np.sin(half), 0, 0]
    omega = np.array([-lean_rate, turn * np.cos(lean), spin])  # body axes: x forward, y up in its plane, z its axis
    up, axis = np.array([0, np.sin(lean), np.cos(lean)]), np.array([0, -np.cos(lean), np.sin(lean)])
    in_space = omega[0] * np.array([1.0, 0, 0]) + omega[1] * up + omega[2] * axis
    return np.array(q), np.array([*(R * np.cross(in_space, up)), *omega])


def lean_of(q):
    x, y = q.T[4:6]
    return np.arcsin(1 - 2 * (x * x + y * y))


@pytest.mark.parametrize(
    ("lean", "turn", "spin"), [(0.3, 2.0, -4.0), (-0.6, 1.0, 3.0), (1.1, -5.0, 0.5), (0.0, 3.0, 7.0)]
)
def test_the_lean_of_a_rolling_disk_obeys_its_equation(lean, turn, spin):
    """(A + m r²) θ̈ = (C + m r²) ω₃ Ω cos θ − A Ω² sin θ cos θ + m g r sin θ, A = m r²/4, C = m r²/2."""
    system = ph.compile(ph.load("rolling-disk"))
    q, v = disk_state(lean, turn, spin)
    assert np.max(abs(system.constraint_residuals(q, v).rates)) < 1e-14
    found = system.forward_dynamics(q, v, np.zeros(6))
    A, C, mr2 = R * R / 4, R * R / 2, R * R
    s, c = np.sin(lean), np.cos(lean)
    expected = ((C + mr2) * spin * turn * c - A * turn**2 * s * c + G * R * s) / (A + mr2)
    # ω₁ is a component in axes that spin with the disk: ω̇₁ = −θ̈ + σ ω₂, σ = ω₃ − Ω sin θ
    assert -found[3] + (spin - turn * s) * turn * c == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(("lean", "turn"), [(0.4, 3.0), (0.2, 1.0), (-0.5, -2.0)])
def test_a_steady_turn_of_a_rolling_disk_stays_steady(lean, turn):
    spin = (turn**2 * np.cos(lean) / 4 - G / R) * np.sin(lean) / (1.5 * turn * np.cos(lean))
    q, v = disk_state(lean, turn, spin)
    found = run(ph.load("rolling-disk"), np.linspace(0, 2, 9), q=q, v=v)
    assert np.max(abs(lean_of(found["q"].values) - lean)) < 1e-9
    assert np.max(abs(found["v"].values[:, 5] - spin)) < 1e-8
    assert np.max(abs(found["omega_world"].values[:, 0, 2] - found["omega_world"].values[0, 0, 2])) < 1e-8


def test_the_bundled_disk_starts_in_a_steady_turn():
    found = run(ph.load("rolling-disk"), np.linspace(0, 2, 9))
    assert np.max(abs(lean_of(found["q"].values) - 0.4)) < 1e-9


@pytest.mark.parametrize("part", [0.7, 0.95, 1.05, 1.5])
def test_an_upright_disk_is_stable_above_the_speed_of_the_equation(part):
    """ω₃² > g/(3r): a small lean swings with λ² = (m g r − C (C + m r²) ω₃²/A)/(A + m r²); below it grows."""
    spin = part * np.sqrt(G / (3 * R))
    A, C, mr2 = R * R / 4, R * R / 2, R * R
    square = (G * R - C * (C + mr2) * spin**2 / A) / (A + mr2)
    assert (square < 0) == (part > 1)
    small, times = 1e-6, np.linspace(0, 1.5, 7)
    q, v = disk_state(small, 0.0, spin)
    # with Ω = 0 at the start: A Ω' = C ω₃ θ' holds C ω₃ (θ − θ₀), so the lean swings about a lean of its own
    middle = small * (1 - G * R / (A + mr2) / square)
    expected = middle + (small - middle) * np.cosh(np.sqrt(complex(square)) * times).real
    found = lean_of(run(ph.load("rolling-disk"), times, q=q, v=v)["q"].values)
    assert np.max(abs(found - expected)) < 1e-5 * np.max(abs(expected))
