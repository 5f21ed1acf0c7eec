"""Linear equations of small motions: of trees, under constraints, and what is told of them."""

import math

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from analysis_cases import G, disk, four_bar, furthest, governor, rolling, top
from polhode.analysis.equations_at_state import equations_at_state
from polhode.analysis.symmetry import symmetries
from polhode.cli import main


@pytest.mark.parametrize("name", ["double-pendulum", "manipulator", "rprr", "cart-pole", "spacecraft", "heavy-top"])
def test_of_a_tree_they_are_the_derivatives_of_forward_dynamics(name):
    """S = [−ad_v, I; F_q, F_v], with nothing left out, steady or not."""
    model = ph.load(name)
    q, v = np.array(model.start.q), 0.3 * np.cos(np.arange(model.nv))
    n, tau = model.nv, 0.1 * np.sin(1.0 + np.arange(model.nv))
    small = ph.linearize(model, q, v, tau=tau, generator=np.zeros((n, n)))
    slopes = ph.compile(model, target="python").forward_dynamics_derivatives(q, v, tau)
    assert np.array_equal(small.W, np.eye(2 * n))
    assert np.array_equal(small.A, small.S)
    size = max(float(np.max(abs(x))) for x in slopes)
    assert np.max(abs(small.S[n:] - np.hstack([slopes.dq, slopes.dv]))) < 1e-12 * size
    assert np.max(abs(small.B[n:] - slopes.dtau)) < 1e-12 * size
    assert not np.any(small.B[:n])
    assert np.array_equal(small.S[:n, n:], np.eye(n))


def test_quaternions_turn_their_perturbations():
    """δθ̇ = δω − ω × δθ."""
    omega = np.array([0.3, -0.2, 0.9])
    small = ph.linearize(top(), [1, 0, 0, 0], omega, generator=np.zeros((3, 3)))
    for d in np.eye(3):
        assert small.S[:3, :3] @ d == pytest.approx(-np.cross(omega, d), abs=1e-15)


def test_a_state_that_does_not_stay_is_said_to():
    small = ph.linearize(ph.load("pendulum"), [0.5], [0.0])
    assert not small.is_steady
    assert abs(small.drift[0]) > 1
    assert "Not a steady motion" in str(small)


def test_inputs_and_outputs_by_name():
    model = ph.load("double-pendulum")
    height = lambda q, v: -ph.cos(q[0]) - ph.cos(q[0] + q[1])
    small = ph.linearize(model, [0.2, 0], [0, 0], inputs=["elbow"], outputs=["q.hinge", "v.elbow", "elbow", height])
    assert small.inputs == ("elbow",)
    assert small.B.shape == (4, 1)
    assert small.outputs == ("q.hinge", "v.elbow", "elbow", "<lambda>")
    expected = [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [2 * math.sin(0.2), math.sin(0.2), 0, 0]]
    assert np.max(abs(small.C - expected)) < 1e-15
    assert np.array_equal(ph.linearize(model, [0, 0], [0, 0]).C, np.eye(4))


def test_a_rolling_wheel_has_outputs_in_its_states():
    q, v = rolling(0.4, 0.0, 0.0, 2.0)
    small = ph.linearize(disk(), q, v, outputs=["q.disk.speed_z", "v.disk.speed_y", "v.disk.omega_y"])
    assert small.C.shape == (3, 8)
    assert np.max(abs(small.C[0])) < 1e-15  # upright, the height does not change to first order


def test_what_a_chaplygin_sleigh_does():
    """Blade behind the mass centre by −a: λ = −m a v/(J + m a²) and zeros; ahead it is unstable."""
    m, J, a, speed = 2.0, 0.3, 0.25, 1.7
    for side in (1, -1):
        sleigh = ph.Model(
            "sleigh",
            bodies=[ph.Body("sleigh", m, (0.2, 0.2, J), center=(side * a, 0, 0))],
            joints=[ph.Joint("ice", "planar", "world", "sleigh")],
            constraints=[ph.Constraint("blade", "knife-edge", {"body_b": "sleigh"})],
        )
        small = ph.linearize(sleigh, [0, 0, 0], [speed, 0, 0])
        assert small.is_steady
        rate = -side * m * a * speed / (J + m * a**2)
        assert furthest(small.eigenvalues(all=True), [rate, 0, 0, 0, 0]) < 1e-13
        assert small.stability == ("stable" if side > 0 else "unstable")


def test_prescribed_and_coupled_joints_are_no_freedoms():
    model = ph.load("double-pendulum")
    mimic = ph.Constraint("gear", "mimic", {"joint": "elbow", "source": "hinge", "multiplier": 0.5})
    geared = ph.Model("geared", gravity=model.gravity, bodies=model.bodies, joints=model.joints, constraints=[mimic])
    (mode,) = ph.linearize(geared, [0, 0], [0, 0]).modes()
    reach = np.array([1, 0.5])
    M, K = np.array([[5, 2], [2, 1]]), G * np.array([[3, 1], [1, 1]])
    assert mode.frequency**2 == pytest.approx((reach @ K @ reach) / (reach @ M @ reach), rel=1e-13)
    assert mode.shape["q.elbow"] / mode.shape["q.hinge"] == pytest.approx(0.5, rel=1e-13)


