"""The loop over a batch: results written past the caches have the bits of those written plainly."""

import numpy as np
import pytest

from polhode.kernel import trace
from polhode.kernel.backends.llvm import driver, parts
from polhode.kernel.backends.llvm.compile import build


def results(m):
    """m results of four numbers, some of them constants."""
    return lambda x: [0.0 if k % 5 == 3 else x[k % 4] * (k + 1) + x[(k + 1) % 4] for k in range(m)]


def array_at(shape, offset):
    """An array that begins so many bytes after a line."""
    count = int(np.prod(shape))
    memory = np.zeros(8 * count + 256, np.uint8)
    first = -memory.ctypes.data % 64 + offset
    return memory[first : first + 8 * count].view(float).reshape(shape)


@pytest.mark.parametrize(
    ("m", "width", "single"),
    [(7, 8, True), (32, 8, True), (45, 8, False), (50, 8, True), (50, 4, False), (45, 4, True), (71, 2, True)],
)
def test_results_past_the_caches_have_the_bits_of_plain_ones(monkeypatch, m, width, single):
    """By the kernel itself (rows of four lines and more) and by blocks, wherever an array begins, for any rest."""
    monkeypatch.setattr(parts, "MOST_RESULTS", 20)
    monkeypatch.setattr(driver, "BLOCK", 2000)
    graph = trace(results(m), x=(4,))
    assert parts.goes_past(graph, width) == (m >= 4 * width and m > 20)
    plain = build(graph, width, single=single)
    monkeypatch.setattr(driver, "LARGE", 1)
    past = build(graph, width, single=single)
    assert "nontemporal" in past.source
    for n in (1, width, 2 * width, 2 * width + 3, 117):
        x = np.random.default_rng(n).normal(size=(n, 4))
        (expected,) = plain(x)
        for offset in (0, 8, 16, 32):
            out = array_at((n, m), offset)
            past.ufunc(x, out=out)
            assert np.array_equal(out, expected)
            assert np.array_equal(out.view(np.int64), expected.view(np.int64))


def test_several_results_go_past_the_caches_together(monkeypatch):
    monkeypatch.setattr(parts, "MOST_RESULTS", 20)
    graph = trace(lambda x: (results(45)(x), results(3)(x)), x=(4,))
    plain = build(graph)
    monkeypatch.setattr(driver, "LARGE", 1)
    past = build(graph)
    x = np.random.default_rng(0).normal(size=(101, 4))
    for a in (0, 16):
        for b in (0, 16, 24):
            outs = array_at((101, 45), a), array_at((101, 3), b)
            past.ufunc(x, out=outs)
            for found, expected in zip(outs, plain(x), strict=True):
                assert np.array_equal(found, expected)


def test_rows_that_lie_apart_are_written_plainly(monkeypatch):
    monkeypatch.setattr(driver, "LARGE", 1)
    kernel = build(trace(results(9), x=(4,)))
    x, out = np.ones((64, 4)), np.full((64, 12), -7.0)
    kernel.ufunc(x, out=out[:, :9])
    assert np.array_equal(out[:, :9], kernel(x)[0])
    assert (out[:, 9:] == -7).all()
