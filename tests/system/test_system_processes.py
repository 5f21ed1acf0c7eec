"""Systems and their quantities in other processes: sent as data, compiled again there, the same bits; nothing hangs."""

import copy
import multiprocessing
import pickle
import pickletools

import numpy as np
import pytest

import polhode as ph
from polhode.kernel.backends.llvm.cpython_call import Context

SECONDS = 60
"""After which a pool that does not answer has failed."""


@pytest.fixture(scope="module")
def system():
    found = ph.compile(ph.load("double-pendulum"))
    found.mass_matrix(np.zeros(2))  # from now on a built-in
    return found


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_a_pool_maps_the_quantities_of_a_system(system, way):
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {way} here")
    states = list(np.random.default_rng(0).normal(size=(6, 2)))
    assert type(system.mass_matrix).__name__ == "builtin_function_or_method"
    with multiprocessing.get_context(way).Pool(2) as pool:
        found = pool.map_async(system.mass_matrix, states).get(SECONDS)
        pairs = pool.starmap_async(system.bias, [(q, q) for q in states]).get(SECONDS)
        poses = pool.starmap_async(system.pose, [(q, "lower") for q in states]).get(SECONDS)
    for k, q in enumerate(states):
        assert np.array_equal(found[k], system.mass_matrix(q))
        assert np.array_equal(pairs[k], system.bias(q, q))
        assert all(map(np.array_equal, poses[k], system.pose(q, "lower")))


def test_a_built_in_is_pickled_as_data(system):
    data = pickle.dumps(system.mass_matrix)
    names = {arg for op, arg, _ in pickletools.genops(data) if op.name == "SHORT_BINUNICODE"}
    assert {"getattr", "mass_matrix", "System"} <= names
    again = pickle.loads(data)
    assert np.array_equal(again(np.ones(2)), system.mass_matrix(np.ones(2)))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert np.array_equal(pickle.loads(pickle.dumps(system.mass_matrix, protocol))(np.ones(2)), again(np.ones(2)))


def test_options_go_along(system):
    other = ph.compile(ph.load("double-pendulum"), parameters=["bodies.upper.mass"], threads=2, rank_tolerance=1e-9)
    call = pickle.loads(pickle.dumps(other.mass_matrix))
    assert np.array_equal(call(np.ones(2), parameters={"bodies.upper.mass": 3.0}),
                          other.mass_matrix(np.ones(2), parameters={"bodies.upper.mass": 3.0}))  # fmt: skip
    assert copy.deepcopy(system).nq == 2


def test_a_kernel_that_belongs_to_nobody_is_refused_where_it_is_sent():
    """Were it sent, a pool would lose the task and wait for ever."""
    lost = Context(b"addresses")
    lost.owner = None
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(lost)
