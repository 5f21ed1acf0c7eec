"""Many runs in lanes are the runs of `simulate`, and none of them notices the others."""

import numpy as np
import pytest

import polhode as ph
from polhode.formats.overrides import overridden
from polhode.integrate.methods import method_named
from polhode.kernel.routine import routines
from polhode.kernel.work_threads import in_threads
from polhode.simulation import step_state
from polhode.simulation.batch.batch_records import KINETIC, POTENTIAL, BatchSpec, controlled_steps, equal_steps
from polhode.simulation.batch.batch_run import BatchRun
from polhode.simulation.compiled_run import RunSpec
from run_cases import CART

N = 13
"""One row of eight lanes, and five runs alone."""
MASSES = ("bodies.upper.mass", "bodies.lower.mass")


@pytest.fixture(scope="module")
def model():
    return ph.load("double-pendulum")


@pytest.fixture(scope="module")
def starts():
    rng = np.random.default_rng(8)
    return rng.uniform(-1, 1, (N, 2)), rng.uniform(-1, 1, (N, 2)), rng.uniform(0.5, 2, (N, 2))


def lanes_of(model, method="rk4", fixed=True, crossings=(), tau=None, numbers=MASSES, **more):
    return BatchRun(BatchSpec(RunSpec(model, method_named(method), fixed, tau, crossings), numbers, **more))


TIMING = equal_steps(0.5, 1e-3, 70)


@pytest.fixture(scope="module")
def lanes(model):
    return lanes_of(model, outputs={"T": KINETIC, "V": POTENTIAL})


@pytest.fixture(scope="module")
def block(lanes, starts):
    return lanes.run(*starts, TIMING)


def test_a_lane_is_the_run_of_simulate_with_its_own_numbers(model, starts, block):
    for k in (0, 7, 12):
        q, v, p = (x[k] for x in starts)
        own = overridden(model, [f"{path}={float(x)!r}" for path, x in zip(MASSES, p, strict=True)])
        run = ph.simulate(own, q=q, v=v, duration=0.5, step=1e-3, method="rk4", every=70)
        assert np.allclose(run["time"], TIMING.times, rtol=0, atol=1e-15)
        assert np.allclose(run["q"], block.q[k], rtol=0, atol=1e-13)
        assert np.allclose(run["v"], block.v[k], rtol=0, atol=1e-13)
        assert np.allclose(run["kinetic_energy"], block.outputs[k, :, 0], rtol=1e-12)
        assert np.allclose(run["potential_energy"], block.outputs[k, :, 1], rtol=1e-12)


def test_decimated_samples_are_those_of_all_steps(lanes, starts, block):
    every = lanes.run(*starts, equal_steps(0.5, 1e-3, 1))
    assert np.array_equal(every.q[:, :-1:70], block.q[:, :-1])
    assert np.array_equal(every.q[:, -1], block.q[:, -1])


def test_a_run_has_the_same_bits_alone_anywhere_and_on_any_number_of_threads(lanes, starts, block):
    for k in (0, 8, 12):
        assert np.array_equal(lanes.run(*(x[k : k + 1] for x in starts), TIMING).q[0], block.q[k])
    for times, threads, together in ((40, 3, 128), (400, 1, 1024), (100, 1, 256)):
        assert lanes.together(times * N, threads) == together
        order = np.random.default_rng(0).permutation(times * N) % N
        mixed = lanes.run(*(x[order] for x in starts), TIMING, threads=threads)
        assert all(np.array_equal(a, b[order]) for a, b in zip(mixed, block, strict=True))


@pytest.mark.parametrize("fixed", [True, False])
def test_a_lane_that_fails_leaves_its_neighbours_alone(model, lanes, starts, fixed):
    timing = TIMING if fixed else controlled_steps(TIMING.times, 1e-9)
    lanes = lanes if fixed else lanes_of(model, "bs32", False)
    good = lanes.run(*starts, timing)
    q, v, p = (x.copy() for x in starts)
    v[3], p[9] = np.nan, [0.0, 0.0]  # not a number from the start; 0/0 in the first step
    bad = lanes.run(q, v, p, timing)
    assert bad.status[3] == step_state.NOT_FINITE
    assert bad.status[9] in ((step_state.NOT_FINITE,) if fixed else (step_state.NOT_FINITE, step_state.TOO_SMALL))
    assert np.isnan(bad.q[[3, 9], 1:]).all()
    others = np.delete(np.arange(N), [3, 9])
    assert np.array_equal(bad.q[others], good.q[others])
    assert (bad.status[others] == step_state.GOING).all()


