"""The built-in for one state: the same results as the checked way, and never anything but those."""

import ctypes
import gc
import pickle
import resource
import sys
import threading
import weakref
from inspect import signature

import numpy as np
import pytest

import polhode as ph
from machines import random_model, random_q
from polhode.kernel.backends.llvm.cpython_call import usable


@pytest.fixture(scope="module")
def system():
    made = ph.compile(random_model(["revolute", "spherical", "prismatic"], 2), target="cpu")
    for name, args in arguments(made).items():
        getattr(made, name)(*args)  # the first call binds the built-in
    return made


def arguments(system, seed=0):
    rng = np.random.default_rng(seed)
    q, v, w = random_q(system.model, rng), rng.normal(size=system.nv), rng.normal(size=system.nv)
    return {
        "mass_matrix": (q,),
        "christoffel": (q,),
        "coriolis": (q, v),
        "bias": (q, v),
        "inverse_dynamics": (q, v, w),
        "forward_dynamics": (q, v, w),
        "integrate": (q, v),
        "center_of_mass": (q,),
        "energy": (q, v),
        "momentum": (q, v),
        "forward_dynamics_derivatives": (q, v, w),
        "inverse_dynamics_derivatives": (q, v, w),
    }


def blocks(result):
    """The results as a tuple, of one or of several."""
    return result if isinstance(result, tuple) else (result,)


@pytest.fixture
def only_built_ins(monkeypatch):
    """Whatever the built-in does not take itself fails."""

    def refuse(self, key, *rest):
        raise AssertionError(f"{key} went the checked way")

    monkeypatch.setattr(ph.System, "_checked", refuse)


def test_this_interpreter_has_the_layout_that_is_expected():
    assert usable()


def test_one_state_goes_through_a_built_in_with_the_same_result(system):
    for seed in range(5):
        for name, args in arguments(system, seed).items():
            direct = getattr(system, name)
            assert type(direct).__name__ == "builtin_function_or_method"
            expected = getattr(ph.System, name)(system, *(a.tolist() for a in args))
            found = direct(*args)
            assert type(found) is type(expected)
            for a, b in zip(blocks(found), blocks(expected), strict=True):
                assert type(a) is type(b)
                assert a.shape == b.shape
                assert np.array_equal(a, b)
                assert not a.shape or (a.flags.owndata and a.flags.writeable)


def test_one_state_with_a_place_for_the_result_stays_in_the_built_in(system, only_built_ins):
    for name, args in arguments(system, 7).items():
        expected = getattr(system, name)(*args)
        outs = tuple(np.full(np.shape(x), np.nan) for x in blocks(expected))
        several = isinstance(expected, tuple)
        found = getattr(system, name)(*args, out=outs if several else outs[0])
        assert type(found) is type(expected)
        for a, out, b in zip(blocks(found), outs, blocks(expected), strict=True):
            assert a is out
            assert np.array_equal(out, b)
        if several:
            again = getattr(system, name)(*args, out=type(expected)(*outs))
            assert type(again) is type(expected)
            assert all(a is out for a, out in zip(again, outs, strict=True))


def test_a_record_of_the_built_in_is_one_like_any_other(system):
    q, v = arguments(system)["energy"]
    found = system.energy(q, v)
    assert found == ph.System.energy(system, q.tolist(), v.tolist())
    assert hash(found) == hash((found.kinetic, found.potential))
    assert found._replace(kinetic=0.0).potential is found.potential
    assert gc.is_tracked(system.momentum(q, v))


