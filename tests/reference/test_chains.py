"""Published and independently computed motions and matrices of chains, through `ph.load` and `ph.compile`."""

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from polhode.bench.published import FOLDER as DATA


def follow(model, times):
    """q and v at times, by DOP853 on the forward dynamics of the model, from its own start."""
    system = ph.compile(model, target="python")
    nq = model.nq

    def rhs(t, x):
        q, v = x[:nq], x[nq:]
        return np.concatenate([system.rate(q, v), system.forward_dynamics(q, v, np.zeros(model.nv))])

    start = np.concatenate([model.start.q, model.start.v])
    found = solve_ivp(rhs, (0, times[-1]), start, "DOP853", t_eval=times, rtol=1e-13, atol=1e-13)
    return found.y[:nq].T, found.y[nq:].T


@pytest.mark.long
def test_double_pendulum_of_point_masses():
    table = np.genfromtxt(DATA / "double_pendulum.csv", delimiter=",", names=True, skip_header=2)
    bodies = [ph.Body(name, 1.0, (0, 0, 0), (0, 0, -1)) for name in ("upper", "lower")]
    joints = [
        ph.Joint("shoulder", "revolute", "world", "upper", axis=(0, -1, 0)),
        ph.Joint("elbow", "revolute", "upper", "lower", axis=(0, -1, 0), position=(0, 0, -1)),
    ]
    start = ph.Start(q=(np.pi / 2, 0.0), v=(0.0, 0.0))
    q, v = follow(ph.Model("double", bodies=bodies, joints=joints, start=start), table["t"])
    for k, row in enumerate(table):
        assert np.cumsum(q[k]) == pytest.approx([row["theta1"], row["theta2"]], abs=1e-10)
        assert np.cumsum(v[k]) == pytest.approx([row["rate1"], row["rate2"]], abs=1e-9)


def test_heavy_top_of_the_library_moves_as_published():
    table = np.genfromtxt(DATA / "heavy_top.csv", delimiter=",", names=True, skip_header=3)[:2]
    model = ph.load("heavy-top")
    q, v = follow(model, table["t"])
    for k, row in enumerate(table):
        assert q[k] == pytest.approx([row[f"q{i}"] for i in range(4)], abs=1e-10)
        assert v[k] == pytest.approx([row["w1"], row["w2"], row["w3"]], abs=1e-8)


def test_puma_has_the_published_mass_matrix_and_gravity():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        system = ph.compile(ph.load("puma-560"), target="python")
    q = [0, np.pi / 4, np.pi, 0, np.pi / 4, 0]
    M, g = system.mass_matrix(q), system.gravity(q)
    text = DATA / "puma_560.csv"
    table = np.genfromtxt(text, delimiter=",", names=True, skip_header=3, dtype=None, encoding="utf-8")
    published, torque = np.zeros((6, 6)), np.zeros(6)
    for quantity, i, j, value in table:
        if quantity == "M":
            published[int(i) - 1, int(j) - 1] = published[int(j) - 1, int(i) - 1] = value
        elif quantity == "gravity":
            torque[int(i) - 1] = value
    assert pytest.approx(published, abs=2e-10) == M
    assert g == pytest.approx(torque, abs=1e-9)
    assert torque[1] > 31


def test_energy_of_a_tumbling_chain_is_kept():
    model = ph.load("rprr")
    rng = np.random.default_rng(0)
    start = ph.Start(q=0.3 * rng.normal(size=model.nq), v=rng.normal(size=model.nv))
    model = ph.Model(model.name, model.gravity, model.bodies, model.joints, model.forces, start=start)
    q, v = follow(model, np.linspace(0, 1, 5))
    energies = [sum(ph.compile(model, target="python").energy(a, b)) for a, b in zip(q, v, strict=True)]
    assert np.ptp(energies) < 1e-9 * max(1.0, abs(energies[0]))