def test_symmetries_are_those_of_the_machine():
    def names(model, q=None):
        q = np.array(model.start.q if q is None and model.start else q if q is not None else [0.0] * model.nq)
        found = symmetries(equations_at_state(model), q, np.zeros(model.nv), np.zeros(model.nv))
        return {symmetry.name for symmetry in found}

    assert names(ph.load("pendulum")) == set()
    assert names(governor()) == {"shaft"}  # the turn of everything is that of the shaft
    assert names(ph.load("cart-pole")) == {"rail"}
    assert names(top(), [1, 0, 0, 0]) == {"spin of top about z", "turn about the vertical"}
    moves = {f"flight.speed_{x}" for x in "xyz"} | {f"turn about {x}" for x in "xyz"}
    assert names(ph.load("free-body")) == moves
    assert names(disk(), rolling(0.4, 0.2, 0, 0)[0]) == {
        "disk.speed_x", "disk.speed_y", "disk.speed_z", "spin of disk about z", "turn about the vertical",
    }  # fmt: skip
    tilted = ph.Model("tilted", gravity=(1, 0, -9), bodies=disk().bodies, joints=disk().joints)
    assert "turn about the vertical" in names(tilted, rolling(0.4, 0.2, 0, 0)[0])


def test_two_bodies_held_together_move_as_one():
    """Two free bodies welded by a constraint: six zeros of place, and the spin of a body about its middle axis."""
    bodies = [ph.Body("a", 1.0, (0.1, 0.2, 0.25)), ph.Body("b", 1.0, (0.1, 0.2, 0.25))]
    joints = [ph.Joint("a", "free", "world", "a"), ph.Joint("b", "free", "world", "b")]
    weld = ph.Constraint("weld", "weld", {"body_a": "a", "body_b": "b"})
    model = ph.Model("pair", gravity=(0, 0, 0), bodies=bodies, joints=joints, constraints=[weld])
    rest, spin = [0, 0, 0, 1, 0, 0, 0], np.array([0, 0, 0, 0, 3.0, 0])
    small = ph.linearize(model, [*rest, *rest], [*spin, *spin])
    rate = 3.0 * math.sqrt((0.2 - 0.1) * (0.25 - 0.2) / (0.1 * 0.25))
    values = small.eigenvalues(all=True)
    assert len(values) == 12
    assert np.min(abs(values - rate)) < 1e-12
    assert np.min(abs(values + rate)) < 1e-12
    assert small.stability == "unstable"


def test_massless_links_are_fine_where_the_motion_is_unique():
    """A point mass on a free weightless frame that a constraint carries along: a pendulum all the same."""
    rod = ph.Body("rod", 1.0, (0, 0, 0), center=(0, 0, -0.5))
    light = ph.Body("light", 1e-30, (0, 0, 0), physical=True)
    model = ph.Model(
        "light",
        bodies=[rod, light],
        joints=[
            ph.Joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)),
            ph.Joint("idle", "revolute", "world", "light", axis=(0, 1, 0)),
        ],
        constraints=[ph.Constraint("gear", "gear", {"joint": "idle", "source": "hinge"})],
    )
    (mode,) = ph.linearize(model, [0, 0], [0, 0]).modes()
    assert mode.frequency == pytest.approx(math.sqrt(G / 0.5), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ph.linearize(ph.load("pendulum"), [0, 0]), "linearize, q: wrong shape"),
        (lambda: ph.linearize(ph.load("pendulum"), [math.nan]), "not finite"),
        (lambda: ph.linearize(ph.load("pendulum"), tau=[1, 2]), "linearize, tau: wrong shape"),
        (lambda: ph.linearize(ph.load("pendulum"), tau={"hing": 1}), "Did you mean 'hinge'"),
        (lambda: ph.linearize(ph.load("pendulum"), inputs=["hing"]), "linearize, inputs: no such name"),
        (lambda: ph.linearize(ph.load("pendulum"), outputs=["height"]), "linearize, outputs: no such name"),
        (lambda: ph.linearize(disk(), [0, 0, 1, 1, 0, 0, 0]), r"constraint 'ground"),
        (lambda: ph.linearize(four_bar()), "constraint 'pin"),
        (lambda: ph.linearize(ph.load("pendulum")).part(["elbow"]), "part: no such name"),
        (lambda: ph.linearize(ph.load("double-pendulum"), [0, 0]).part(["hinge"]), "others enter"),
        (lambda: ph.linearize(ph.load("pendulum"), [0], inputs=[]).second_order(["hinge"]), "no such name"),
        (lambda: ph.equilibrium(ph.load("free-body")), None),
        (lambda: ph.equilibrium(ph.load("quadruped")), "no state of rest found.\n  found an acceleration 9.81 of"),
        (lambda: ph.equilibrium(ph.load("pendulum"), constant=["q.hing"]), "Did you mean 'q.hinge'"),
        (lambda: ph.equilibrium(ph.load("pendulum"), constant={"q.hinge": "x"}), "not a number"),
        (lambda: ph.steady_motion(ph.load("pendulum"), {"hinge": 1.0}), "'hinge' off by"),
        (lambda: ph.steady_motion(ph.load("bicycle"), ["speed"]), "no such name"),
        (lambda: ph.equilibrium(ph.Model("empty")), "nothing moves"),
    ],
)
def test_what_cannot_be_done_is_told(call, words):
    if words is None:
        assert call().residual < 1e-12
        return
    with pytest.raises((ph.InputError, ph.ModelError), match=words):
        call()