@pytest.mark.parametrize("count", [None, 1, 5, 1000])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_result_may_lie_where_arguments_lay(system, count, threads):
    """As a whole, moved by less than a row, or turned round."""
    shape = (system.nv,) if count is None else (count, system.nv)
    rng = np.random.default_rng(3)
    q, v, w = random_q(system.model, rng, shape[:-1]), rng.normal(size=shape), rng.normal(size=shape)
    expected = system.forward_dynamics(q, v, w)
    for offset, step in ((0, 1), (2, 1), (-2, 1), (0, -1), (v.size // 2, 1)):
        memory = np.zeros(3 * v.size)
        given = memory[v.size : 2 * v.size].reshape(shape)
        given[...] = w
        out = memory[v.size + offset :][: v.size].reshape(shape)[::step]
        assert system.forward_dynamics(q, v, given, out=out, **({"threads": 2} if threads > 1 else {})) is out
        assert np.array_equal(out, expected)
    pair = np.zeros((*shape, system.nv))
    overlapping = np.zeros((4, *pair.shape)).reshape(-1)[: 2 * pair.size].reshape(2, *pair.shape)
    dq, dv, dtau = system.forward_dynamics_derivatives(q, v, w)
    found = system.forward_dynamics_derivatives(q, v, w, out=(overlapping[0], overlapping[1], pair))
    assert all(np.array_equal(a, b) for a, b in zip(found, (dq, dv, dtau), strict=True))


def test_a_place_for_the_result_may_lie_anyhow(system):
    rng = np.random.default_rng(4)
    q, v = random_q(system.model, rng, (6,)), rng.normal(size=(6, system.nv))
    for given in ((q, v), (q[0], v[0])):
        expected = system.coriolis(*given)
        big = np.zeros((*expected.shape[:-1], 2 * system.nv))
        swapped = np.zeros(expected.shape, expected.dtype.newbyteorder())
        misplaced = np.zeros(expected.nbytes + 1, np.uint8)[1:].view(float).reshape(expected.shape)
        sub = np.zeros(expected.shape).view(type("Sub", (np.ndarray,), {}))
        for out in (np.zeros(expected.shape, order="F"), big[..., ::2], big[..., ::-2], misplaced, sub, expected.T.T):
            assert system.coriolis(*given, out=out) is out
            assert np.array_equal(out, expected)
        with pytest.raises(ph.InputError, match="argument out"):
            system.coriolis(*given, out=swapped)


def test_a_wrong_place_for_the_result_is_refused_and_not_touched(system):
    q, v, w = arguments(system)["inverse_dynamics"]
    n = system.nv
    fixed = np.full(n, 3.0)
    fixed.flags.writeable = False
    wrong = [np.full(n + 1, 3.0), np.full((1, n), 3.0), np.full(n, 3, int), np.full(n, 3.0, np.float32), fixed]
    for out in (*wrong, [3.0] * n, (np.full(n, 3.0),) * 2, "out"):
        with pytest.raises(ph.InputError, match="argument out"):
            system.inverse_dynamics(q, v, w, out=out)
        assert not isinstance(out, np.ndarray) or np.all(out == 3)
    assert np.array_equal(system.inverse_dynamics(q, v, w, out=None), system.inverse_dynamics(q, v, w))
    for outs in (fixed, (fixed,), (np.empty(3),), (np.empty(3), np.empty(4)), (np.empty(3),) * 3, [np.empty(3)] * 2):
        with pytest.raises(ph.InputError, match="argument out"):
            system.momentum(q, v, out=outs)


def test_quantities_of_a_body_go_through_a_built_in_of_each(system):
    q, v, w = arguments(system)["inverse_dynamics"]
    calls = {"pose": (q,), "velocity": (q, v), "acceleration": (q, v, w)}
    words = {"pose": (), "velocity": ("world-aligned",), "acceleration": ("world-aligned", "classical")}
    for name, args in calls.items():
        for body in ("b0", "b1", "b2"):
            call = getattr(system, name)
            expected = call(*(a.tolist() for a in args), body)
            assert (name, body, *words[name]) in system._direct
            found = call(*args, body)
            assert type(found) is type(expected)
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
            batch = call(*(np.tile(a, (3, 1)) for a in args), body)
            assert np.array_equal(batch[1], np.tile(expected[1], (3, 1)))
        for wrong in ("nobody", 3, None, ["b0"]):
            with pytest.raises((ph.PolhodeError, TypeError)):
                call(*args, wrong)
    point = np.array([0.1, 0.2, 0.3])
    expected = system.jacobian(q.tolist(), "b1", point.tolist())
    assert np.array_equal(system.jacobian(q, "b1", point), expected)
    origin = system.jacobian(q, "b1")
    assert np.array_equal(origin, system.jacobian(q, "b1", [0, 0, 0]))
    assert not np.array_equal(origin, expected)
    assert np.array_equal(system.jacobian_rate(q, v, "b1"), system.jacobian_rate(q, v, "b1", (0, 0, 0)))


def test_a_quantity_of_a_body_is_called_as_its_method_is(system):
    """After the first call the instance has a method of its own: the same arguments, results, errors and pickle."""
    q = arguments(system)["mass_matrix"][0]
    point, load = np.array([0.1, 0.2, 0.3]), np.arange(6.0)
    expected = ph.System.generalized_force(system, q, load, "b1", point, "local")
    assert "generalized_force" in vars(system)
    assert np.array_equal(system.generalized_force(q, axes="local", point=point, body="b1", load=load), expected)
    out = np.empty(system.nv)
    assert system.generalized_force(q, load, "b1", point, "local", out=out) is out
    assert np.array_equal(out, expected)
    assert np.array_equal(pickle.loads(pickle.dumps(system.generalized_force))(q, load, "b1", point, "local"), expected)
    plain = [(p.name, p.kind, p.default) for p in signature(system.generalized_force).parameters.values()]
    known = signature(ph.System(system.model).generalized_force).parameters.values()
    assert plain == [(p.name, p.kind, p.default) for p in known]  # a built-in has no annotations
    assert system.generalized_force.__doc__ == ph.System.generalized_force.__doc__
    assert not np.array_equal(system.generalized_force(q, load, "b1"), expected)
    with pytest.raises(ph.InputError, match="generalized_force, axes: no such axes"):
        system.generalized_force(q, load, "b1", point, "lokal")
    with pytest.raises(ph.ModelError, match="no such body") as error:
        system.generalized_force(q, load, ["b1"])
    assert error.value.__context__ is None
    with pytest.raises(ph.InputError, match="argument point"):
        system.generalized_force(q, load, "b1", None)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'body'"):
        system.generalized_force(q, load)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        system.generalized_force(q, load, "b1", nonsense=1)


def test_an_interpreter_of_another_layout_does_without_built_ins(monkeypatch):
    monkeypatch.setattr("polhode.kernel.backends.llvm.cpython_call.usable", lambda: False)
    made = ph.compile(random_model(["revolute", "spherical", "prismatic"], 2))
    for name, args in arguments(made).items():
        first, second = (getattr(made, name)(*args) for _ in range(2))
        assert type(getattr(made, name)).__name__ == "method"
        assert all(np.array_equal(a, b) for a, b in zip(blocks(first), blocks(second), strict=True))
    pose = made.pose(arguments(made)["mass_matrix"][0], "b1")
    assert pose.position.shape == (3,)
    assert not made._direct


def test_built_ins_can_be_switched_off_and_change_nothing(monkeypatch):
    model = random_model(["revolute", "spherical", "prismatic"], 2)
    made, plain = ph.compile(model), ph.compile(model)
    for name, args in arguments(made).items():
        found = [getattr(made, name)(*args) for _ in range(2)]
        assert type(getattr(made, name)).__name__ == "builtin_function_or_method"
        with monkeypatch.context() as off:
            off.setenv("POLHODE_BUILTINS", "0")
            found += [getattr(plain, name)(*args) for _ in range(2)]
            assert type(getattr(plain, name)).__name__ == "method"
        assert len({type(x) for x in found}) == 1
        assert all(np.array_equal(a, b) for x in found[1:] for a, b in zip(blocks(found[0]), blocks(x), strict=True))


def test_everything_else_goes_the_checked_way(system):
    q, v, w = arguments(system)["inverse_dynamics"]
    expected = system.inverse_dynamics(q, v, w)
    same = [
        (q.tolist(), v, w),
        (q, v.astype(np.float32).astype(float), w),
        (np.repeat(q, 2)[::2], v, w),
        (q.astype(np.longdouble), v, w),
        (q.view(type("Sub", (np.ndarray,), {})), v, w),
    ]
    for args in same:
        assert np.allclose(system.inverse_dynamics(*args), expected, atol=1e-6)
    assert np.array_equal(system.inverse_dynamics(q=q, v=v, vd=w), expected)
    assert np.array_equal(system.inverse_dynamics(q, v, w, t=0.0), expected)
    out = np.empty(system.nv)
    assert system.inverse_dynamics(q, v, w, out=out) is out
    assert np.array_equal(out, expected)
    batch = system.inverse_dynamics(np.tile(q, (5, 1)), v, w)
    assert np.array_equal(batch, np.tile(expected, (5, 1)))
    assert np.isnan(system.inverse_dynamics(np.full_like(q, np.nan), v, w)).any()


def test_mistakes_are_told_as_before(system):
    q, v, w = arguments(system)["inverse_dynamics"]
    for args in ((q[:-1], v, w), (q, v, w[:2]), ("q", v, w), (q, v, w.astype(complex))):
        with pytest.raises(ph.InputError):
            system.inverse_dynamics(*args)
    for args in ((), (q,), (q, v), (q, v, w, w)):
        with pytest.raises(TypeError):
            system.inverse_dynamics(*args)
    with pytest.raises(TypeError):
        system.inverse_dynamics(q, v, w, nonsense=1)


def test_a_million_calls_leak_nothing(system):
    q, v, w = arguments(system)["inverse_dynamics"]
    out, pair, float64 = np.empty(system.nv), (np.empty(3), np.empty(3)), np.dtype(float)
    held = (q, v, w, out, pair, *pair, type(system.energy(q, v)), type(system.momentum(q, v)), float64)

    def some(calls):
        for _ in range(calls):
            system.inverse_dynamics(q, v, w)
            system.inverse_dynamics(q, v, w, out=out)
            system.mass_matrix(q)
            system.energy(q, v)
            system.momentum(q, v)
            system.momentum(q, v, out=pair)
            system.pose(q, "b1")

    some(10_000)
    gc.collect()
    counts = [sys.getrefcount(x) for x in held]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    some(150_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2_000  # kB
    gc.collect()
    assert counts == [sys.getrefcount(x) for x in held]


def test_a_result_that_nobody_holds_is_filled_again(system, only_built_ins):
    q, v, w = arguments(system)["inverse_dynamics"]
    places = {id(system.inverse_dynamics(q, v, w)) for _ in range(20)}
    assert len(places) == 1
    places = {tuple(map(id, (found, *found))) for found in (system.momentum(q, v) for _ in range(20))}
    assert len(places) <= 2


def test_results_that_anybody_holds_are_never_written_again(system, only_built_ins):
    """Whatever is still reachable of results, by any object that looks at them, keeps its numbers."""
    looks = [
        lambda x: x,
        lambda x: x[1:],
        lambda x: x.T,
        memoryview,
        iter,
        lambda x: x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
        np.frombuffer,
    ]
    rng = np.random.default_rng(3)
    q, v, w = arguments(system)["inverse_dynamics"]
    held = []
    for _ in range(3_000):
        args = q, rng.normal(size=v.shape), rng.normal(size=w.shape)
        name, given = (("inverse_dynamics", 3), ("mass_matrix", 1), ("forward_dynamics_derivatives", 3))[
            rng.integers(3)
        ]
        found = getattr(system, name)(*args[:given])
        part = found if rng.random() < 0.3 else blocks(found)[rng.integers(len(blocks(found)))]
        copies = [x.copy() for x in blocks(part)]
        if not isinstance(part, tuple):
            look = looks[rng.integers(len(looks))](part)
            address, size = part.ctypes.data, part.size
            held.append((look, copies[0].ravel(), (ctypes.c_double * size).from_address(address)))
        else:
            held += [(part, x.ravel(), y.ravel()) for x, y in zip(copies, part, strict=True)]
        del found, part
        while len(held) > 12 or (held and rng.random() < 0.5):
            del held[rng.integers(len(held))]
        assert all(np.array_equal(expected, np.array(now)) for _, expected, now in held)


@pytest.mark.parametrize("name", ["mass_matrix", "christoffel"])
def test_a_result_that_was_changed_is_not_used_again(system, only_built_ins, name):
    (q,) = arguments(system)[name]
    call = getattr(system, name)
    expected = call(q).copy()

    def flat(x):
        x.shape = (-1,)

    def other_kind(x):
        x.dtype = np.int64

    for change in (flat, other_kind, lambda x: x.setflags(write=False), lambda x: x.fill(np.nan)):
        for _ in range(8):
            change(call(q))
        found = call(q)
        assert np.array_equal(found, expected)
        assert (found.dtype, found.flags.writeable) == (float, True)


def test_weak_references_to_results_see_no_other_result(system, only_built_ins):
    (q,) = arguments(system)["mass_matrix"]
    watch = weakref.ref(system.mass_matrix(q))
    first = system.mass_matrix(q).copy()
    for _ in range(10):
        kept = [system.mass_matrix(q * 2) for _ in range(8)]
    assert watch() is None or np.array_equal(watch(), first)
    assert len({id(x) for x in kept}) == 8
    assert watch() is None


def test_held_results_go_with_their_built_in():
    made = ph.compile(random_model(["revolute"] * 2, 7), target="cpu")
    q = np.array([0.1, 0.2])
    made.mass_matrix(q)
    watch = weakref.ref(made.mass_matrix(q))
    assert watch() is not None
    del made
    gc.collect()
    assert watch() is None


def test_built_ins_outlive_their_system():
    model = random_model(["revolute"] * 2, 5)
    made = ph.compile(model, target="cpu")
    q = np.array([0.1, 0.2])
    made.mass_matrix(q)
    direct = made.mass_matrix
    expected = direct(q)
    del made
    gc.collect()
    assert np.array_equal(direct(q), expected)
    assert direct([0.1, 0.2]).shape == (2, 2)


def test_a_system_that_nobody_holds_is_gone_with_its_kernels():
    made = ph.compile(random_model(["revolute"] * 2, 6), target="cpu")
    made.mass_matrix(np.array([0.1, 0.2]))
    made.mass_matrix(np.array([0.1, 0.2]))
    kernel = weakref.ref(next(iter(made._backend.kernels.values())))
    del made
    gc.collect()
    assert kernel() is None


def test_threads_share_a_system(system):
    q, v, w = arguments(system)["forward_dynamics"]
    expected = system.forward_dynamics(q, v, w)
    wrong = []

    def work():
        for _ in range(2_000):
            if not np.array_equal(system.forward_dynamics(q, v, w), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
