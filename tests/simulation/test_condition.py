"""The condition of a run: how much small differences grow along it."""

import numpy as np
import pytest

import polhode as ph
from polhode.formats.library import names
from polhode.result.error_estimate import ErrorEstimate
from polhode.result.verdict import ERROR, Grade
from polhode.simulation import condition
from polhode.simulation.run import Run
from polhode.simulation.run_options import RunOptions
from polhode.simulation.scenario import Scenario


def measured(model, q, v, **options):
    """What small differences grow by along a run."""
    run = Run(Scenario.of(model, q, v, None, RunOptions(**options)))
    run.follow()
    time = run.arrays()["time"]
    return run._growth([run.arrays()], ErrorEstimate(time, np.zeros(len(time)), True, "none"))


def hinged(length):
    """A rod on a hinge with a horizontal axis; length above 0: it hangs, below: it stands."""
    rod = ph.Body("rod", mass=1.0, inertia=[0.1, 0.1, 0.1], center=[0, 0, -length])
    hinge = ph.Joint("hinge", "revolute", "world", "rod", axis=(1, 0, 0))
    return ph.Model("rod", gravity=(0, 0, -9.81), bodies=[rod], joints=[hinge])


def test_beside_an_unstable_rest_differences_grow_exponentially():
    """θ̈ = k² θ: of a difference (θ, θ̇) at most √(1 + k²)·eᵏᵗ is left, and of most directions half of eᵏᵗ or more."""
    k, t = np.sqrt(9.81 / 1.1), 2.0
    found = measured(hinged(-1.0), [0.0], [0.0], duration=t)
    assert np.exp(k * t) / 4 < found < np.sqrt(1 + k * k) * np.exp(k * t)


def test_beside_a_stable_rest_they_do_not():
    """θ̈ = −k² θ: the largest of θ and θ̇ is least where they are equal, k/√(1 + k²) of the amplitude; k at most."""
    k = np.sqrt(9.81 / 1.1)
    assert measured(hinged(1.0), [0.0], [0.0], duration=20.0) == pytest.approx(np.sqrt(1 + k * k), rel=1e-3)


@pytest.mark.parametrize("name", ["chaplygin-sleigh", "cart-pole"])
def test_a_motion_that_parts_from_its_neighbours_is_judged_by_how_much(name):
    run = ph.simulate(ph.load(name))
    mark = Grade.of(run.attrs)
    (error,) = [check for check in mark.checks if check.name == ERROR]
    assert error.value > run.attrs["steps_taken"] * 1e-9
    assert run.attrs["verdict"] == "good"
    assert "small differences grow" in mark.basis


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
@pytest.mark.parametrize("name", [name for name in names() if name != "closed-chain"])
def test_a_bundled_model_is_good_as_it_comes(name):
    """But for the closed chain, whose motion is chaotic: it is good until some 0.8 s of its 2."""
    assert ph.simulate(ph.load(name)).attrs["verdict"] == "good"


def test_runs_beside_a_stiff_machine_end_after_a_counted_number_of_steps(monkeypatch):
    """A spring at rest moves in few steps; a start beside it strains it, and would need any number of them."""
    block = ph.Body("block", 1.0, (0.1, 0.1, 0.1))
    slide = ph.Joint("slide", "prismatic", "world", "block", axis=(1, 0, 0), stiffness=1e6)
    run = Run(Scenario.of(ph.Model("stiff", (0, 0, 0), [block], [slide]), None, None, None, RunOptions(duration=1.0)))
    run.follow()
    made, own = [], run._beside
    monkeypatch.setattr(run, "_beside", lambda scenario: made.append(own(scenario)) or made[-1])
    time = run.arrays()["time"]
    assert run._growth([run.arrays()], ErrorEstimate(time, np.zeros(len(time)), True, "none")) >= 1
    assert len(made) == 4
    assert all(one.max_steps == 4 * run.stepper.ending.accepted + 1000 for one in made)


def test_a_start_beside_that_has_no_value_says_nothing(monkeypatch):
    """Beside a loose run of a beam others begin some radians away, where its one element is bent past its measure."""
    monkeypatch.setattr(condition, "BESIDE", 2.0)
    section = ph.Section(axial=1e3, torsion=1.0, bending_y=1.0, bending_z=1.0, mass=1.0, inertia_y=1e-4, inertia_z=1e-4)
    beam = ph.Beam("b", section, start=("world", (0, 0, 0)), end=(1, 0, 0), elements=1, measure="sine")
    assert measured(ph.Model("bent", beams=[beam]), None, None, duration=0.1, tolerance=1e-3, method="radau") >= 1


def test_a_start_beside_that_a_stop_refuses_says_nothing(monkeypatch):
    """Beside a loose run others begin some radians away, beyond an impact stop of the model."""
    monkeypatch.setattr(condition, "BESIDE", 2.0)
    rod = hinged(1.0)
    stop = ph.ImpactStop("stop", "hinge", lower=-1.0, upper=1.0, restitution=0.5)
    model = ph.Model("stopped", rod.gravity, rod.bodies, rod.joints, [stop])
    assert measured(model, [0.5], None, duration=0.1, tolerance=1e-3) >= 1


def test_a_start_beside_has_the_modes_of_the_run(monkeypatch):
    """Half of a mode is none: a lock that is half closed."""
    monkeypatch.setattr(condition, "BESIDE", 0.7)
    rod = hinged(1.0)
    model = ph.Model("locked", rod.gravity, rod.bodies, rod.joints, [ph.JointLock("lock", "hinge", lock_time=9.0)])
    q, v = condition._beside(ph.compile(model), np.array([0.1]), np.array([0.2, 0.0]), np.full((2, 2), 0.7))
    assert q[0] == pytest.approx(0.8)
    assert v.tolist() == [pytest.approx(0.2 + 0.7 * 1.2), 0.0]
