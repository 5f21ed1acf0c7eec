"""Kernels made ahead: what Python does for one is done while LLVM compiles another, and never twice."""

import sys
import threading

import numpy as np
import pytest

import polhode as ph
from polhode.kernel import ahead
from polhode.kernel.ahead import begun, made_ahead, make_next
from polhode.kernel.backends.llvm.compile import batch_kernel_for, kernel_for
from polhode.kernel.interrupt import interruptible
from polhode.kernel.trace import trace


@pytest.fixture(autouse=True)
def _empty_cache(monkeypatch, tmp_path):
    tmp_path.chmod(0o700)
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path))


def maker(name, made, make=kernel_for):
    """What asks for a kernel of a function of its own, and notes when that is traced."""

    def graph():
        made.append(name)
        return trace(lambda x: len(name) * x + x * x, x=())

    return lambda: make(f"test of ahead, {name}" if name else "", graph, name)


def compiling(*makers):
    """Wait for another thread that works until all of these are made."""
    made = threading.Event()
    with made_ahead(*makers, made.set):
        assert interruptible(lambda: made.wait(30.0), make_next)


def test_kernels_are_made_while_another_thread_works():
    made = []
    compiling(maker("steps", made), maker("samples", made, batch_kernel_for), maker("observed", made))
    assert made == ["steps", "samples", "observed"]
    assert float(maker("steps", made)()(3.0)[0]) == 5 * 3.0 + 9.0
    assert made == ["steps", "samples", "observed"], "it is on disk"


@pytest.mark.parametrize("make", [kernel_for, batch_kernel_for])
def test_a_kernel_that_is_asked_for_while_it_is_made_is_made_once(make):
    made = []
    steps = maker("steps", made, make)
    with made_ahead(*[steps] * 3):
        steps()
        while make_next():  # those that LLVM was too quick for
            pass
    assert made == ["steps"]


def test_a_kernel_that_cannot_be_made_is_told_to_whoever_asks_for_it():
    made = []

    def fails():
        made.append("wrong")
        raise ph.CompileError("wrong")

    compiling(fails, maker("right", made))
    assert made == ["wrong", "right"]
    with pytest.raises(ph.CompileError, match="wrong"):
        fails()


def test_a_kernel_without_a_name_is_not_made_ahead():
    made = []
    compiling(maker("", made), maker("", made, batch_kernel_for))
    assert not made
    assert maker("", made)()


def test_what_nobody_waited_for_is_forgotten_after_the_block():
    made = []
    with made_ahead(maker("steps", made)):
        pass
    assert not make_next()
    assert not made


def test_ctrl_c_while_a_kernel_is_made_ahead_ends_all():
    def interrupted():
        raise KeyboardInterrupt

    before, made = sys.getswitchinterval(), []
    with pytest.raises(KeyboardInterrupt):
        compiling(interrupted)
    assert (ahead._begun, ahead._ahead, sys.getswitchinterval()) == ([], [], before)
    assert maker("steps", made)()


def test_other_threads_make_kernels_as_they_are_asked_for():
    made, found = [], []

    def work():
        with made_ahead(maker("samples", made)), begun("steps"), begun("steps"):
            found.append(maker("steps", made)())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found
    assert made == ["steps"]


@pytest.mark.parametrize("name", ["pendulum", "four-bar"])
def test_a_run_whose_kernels_are_made_ahead_has_the_bits_of_one_that_finds_them(name):
    first = ph.simulate(ph.load(name))
    again = ph.simulate(ph.load(name))
    assert np.array_equal(first["q"], again["q"])
    assert np.array_equal(first["v"], again["v"])
