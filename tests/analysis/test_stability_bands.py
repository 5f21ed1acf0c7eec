"""Bands of stability: their ends are located, and rounding makes none."""

import math

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from analysis_cases import G, disk, rolling
from polhode.analysis.stability_bands import EDGE, Band, bands
from polhode.cli import main
from polhode.show.plots.eigenvalues import stability_bands


def words(edges):
    """The stability at x, by (from, word)."""
    return lambda x: [word for start, word in edges if x >= start][-1]


KNOWN = [(0.0, "unstable"), (math.sqrt(2), "stable"), (math.pi, "marginal"), (4.0, "stable")]


@pytest.mark.parametrize("x", [np.linspace(0, 5, 8), np.linspace(0, 5, 51), [0.0, 3.5, 5.0]])
def test_ends_are_located_between_samples(x):
    """Also those of a band that lies between two samples, as the first stable one of the last case."""
    find = words(KNOWN)
    found = bands(x, [find(s) for s in x], find)
    assert [band.stability for band in found] == [word for _, word in KNOWN]
    assert np.allclose([band.start for band in found], [start for start, _ in KNOWN], rtol=0, atol=2 * 5 * EDGE)
    assert [band.end for band in found] == [*(band.start for band in found[1:]), 5.0]


def test_a_sample_on_the_end_of_a_band_is_no_band():
    find = lambda x: "unstable" if x < 2 else "stable" if x > 2 else "marginal"
    x = [0.0, 1.0, 2.0, 3.0]
    found = bands(x, [find(s) for s in x], find)
    assert [band.stability for band in found] == ["unstable", "stable"]
    assert found[0].end == found[1].start == pytest.approx(2, abs=1e-8)


def test_where_nothing_is_found_between_samples_the_band_ends_between_them():
    assert bands([0, 1, 2], ["stable", "stable", "unstable"], lambda x: None) == [
        Band(0, 1.5, "stable"),
        Band(1.5, 2, "unstable"),
    ]
    assert bands([0, 1], ["stable", "stable"]) == [Band(0, 1, "stable")]
    noise = np.random.default_rng(0)
    many = bands([0, 1], ["stable", "unstable"], lambda x: str(noise.choice(["stable", "marginal", "unstable"])))
    assert (many[0].start, many[-1].end) == (0, 1)


THIN, RADIUS = disk(1.0, 0.3, 0.25 * 0.09, 0.5 * 0.09), 0.3


def upright(speed):
    return ph.linearize(THIN, *rolling(RADIUS, 0.0, 0.0, speed / RADIUS))


@pytest.mark.parametrize("find", [None, upright])
def test_a_coin_that_rolls_upright_is_unstable_then_marginal(find):
    """The critical speed is √(g r/3); the square of its eigenvalue passes 0 there, its real part stays."""
    speeds = np.linspace(0.05, 5, 45)
    unstable, marginal = stability_bands(speeds, [upright(v) for v in speeds], find)
    assert (unstable.stability, marginal.stability) == ("unstable", "marginal")
    assert marginal.start == unstable.end == pytest.approx(math.sqrt(G * RADIUS / 3), abs=1e-7)


def drawn(tmp_path, *args):
    found = CliRunner().invoke(main, ["modes", *args, "--out", str(tmp_path / "d.svg")])
    assert found.exit_code == 0, found.output
    return found.output, (tmp_path / "d.svg").read_text(encoding="utf-8")


def test_a_disk_in_circles_is_marginal_at_all_speeds(tmp_path):
    told, _ = drawn(tmp_path, "rolling-disk", "--speed", "1:5:0.5")
    assert told.splitlines()[:2] == ["stable: at none of these speeds", "marginal: 1.000 … 5.000 m/s"]
    assert "unstable" not in told


def test_a_bicycle_is_stable_between_two_speeds(tmp_path):
    told, _ = drawn(tmp_path, "bicycle", "--speed", "3.5:6.5:1")
    assert told.splitlines()[:2] == ["stable: 4.292 … 6.024 m/s", "unstable: 3.500 … 4.292 m/s, 6.024 … 6.500 m/s"]