def test_constraints_that_cannot_be_met_are_told():
    far = ph.Constraint("rod", "distance", {"body_b": "rod", "position_b": (0, 0, -1), "length": 9.0})
    pendulum = ph.load("pendulum")
    model = ph.Model("torn", bodies=pendulum.bodies, joints=pendulum.joints, constraints=[far])
    with pytest.raises(ph.InputError, match="constraints: cannot be met"):
        ph.equilibrium(model, [0.3])


def test_the_table_tells_frequency_damping_and_shape():
    text = str(ph.linearize(ph.load("double-pendulum"), [0, 0], [0, 0]))
    for word in ("double-pendulum: 4 states, marginal", "2.397", "0.3815", "hinge 1, elbow 0.414", "stays"):
        assert word in text


def run(*args):
    return CliRunner().invoke(main, args)


def test_modes_prints_the_table_of_a_bicycle():
    found = run("modes", "bicycle", "--speed", "5")
    assert found.exit_code == 0, found.output
    for word in ("frame.speed_x 5", "stable", "-0.775342 ± 4.46487 i", "-14.0784", "-0.322866", "steer 1"):
        assert word in found.output


def test_modes_speaks_json_and_takes_several_speeds():
    import json

    found = json.loads(run("modes", "bicycle", "--speed", "0:10:5", "--json").stdout)
    assert found["model"] == "bicycle"
    assert [entry["stability"] for entry in found["modes"]] == ["unstable", "stable", "unstable"]
    assert [entry["v"][0] for entry in found["modes"]] == pytest.approx([0, 5, 10])
    assert len(found["modes"][1]["eigenvalues"]) == 10
    assert found["modes"][1]["modes"][1]["shape"]["q.frame.omega_x"] == pytest.approx([1, 0])


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["pendulum"], ["At rest", "3.836"]),
        (["heavy-top"], ["Steady motion", "spin of top about y", "5.385"]),
        (["pendulum", "--set", "hinge.q=3.1"], ["unstable"]),
        (["pendulum", "--set", "hinge.v=1"], ["At rest", "marginal"]),
        (["double-pendulum", "--rest"], ["2.397"]),
        (["cart-pole", "--hold", "q.rail=0.5"], ["unstable"]),
    ],
)
def test_modes_finds_rest_and_steady_motion(args, words):
    found = run("modes", *args)
    assert found.exit_code == 0, found.output
    for word in words:
        assert word in found.output


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["pendulum", "--speed", "2"], "nothing moves ahead"),
        (["cart-pole", "--speed", "2"], "linear velocities that are 0"),
        (["quadruped"], "no state of rest found"),
        (["bicycle", "--hold", "stear=0"], "Did you mean 'steer'"),
        (["bicycle", "--hold", "steer"], "not an assignment"),
        (["bicycle", "--speed", "fast"], "is not a speed"),
        (["bicycl"], "Did you mean 'bicycle'"),
        (["pendulum", "--hold", "hinge=1", "--set", "hinge.v=1"], "For a state of rest: polhode modes … --rest"),
    ],
)
def test_modes_tells_what_is_wrong(args, words):
    found = run("modes", *args)
    assert found.exit_code == 2
    assert words in found.output


def test_modes_of_a_file_without_a_start(tmp_path):
    path = tmp_path / "cart.yaml"
    path.write_text(
        "name: cart\nbodies: {cart: {mass: 1, inertia: [1, 1, 1]}}\n"
        "joints: {rail: {type: prismatic, parent: world, child: cart, axis: [1, 0, 0], stiffness: 4}}\n",
        encoding="utf-8",
    )
    assert "0 ± 2 i" in run("modes", str(path)).output
    found = run("modes", str(path), "--speed", "3")
    assert found.exit_code == 2
    assert "no start to take a speed from" in found.output
