"""Lines that repeat are loops, in CUDA C of large kernels: less text, the same bits."""

import numpy as np
import pytest

import polhode as ph
from emulated import Emulated
from polhode.ensemble.study import study
from polhode.kernel import trace
from polhode.kernel.backends import cuda
from polhode.kernel.backends.rolled_text import rolled
from polhode.kernel.schedule import fused
from polhode.scalar import SharedFunction, Vec, iterate, maximum, sin, sqrt, where

N = 40


def shuffled(t, x, y):
    """Values taken backwards, one by one, and from all over."""
    turned = Vec([3 * x[N - 1 - k] + y[k] for k in range(N)])
    return Vec([*(a * t for a in turned), *(turned[7 * k % N] - x[k] for k in range(N))])


def largest(t, x, y):
    """Sums and extremes, each over what came before; a choice for each number."""
    total, most = 0.0, abs(x[0])
    for a, b in zip(x, y, strict=True):
        total, most = total + a * a / (b * b + t), maximum(most, abs(a - b))
    fits = sqrt(total) < most
    return Vec([total, most, *(where(fits, a, b * t) for a, b in zip(x, y, strict=True))])


def turning(t, x, y):
    """Sines with their cosines, and running sums of which each is a result."""
    found, total = [], t
    for a, b in zip(x, y, strict=True):
        total = total + sin(a) * b
        found.append(total)
    return Vec([*found, *(sin(a + t) for a in x)])


def crossed(t, x, y):
    """Two sums, of which each takes the other's last: no loop of one value before."""
    a, b = t, 2 * t
    for u, w in zip(x, y, strict=True):
        a, b = b * u + w, a - u
    return Vec([a, b])


def called(t, x, y):
    """A routine with many arguments and results, in a loop."""
    double = SharedFunction("double", lambda z: Vec([2 * a + 1 for a in z]))

    def step(z):
        return Vec([a - 0.1 * b for a, b in zip(z, double(z), strict=True)]), z[0] < 100.0

    return iterate(step, Vec([a * t + b for a, b in zip(x, y, strict=True)]), 5)


@pytest.mark.parametrize("function", [shuffled, largest, turning, crossed, called])
@pytest.mark.parametrize("real", ["double", "float"])
def test_loops_compute_the_bits_of_the_lines_they_stand_for(function, real, tmp_path, monkeypatch):
    graph = fused(trace(function, t=(), x=(N,), y=(N,)))
    rng = np.random.default_rng(3)
    given = {"t": rng.normal(size=5) + 2, "x": rng.normal(size=(5, N)), "y": rng.normal(size=(5, N))}
    monkeypatch.setattr(cuda, "SINCOS", cuda.SINCOS_CALLED)
    monkeypatch.setattr(cuda, "INLINED", 10**9)
    (tmp_path / "lines").mkdir()
    text, expected = cuda.cuda_source(graph, "kernel"), Emulated(graph, tmp_path / "lines", real)(5, **given)
    monkeypatch.setattr(cuda, "INLINED", 0)
    (tmp_path / "loops").mkdir()
    shorter, found = cuda.cuda_source(graph, "kernel"), Emulated(graph, tmp_path / "loops", real)(5, **given)
    np.testing.assert_array_equal(found, expected)
    assert "xk0" not in text
    assert len(shorter.split("\n")) < 0.6 * len(text.split("\n")) or function is crossed


def test_what_repeats_is_found_among_what_does_not():
    lines = ["const double x0 = a_t[0];", *(f"const double x{k + 1} = a_x[{2 * k}];" for k in range(30))]
    lines += [f"const double x{k + 31} = fma(x{k + 1}, x0, x{k + 30});" for k in range(30)]
    lines += ["a_y[5] = x60;", "a_y[6] = x3;"]
    assert rolled(lines) == [
        "const double x0 = a_t[0];",
        "double xr0[30];",
        "for (int xk0 = 0; xk0 < 30; xk0++) {",
        "    const double xl0 = a_x[0 + 2 * xk0];",
        "    xr0[xk0] = xl0;",
        "}",
        "double xr2;",
        "double xc3_0 = xr0[29];",
        "for (int xk0 = 0; xk0 < 30; xk0++) {",
        "    const double xl0 = fma(xr0[0 + 1 * xk0], x0, xc3_0);",
        "    xr2 = xl0;",
        "    xc3_0 = xl0;",
        "}",
        "a_y[5] = xr2;",
        "a_y[6] = xr0[2];",
    ]
    assert rolled(lines[:20]) == lines[:20]


def test_the_text_of_a_step_of_a_machine_with_many_loops_is_shorter(monkeypatch):
    model = ph.load("n-four-bar-40")
    path, value = next(iter(model.numbers().items()))
    batch = ph.StudyRunner(study(model, {path: ph.Grid([value])}, duration=0.1)).batch.compact
    graph = fused(batch.graph("advance"))
    counts = []
    for roll in (lambda lines: lines, rolled):
        monkeypatch.setattr(cuda, "rolled", roll)
        monkeypatch.setattr("polhode.kernel.backends.c.rolled", roll)
        counts.append(cuda.cuda_source(graph, "kernel").count("\n"))
    assert counts[1] < 0.7 * counts[0]
