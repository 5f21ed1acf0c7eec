"""Calls of a compiled System: any batch, any layout, any number of threads; many Systems at once."""

import os
import pickle
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from machines import random_model, random_q
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import build, lanes
from polhode.kernel.backends.llvm.module import module_text
from polhode.kernel.backends.llvm.threads import SMALLEST, block_bounds
from polhode.system.system import System

MODEL = random_model(["revolute", "spherical", "prismatic"], 2)
WIDTH = lanes()


@pytest.fixture(scope="module")
def system():
    return ph.compile(MODEL)


@pytest.fixture(scope="module")
def oracle():
    return ph.compile(MODEL, target="python")


def states(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return random_q(MODEL, rng, shape), rng.normal(size=(*shape, MODEL.nv)), rng.normal(size=(*shape, MODEL.nv))


def test_the_processor_is_the_default_target(system):
    assert system.target == "cpu"
    assert "define" in system.source("bias")


# batches


@pytest.mark.parametrize("size", sorted({0, 1, 2, 7, WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH + 1}))
def test_a_batch_of_any_size_is_its_states_one_by_one(system, oracle, size):
    q, v, w = states(size)
    found = system.forward_dynamics(q, v, w)
    assert found.shape == (size, MODEL.nv)
    for k in range(size):
        assert np.array_equal(found[k], system.forward_dynamics(q[k], v[k], w[k]))
    assert_close(found, oracle.forward_dynamics(q, v, w), condition=1e3)
    out = tuple(np.empty((size, 3)) for _ in range(2))
    assert system.momentum(q, v, out=out).linear is out[0]


@pytest.mark.parametrize("shapes", [((4, 3), (3,)), ((4, 1), (1, 3)), ((), (4, 3)), ((2, 1, 3), (5, 1)), ((0,), ())])
@pytest.mark.parametrize("threads", [1, 2])
def test_batch_axes_broadcast(system, oracle, shapes, threads):
    q, v = states(*shapes[0])[0], states(*shapes[1])[1]
    expected = oracle.energy(q, v)
    for found in (system.energy(q, v, threads=threads), system.energy(q, v)):
        for a, b in zip(found, expected, strict=True):
            assert a.shape == np.broadcast_shapes(*shapes)
            assert_close(a, b, condition=1e3)


def test_any_kind_and_layout_of_real_numbers_is_taken(system):
    rng = np.random.default_rng(0)
    q, v = (rng.integers(-3, 4, size=(6, 4, n)).astype(float) for n in (MODEL.nq, MODEL.nv))
    expected = system.coriolis(q, v)
    kinds = [np.float32, np.float16, int, np.int8, np.longdouble, ">f8", ">f4", ">i4", object]
    layouts = [
        np.asfortranarray(v),
        np.ascontiguousarray(v[::-1])[::-1],
        np.ascontiguousarray(v[..., ::-1])[..., ::-1],
        np.repeat(v, 2, axis=2)[..., ::2],
        np.moveaxis(np.ascontiguousarray(np.moveaxis(v, 0, 1)), 1, 0),
        np.frombuffer(b"x" + v.tobytes(), np.uint8)[1:].view(float).reshape(v.shape),
        v.tolist(),
        [[tuple(row) for row in rows] for rows in v],
        *(v.astype(kind) for kind in kinds if kind is not object),
    ]
    for given in layouts:
        for _ in range(2):  # first and later calls
            assert np.array_equal(system.coriolis(q, given), expected)
        assert np.array_equal(system.coriolis(q, given, threads=2), expected)
    row = np.broadcast_to(v[0, 0], v.shape)
    assert np.array_equal(system.coriolis(q, row), system.coriolis(q, v[0, 0]))
    column = np.broadcast_to(v[..., :1], v.shape)
    assert np.array_equal(system.coriolis(q, column), system.coriolis(q, column.copy()))
    assert np.array_equal(system.bias(q, v, t=np.zeros((6, 4))), system.bias(q, v))


def test_what_is_no_row_of_real_numbers_is_refused(system):
    q, v, _ = states()
    for wrong, text in (
        (v.astype(complex), "complex"),
        (np.float64(1.0), "wrong shape"),
        (1.0, "wrong shape"),
        (v[:2], "wrong shape"),
        (v[:, None], "wrong shape"),
        ("abc", "not an array of numbers"),
        (None, "not an array of numbers"),
        ([[1.0], [1.0, 2.0]], "not an array of numbers"),
    ):
        for _ in range(2):
            with pytest.raises(ph.InputError, match=text):
                system.bias(q, wrong)
        system.bias(q, v)


def test_results_never_share_memory_with_arguments(system):
    for shape in ((), (1,), (300,)):
        q, v, w = states(*shape)
        given = q.copy(), v.copy(), w.copy()
        for call, args in (
            (system.integrate, (q, v)),
            (system.rate, (q, v)),
            (system.difference, (q, q)),
            (system.inverse_dynamics, (q, v, w)),
            (system.forward_dynamics_derivatives, (q, v, w)),
        ):
            for options in ({}, {"threads": 2}):
                found = call(*args, **options)
                for block in found if isinstance(found, tuple) else (found,):
                    assert not any(np.shares_memory(block, x) for x in (q, v, w))
                    block[...] = 0
        assert all(np.array_equal(a, b) for a, b in zip((q, v, w), given, strict=True))


# threads


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (1001,), (3, 700), (700, 3), (1, 2000), (5, 0)])
def test_threads_give_the_same_bits(system, shape):
    q, v, w = states(*shape)
    expected = system.forward_dynamics(q, v, w)
    derivatives = system.inverse_dynamics_derivatives(q, v[..., :1, :] if shape else v, w)
    for threads in (1, 2, 3, 8):
        assert np.array_equal(system.forward_dynamics(q, v, w, threads=threads), expected)
        out = np.empty_like(expected)
        assert system.forward_dynamics(q, v, w, threads=threads, out=out) is out
        assert np.array_equal(out, expected)
        found = system.inverse_dynamics_derivatives(q, v[..., :1, :] if shape else v, w, threads=threads)
        assert type(found) is type(derivatives)
        assert all(np.array_equal(a, b) for a, b in zip(found, derivatives, strict=True))


