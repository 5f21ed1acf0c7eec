"""What is drawn follows its distribution, and run i has the same numbers whoever asks."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.ensemble.design import DESIGNS, Design, cells
from polhode.ensemble.distributions import distribution

N = 4096
LIKELY = 1e-3
"""A test of a true hypothesis falls below this once in a thousand seeds; the seeds are fixed."""


def draws(given, kind="random", seed=11):
    rule = distribution("here", given)
    return rule.values(Design(kind, seed, N, rule.uniforms).uniforms(0, N)).reshape(N, -1)


KNOWN = {
    "normal": (ph.Normal(2.0, 0.5), stats.norm(2.0, 0.5)),
    "uniform": (ph.Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    "log-uniform": (ph.LogUniform(0.01, 10.0), stats.loguniform(0.01, 10.0)),
    "scipy": (stats.weibull_min(1.5, scale=2.0), stats.weibull_min(1.5, scale=2.0)),
}


@pytest.mark.parametrize("kind", DESIGNS)
@pytest.mark.parametrize("name", KNOWN)
def test_known_distributions_are_recovered(name, kind):
    given, known = KNOWN[name]
    x = draws(given, kind)[:, 0]
    mean, variance = known.stats("mv")
    assert abs(x.mean() - mean) < 3.3 * np.sqrt(variance / N)
    fourth = known.expect(lambda y: (y - mean) ** 4)
    assert abs(x.var(ddof=1) - variance) < 3.3 * np.sqrt((fourth - variance**2) / N)
    assert stats.kstest(x, known.cdf).pvalue > LIKELY


@pytest.mark.parametrize("kind", DESIGNS)
def test_rotations_are_uniform_on_the_group(kind):
    p = draws(ph.Rotations(), kind)
    assert np.allclose(np.linalg.norm(p, axis=1), 1, rtol=0, atol=1e-15)
    # of Haar's measure: a turned axis is uniform on the sphere, so each component of it is uniform on (−1, 1) ...
    turned = Rotation.from_quat(p, scalar_first=True).as_matrix()
    for i in range(3):
        for j in range(3):
            assert stats.kstest(turned[:, i, j], stats.uniform(-1, 2).cdf).pvalue > LIKELY
    # ... and the angle of turn has the density (1 − cos θ)/π
    angle = 2 * np.arccos(np.clip(abs(p[:, 0]), 0, 1))
    assert stats.kstest(angle, lambda x: (x - np.sin(x)) / np.pi).pvalue > LIKELY
    # turned by any fixed rotation they are distributed alike
    again = (Rotation.from_euler("xyz", [0.3, 1.0, -2.0]) * Rotation.from_matrix(turned)).as_matrix()
    assert abs(again.mean(axis=0)).max() < 4 * np.sqrt(1 / 3 / N)


def test_rotations_near_one_spread_about_it():
    mean = ph.quaternion.from_axis_angle((1, 2, 2), 1.2)
    p = draws(ph.Rotations(0.1, tuple(mean)))
    away = (Rotation.from_quat(mean, scalar_first=True).inv() * Rotation.from_quat(p, scalar_first=True)).as_rotvec()
    for k in range(3):
        assert stats.kstest(away[:, k], stats.norm(0, 0.1).cdf).pvalue > LIKELY


def test_listed_values_come_equally_often_and_rows_stay_together():
    x = draws(ph.Listed([[1, 10], [2, 20], [3, 30]]))
    assert np.array_equal(x[:, 1], 10 * x[:, 0])
    counts = np.unique(x[:, 0], return_counts=True)[1]
    assert stats.chisquare(counts).pvalue > LIKELY


@pytest.mark.parametrize("kind", DESIGNS)
def test_a_run_has_its_numbers_whoever_asks(kind):
    design = Design(kind, 5, N, 7)
    whole = design.uniforms(0, N)
    assert ((whole > 0) & (whole < 1)).all()
    for first, last in ((0, 1), (17, 18), (1000, 1029), (N - 1, N)):
        assert np.array_equal(Design(kind, 5, N, 7).uniforms(first, last), whole[first:last])
    assert not np.array_equal(Design(kind, 6, N, 7).uniforms(0, N), whole)
    assert abs(np.corrcoef(whole, rowvar=False) - np.eye(7)).max() < 4 / np.sqrt(N)
    assert abs(np.corrcoef(whole[:-1, 0], whole[1:, 0])[0, 1]) < (4 / np.sqrt(N) if kind == "random" else 1)


def test_hypercubes_and_sobol_points_fill_the_axes_evenly():
    for kind in ("latin", "sobol"):
        places = np.sort((Design(kind, 3, N, 4).uniforms(0, N) * N).astype(int), axis=0)
        assert np.array_equal(places, np.tile(np.arange(N)[:, None], (1, 4)))


def test_grids_are_walked_in_every_combination():
    found = cells([2, 3], 0, 12)
    assert found[:6].tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    assert np.array_equal(found[6:], found[:6])
    assert np.array_equal(cells([2, 3], 4, 9), found[4:9])


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: ph.Normal(0, 0), "no spread"),
        (lambda: ph.Normal(0, float("nan")), "not a number"),
        (lambda: ph.Uniform(1, 1), "lower bound first"),
        (lambda: ph.LogUniform(0, 1), "0 < low < high"),
        (lambda: ph.Rotations(mean=(1, 1, 0, 0)), "unit quaternion"),
        (lambda: ph.Rotations(-1.0), "above 0"),
        (lambda: ph.Listed([]), "at least one"),
        (lambda: ph.Grid([[1, 2], [3]]), "rows"),
        (lambda: distribution("here", [1, 2]), "ph.Listed"),
        (lambda: distribution("here", "normal"), "not a distribution"),
        (lambda: Design("halton", 0, 10, 1), "no such design"),
        (lambda: Design("random", -1, 10, 1), "not a seed"),
    ],
)
def test_what_is_no_distribution_is_refused(make, told):
    with pytest.raises(ph.InputError, match=told):
        make()