@pytest.mark.parametrize(("method", "fixed"), [("rk4", True), ("bs32", False)])
def test_events_end_runs_where_simulate_finds_them(model, starts, method, fixed):
    crossings = (
        step_state.Crossing(lambda t, q, v, own: q[1] - 0.5, 1, "up"),
        step_state.Crossing(lambda t, q, v: q[0], -1, "down"),
    )
    many = lanes_of(model, method, fixed, crossings)
    timing = equal_steps(1.0, 1e-3, 70)
    timing = timing if fixed else controlled_steps(timing.times, 1e-7)
    found = many.run(*starts, timing)
    assert 0 < np.sum(found.status == step_state.EVENT) < N
    for k in np.flatnonzero(found.status == step_state.EVENT)[:2]:
        own = overridden(model, [f"{path}={float(x)!r}" for path, x in zip(MASSES, starts[2][k], strict=True)])
        events = [
            ph.Event("up", lambda t, q, v: q[1] - 0.5, direction=1, terminal=True),
            ph.Event("down", lambda t, q, v: q[0], direction=-1, terminal=True),
        ]
        options = {"step": 1e-3} if fixed else {"tolerance": 1e-7}
        run = ph.simulate(own, q=starts[0][k], v=starts[1][k], duration=1.0, method=method, events=events, **options)
        assert found.end[k] == pytest.approx(float(run["time"][-1]), abs=1e-9)
        which = 1 if found.event[k] == 0 else 0
        assert abs((0.5, 0.0)[1 - which] - found.q_end[k, which]) < 1e-9
        assert np.isnan(found.q[k][timing.times > found.end[k]]).all()
        assert np.isfinite(found.q[k][timing.times < found.end[k] - (1e-3 if fixed else 0)]).all()


def test_each_lane_controls_its_own_steps(model, starts):
    many = lanes_of(model, "bs32", False, numbers=())
    q, v, _ = starts
    timing = controlled_steps(np.linspace(0, 0.5, 6), 1e-9)
    found = many.run(q, 20 * v, np.zeros((N, 0)), timing)
    assert len(set(found.accepted.tolist())) > N // 2
    for k in (2, 11):
        run = ph.simulate(model, q=q[k], v=20 * v[k], duration=0.5, method="bs32", tolerance=1e-9, samples=6)
        assert int(run.attrs["steps_taken"]) == found.accepted[k]
        assert np.allclose(run["q"], found.q[k], rtol=0, atol=1e-12)


def test_gains_and_forces_may_be_numbers_of_a_run(model, starts):
    q, v, _ = starts
    own = np.random.default_rng(1).uniform(1, 5, (N, 2))
    law = lambda t, q, v, own: [own["k"] * ph.sin(own["w"] * t), 0.0]
    found = lanes_of(model, tau=law, numbers=(), free=("k", "w")).run(q, v, own, TIMING)
    gains = lanes_of(model, tau=ph.PD(1.0, 1.0), numbers=(), free=("tau.stiffness", "tau.damping"))
    pulled = gains.run(q, v, own, TIMING)
    for k in (0, 10):
        a, b = own[k]
        one = {"q": q[k], "v": v[k], "duration": 0.5, "step": 1e-3, "method": "rk4", "every": 70}
        run = ph.simulate(model, tau=lambda t, q, v, a=a, b=b: [a * ph.sin(b * t), 0.0], **one)
        assert np.allclose(run["q"], found.q[k], rtol=0, atol=1e-13)
        assert np.allclose(ph.simulate(model, tau=ph.PD(a, b), **one)["q"], pulled.q[k], rtol=0, atol=1e-13)


def test_samples_of_equal_steps_may_lie_at_times_that_end_a_step(lanes, starts):
    every = lanes.run(*starts, equal_steps(0.5, 1e-3, 1))
    few = lanes.run(*starts, equal_steps(0.5, 1e-3, np.array([0.0, 0.02, 0.3, 0.5])))
    assert np.array_equal(few.q, every.q[:, [0, 20, 300, 500]])
    with pytest.raises(ph.InputError, match="between equal steps"):
        equal_steps(0.5, 1e-3, np.array([0.0, 0.0205, 0.5]))


def test_what_cannot_be_run_in_lanes_is_refused(model):
    with pytest.raises(ph.InputError, match="whole number of steps"):
        equal_steps(1.0005, 1e-3, 10)
    with pytest.raises(ph.InputError, match="Sampled"):
        lanes_of(model, tau=ph.Sampled(lambda t, q, v: [0, 0], 0.1))
    with pytest.raises(ph.InputError, match="hold=True"):
        lanes_of(model, tau=ph.Table([0.0, 0.1], [[0.0, 0.0], [1.0, 1.0]], hold=True))
    with pytest.raises(ph.InputError, match="cannot be compiled"):
        lanes_of(model, tau=lambda t, q, v: [0.0 if q[0] > 0 else 1.0, 0.0])
    with pytest.raises(ph.UnknownNameError, match="upper"):
        lanes_of(model, numbers=("bodies.uper.mass",))


def test_every_piece_is_done_once_and_its_fault_is_told():
    done = []
    in_threads(done.append, list(range(100)), 4)
    assert sorted(done) == list(range(100))

    def fail(k):
        if k == 17:
            raise ValueError("seventeen")

    with pytest.raises(ValueError, match="seventeen"):
        in_threads(fail, list(range(100)), 4)


