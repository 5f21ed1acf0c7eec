"""The built-in for one state: the same results as the checked way, and never anything but those."""

import gc
import resource
import sys
import threading
import weakref

import numpy as np
import pytest

import polhode as ph
from machines import random_model, random_q
from polhode.kernel.call import usable


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
    }


def test_this_interpreter_has_the_layout_that_is_expected():
    assert usable()


def test_one_state_goes_through_a_built_in_with_the_same_result(system):
    for seed in range(5):
        for name, args in arguments(system, seed).items():
            direct = getattr(system, name)
            assert type(direct).__name__ == "builtin_function_or_method"
            expected = getattr(ph.System, name)(system, *(a.tolist() for a in args))
            found = direct(*args)
            assert found.shape == expected.shape
            assert np.array_equal(found, expected)
            assert found.flags.owndata
            assert found.flags.writeable


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
    counts = [sys.getrefcount(x) for x in (q, v, w)]
    for _ in range(20_000):
        system.inverse_dynamics(q, v, w)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(300_000):
        system.inverse_dynamics(q, v, w)
        system.mass_matrix(q)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2_000  # kB
    assert counts == [sys.getrefcount(x) for x in (q, v, w)]


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
    kernel = weakref.ref(next(iter(made._target.kernels.values())))
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
