"""SciPy's Rotation is taken wherever a quaternion is."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from attitudes import apart, attitudes, scipys
from close import assert_close

R = Rotation.from_rotvec([0.3, -0.5, 0.8])
P = np.roll(R.as_quat(), 1)
BODY = ph.Body("b", 1.0, (1.0, 2.0, 2.5))


def test_quaternion_functions_take_it_alone_in_batches_and_lists():
    p = attitudes(6)
    many = scipys(p)
    assert_close(ph.quaternion.rotate(R, [1, 2, 3]), R.apply([1, 2, 3]))
    assert_close(ph.quaternion.rotate(many, [1, 2, 3]), many.apply([1, 2, 3]))
    assert apart(ph.quaternion.product(R, p), (R * many).as_quat()[:, [3, 0, 1, 2]]) < 1e-12
    angles = [(R.inv() * many[0]).magnitude(), (R * many[0]).magnitude()]
    assert_close(ph.quaternion.angle_between([R, R.inv()], many[0]), angles)
    assert_close(ph.quaternion.rate(R, [1, 2, 3]), ph.quaternion.rate(P, [1, 2, 3]))
    assert_close(ph.euler.from_quaternion("321", R), R.as_euler("ZYX"))
    assert_close(ph.quaternion.from_matrix(R), P)
    assert apart(ph.quaternion.mean(many[[0, 3]]), many[[0, 3]].mean().as_quat()[[3, 0, 1, 2]]) < 1e-9
    assert_close(ph.quaternion.AttitudeSpline([0, 1], [R, many[0]])(0.0), P)
    assert_close(ph.quaternion.wxyz_to_scipy(R).as_quat(), R.as_quat())


def test_joints_elements_and_starts_of_models_take_it():
    joint = ph.Joint("j", "spherical", "world", "b", orientation=R)
    assert_close(joint.orientation, P)
    bushing = ph.Bushing("s", "world", "b", stiffness=(1, 1, 1, 1, 1, 1), orientation_a=R)
    assert_close(bushing.orientation_a, P)
    model = ph.Model("m", bodies=[BODY], joints=[joint], start=ph.Start(q=R))
    assert_close(model.start.q, P)
    lock = ph.Constraint("w", "weld", body_a="world", body_b="b", orientation_a=R)
    assert_close(lock.data["orientation_a"], P)
    free = ph.Model("f", bodies=[BODY], joints=[ph.Joint("j", "free", "world", "b")], start=ph.Start(q=[1, 2, 3, R]))
    assert_close(free.start.q, [1, 2, 3, *P])
    assert_close(ph.Rotations(0.1, mean=R).mean, P)


def test_systems_and_runs_take_it_among_coordinates():
    free = ph.Model("f", bodies=[BODY], joints=[ph.Joint("j", "free", "world", "b")])
    system = ph.compile(free, target="python")
    q = [1.0, 2.0, 3.0, *P]
    assert_close(system.energy(q=[1, 2, 3, R], v=np.ones(6)), system.energy(q, np.ones(6)))
    run = ph.simulate(free, q=[1, 2, 3, R], v=np.zeros(6), duration=0.01, step=0.01, method="rk4", verify=False)
    assert_close(run["q"].values[0], q)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: ph.quaternion.skew(R), r"argument x: wrong shape.*\n.*\(4,\); expected \(\.\.\., 3\)"),
        (lambda: ph.Joint("j", "spherical", "world", "b", orientation=Rotation.random(2, rng=1)), "orientation"),
        (lambda: ph.Joint("j", "revolute", "world", "b", axis=R), "axis: wrong size"),
    ],
)
def test_where_no_quaternion_fits_it_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        given()


def test_scipy_is_not_loaded_by_us():
    code = "import polhode as ph, sys; ph.quaternion.rotate([1, 0, 0, 0], [1, 2, 3]); ph.Joint; ph.Start(q=[1.0]);"
    code += "print('scipy.spatial' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