@pytest.mark.parametrize("length", [1, SMALLEST, 1000, 10_007])
@pytest.mark.parametrize("others", [(), (3,), (1,)])
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_blocks_cover_a_batch_once_in_whole_lanes(length, others, threads):
    blocks = block_bounds((*others, length), threads, 8)
    assert len(blocks) <= threads
    assert [k for block in blocks for k in range(length)[block]] == list(range(length))
    assert all((block.stop - block.start) % 8 == 0 for block in blocks)
    if length >= 2 * threads * SMALLEST:
        assert len(blocks) == threads


def with_ufunc(system, monkeypatch, name, ufunc):
    """Let the kernel of a quantity call this in the place of its gufunc, which is the first argument of it."""
    kernels = system._backend.kernels
    place = next(place for place in kernels if place[0] == name)
    fake = SimpleNamespace(facts=kernels[place].facts, ufunc=partial(ufunc, kernels[place].ufunc))
    monkeypatch.setattr(system._backend, "kernels", {place: fake})


def test_blocks_run_in_several_threads_at_once(system, monkeypatch):
    q, used, both = states(4000)[0], set(), threading.Barrier(2)
    expected = system.gravity(q)

    def meet(ufunc, *args, **options):
        used.add(threading.get_ident())
        both.wait(timeout=60)  # an error unless the other block is under way too
        return ufunc(*args, **options)

    with_ufunc(system, monkeypatch, "gravity", meet)
    assert np.array_equal(system.gravity(q, threads=2), expected)
    assert len(used) == 2


def test_an_error_in_another_thread_is_an_error_here(system, monkeypatch):
    q, here = states(4000)[0], threading.get_ident()
    system.gravity(q)

    def fail(ufunc, *args, **options):
        if threading.get_ident() != here:
            raise MemoryError("in another thread")
        return ufunc(*args, **options)

    with_ufunc(system, monkeypatch, "gravity", fail)
    with pytest.raises(MemoryError, match="another"):
        system.gravity(q, threads=2)