def pulsed(name, tau, p, **more):
    """Velocities at the end of 200 s from rest."""
    adaptive, zero = method_named(name).adaptive, np.zeros((N, 1))
    timing = controlled_steps([0.0, 100.0, 200.0], 1e-9) if adaptive else equal_steps(200.0, 0.5, 200)
    return lanes_of(CART, name, not adaptive, (), tau, (), **more).run(zero, zero, p, timing).v_end


@pytest.mark.parametrize("width", [2.0, 0.1])
@pytest.mark.parametrize("name", ["rk4", "dop853", "gauss2", "generalized-alpha"])
def test_a_pulse_within_a_step_is_felt_in_every_lane(name, width):
    """By a condition of time, and by a table."""
    begin, end = 120.3, 120.3 + width
    box = lambda t, q, v: [ph.where((t >= begin) & (t < end), 4.0 / width, 0.0)]
    table = ph.Table([begin, begin + width / 2, end], [[0.0], [8.0 / width], [0.0]])
    assert pulsed(name, box, np.zeros((N, 0))) == pytest.approx(2.0, abs=1e-12)
    second = name == "generalized-alpha"  # of the second order in the length of a step
    assert pulsed(name, table, np.zeros((N, 0))) == pytest.approx(2.0, abs=0.06 if second else 1e-12)


@pytest.mark.parametrize("width", [2.0, 0.1])
def test_controlled_steps_feel_a_pulse_whose_time_is_a_number_of_each_run(width):
    law = lambda t, q, v, own: [ph.where(abs(t - own["middle"]) < width / 2, 4.0 / width, 0.0)]
    found = pulsed("dop853", law, np.linspace(20, 180, N)[:, None], free=("middle",))
    assert found == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("name", ["rk4", "generalized-alpha"])
def test_an_event_after_a_break_ends_a_lane_where_simulate_finds_it(name):
    """The step that a break splits, and those after it, count from the break on."""
    law = lambda t, q, v: [ph.where(t < 0.3337, 2.0, -9.0)]
    lanes = lanes_of(CART, name, True, (step_state.Crossing(lambda t, q, v: q[0], -1, "back"),), law, ())
    v = np.array([[0.1], [0.5], [9.0]])
    found = lanes.run(np.zeros((3, 1)), v, np.zeros((3, 0)), equal_steps(1.0, 0.01, 20))
    assert found.status.tolist() == [step_state.EVENT, step_state.EVENT, step_state.GOING]
    back = ph.Event("back", lambda t, q, v: q[0], direction=-1, terminal=True)
    for k, speed in enumerate((0.1, 0.5)):
        run = ph.simulate(CART, [0.0], [speed], duration=1.0, tau=law, step=0.01, method=name, every=20, events=[back])
        assert found.end[k] == pytest.approx(float(run["time"][-1]), abs=1e-12)
        assert found.accepted[k] == run.attrs["steps_taken"]
        assert np.isnan(found.q[k][np.linspace(0, 1, 6) > found.end[k]]).all()
    assert found.accepted[2] == 101


@pytest.mark.parametrize(("duration", "step"), [(1e-4, 1e-6), (0.3, 0.1), (1.0, 1e-3)])
def test_the_beginning_of_runs_that_is_all_of_them_ends_where_they_do(duration, step):
    """A chunk is sized by ever longer beginnings, up to the whole: 100 × 1e-6 is not 1e-4, and that had no end."""
    whole = equal_steps(duration, step, 1)
    assert whole.beginning(1e9).end == whole.end
    assert whole.beginning(1).end == step


@pytest.mark.parametrize("fixed", [True, False])
def test_runs_in_less_code_are_the_same_within_rounding(fixed):
    model = ph.load("n-four-bar-5")
    name = next(iter(model.numbers()))
    lanes = lanes_of(model, "rk4" if fixed else "dop853", fixed, numbers=(name,))
    timing = equal_steps(0.05, 1e-3, 10) if fixed else controlled_steps([0.0, 0.02, 0.05], 1e-8)
    given = (
        np.array([model.start.q] * 3),
        np.array([model.start.v] * 3),
        model.numbers()[name] * np.array([[1], [2], [3]]),
    )
    expected, found = lanes.run(*given, timing), lanes.compact.run(*given, timing)
    for ours, other in zip(found[:2], expected[:2], strict=True):
        assert np.allclose(ours, other, rtol=0, atol=1e-11)
    solves = [r.name for r in routines(lanes.compact.graph("advance")) if r.name.startswith(("constrained", "adm"))]
    both = ["constrained11x10", "constrained"]  # the longer way, where rows depend on each other, and the usual
    assert solves == (both if fixed else [*both, "admissible"])  # the last calls the one before
    assert lanes.compact.key("advance") != lanes.key("advance")