def test_a_system_has_a_number_of_threads_of_its_own(oracle):
    made = ph.compile(MODEL, threads=3)
    q, v, w = states(2000)
    assert made.threads == 3
    found = made.inverse_dynamics(q, v, w)
    assert np.array_equal(made.inverse_dynamics(q, v, w), found)
    assert np.array_equal(made.inverse_dynamics(q, v, w, threads=1), found)
    assert np.array_equal(made.inverse_dynamics(q[0], v[0], w[0]), found[0])
    assert_close(found, oracle.inverse_dynamics(q, v, w, threads=2), condition=1e3)


@pytest.mark.parametrize("wrong", [0, -1, "x", 1.5, None, True, 2.0])
@pytest.mark.parametrize("target", ["cpu", "python"])
def test_a_wrong_number_of_threads_is_told(wrong, target):
    with pytest.raises(ph.InputError, match="compile, threads: not a number of threads"):
        ph.compile(MODEL, target=target, threads=wrong)
    q, v, _ = states(3)
    with pytest.raises(ph.InputError, match=r"bias, threads: not a number of threads"):
        ph.compile(MODEL, target=target).bias(q, v, threads=wrong)


# reassociation


def test_fast_results_agree_to_rounding_and_the_default_is_exact(oracle):
    fast, exact = ph.compile(MODEL, fast=True), ph.compile(MODEL)
    q, v, w = states(50)
    found, expected = fast.forward_dynamics(q, v, w), exact.forward_dynamics(q, v, w)
    assert_close(found, expected, condition=1e3)
    assert_close(found, oracle.forward_dynamics(q, v, w), condition=1e3)
    assert np.array_equal(expected[0], exact.forward_dynamics(q[0], v[0], w[0]))
    assert "fadd reassoc nsz contract" in fast.source("forward_dynamics")
    assert "reassoc" not in exact.source("forward_dynamics")


def test_fast_leaves_sine_and_cosine_as_they_are():
    graph = trace(lambda x, y: ph.sin(x) + y, x=(), y=())
    plain, fast = (module_text(graph, "k", 4, fast=fast) for fast in (False, True))
    changed = [b for a, b in zip(plain.splitlines(), fast.splitlines(), strict=True) if a != b]
    assert len(changed) == 2  # the one sum, for one state and for four
    assert all("= fadd reassoc nsz contract " in line for line in changed)
    x = np.linspace(-9, 9, 1001)
    assert np.array_equal(build(graph, fast=True)(x, 0.0 * x)[0], build(graph)(x, 0.0 * x)[0])


def test_fast_and_exact_kernels_are_kept_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path / "kernels"))
    for _ in range(2):
        for fast in (False, True):
            made = ph.compile(MODEL, fast=fast)
            made.bias(*states()[:2])
            assert ("reassoc" in made.source("bias")) == fast
    assert len(list((tmp_path / "kernels").iterdir())) == 2


# many at once


def test_a_pickled_system_is_the_same_system():
    q, v, w = states(600)
    for options in ({}, {"fast": True}, {"threads": 2}, {"target": "python"}, {"parameters": ["gravity"]}):
        made = ph.compile(MODEL, **options)
        expected = made.inverse_dynamics(q, v, w)
        again = pickle.loads(pickle.dumps(made))
        assert repr(again) == repr(made)
        for name in ("target", "parameters", "fast", "threads", "nq", "nv"):
            assert getattr(again, name) == getattr(made, name)
        assert np.array_equal(again.inverse_dynamics(q, v, w), expected)


def test_fifty_systems_may_be_compiled_at_once(tmp_path, monkeypatch):
    """With the cache deleted, spoilt and closed to writing meanwhile."""
    place = tmp_path / "kernels"
    monkeypatch.setenv("POLHODE_CACHE", str(place))
    models = [random_model(["revolute", "prismatic"][: 1 + k % 2], k % 10) for k in range(50)]
    over = threading.Event()

    def disturb():
        while not over.wait(0.01):
            for path in place.glob("*.kernel"):
                try:
                    path.write_bytes(path.read_bytes()[:-1])
                except OSError:
                    continue
            shutil.rmtree(place, ignore_errors=True)

    def work(k):
        made = ph.compile(models[k])
        q = np.full(made.nv, 0.1 * k)
        return made.mass_matrix(q), made.gravity(q), made.gravity(q)

    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        with ThreadPoolExecutor(50) as pool:
            found = list(pool.map(work, range(50)))
    finally:
        over.set()
        disturber.join()
    for k, (M, first, second) in enumerate(found):
        plain, q = ph.compile(models[k], target="python"), np.full(models[k].nv, 0.1 * k)
        assert_close(M, plain.mass_matrix(q), condition=100)
        assert_close(first, plain.gravity(q), condition=100)
        assert np.array_equal(first, second)


@pytest.mark.skipif(os.name == "nt", reason="modes of folders")
def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path, monkeypatch):
    place = tmp_path / "kernels"
    place.mkdir(mode=0o500)
    q = states()[0]
    for named in (place, "/proc/polhode", "/dev/null/polhode"):
        monkeypatch.setenv("POLHODE_CACHE", str(named))
        assert np.array_equal(ph.compile(MODEL).gravity(q), ph.compile(MODEL).gravity(q))


@pytest.mark.parametrize("name", ["arm-7", "four-bar", "bicycle"])
def test_kernels_made_in_less_time_give_the_same_bits(name):
    model = ph.load(name)
    system, quick = ph.compile(model), System(model, quick=True)
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = system.integrate(np.array(model.zero), rng.normal(size=model.nv))
        v, tau = rng.normal(size=(2, model.nv))
        assert np.array_equal(system.forward_dynamics(q, v, tau), quick.forward_dynamics(q, v, tau), equal_nan=True)
        assert np.array_equal(system.mass_matrix(q), quick.mass_matrix(q))


def second_derivatives_by_differences(system, which, third, q, v, x):
    """The derivatives of first derivatives by central differences, with their error of order h⁴ taken out."""
    first = getattr(system, f"{which}_derivatives")

    def slope(at):
        one, two = ((np.array(at(h)) - np.array(at(-h))) / (2 * h) for h in (2e-3, 1e-3))
        return (4 * two - one) / 3

    along_q = [slope(lambda h, e=e: first(system.integrate(q, h * e), v, x)) for e in np.eye(system.nv)]
    by_v = [slope(lambda h, e=e: first(q, v + h * e, x)[1]) for e in np.eye(system.nv)]
    dq, dv, other = np.moveaxis(along_q, 0, -1)
    return {"dq_dq": dq, "dv_dq": dv, "dv_dv": np.moveaxis(by_v, 0, -1), f"{third}_dq": other}


@pytest.mark.parametrize(
    "name",
    [
        "spherical, universal, screw",
        pytest.param("free, planar", marks=pytest.mark.long),
        pytest.param("nine hinges", marks=pytest.mark.long),  # in loops
        pytest.param("four-bar", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize(("which", "third"), [("inverse_dynamics", "dvd"), ("forward_dynamics", "dtau")])
def test_second_derivatives_are_those_of_first_ones(name, which, third):
    kinds = ["revolute"] * 9 if name == "nine hinges" else name.split(", ")
    model = ph.load(name) if name == "four-bar" else random_model(kinds, 4, chain=True)
    system, rng = ph.compile(model), np.random.default_rng(2)
    q = np.array(model.start.q) if name == "four-bar" else random_q(model, rng)
    v, x = rng.normal(size=(2, model.nv)) * (name != "four-bar")
    found = getattr(system, f"{which}_second_derivatives")(q, v, x)
    for key, expected in second_derivatives_by_differences(system, which, third, q, v, x).items():
        np.testing.assert_allclose(getattr(found, key), expected, atol=2e-9 * (1 + np.max(abs(expected))), rtol=0)
