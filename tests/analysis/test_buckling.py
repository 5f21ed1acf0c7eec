"""Linear buckling: columns of Euler and Greenhill, lateral buckling, hinged ends, and what is refused."""

import numpy as np
import pytest

import polhode as ph

SLENDER = ph.Section(axial=1e8, torsion=1.0, bending_y=1.0, bending_z=2.0, mass=1.0, inertia_y=1e-4, inertia_z=1e-4)
RULER = ph.Section(axial=1e8, torsion=1.0, bending_y=1e4, bending_z=1.0, mass=1.0, inertia_y=1e-4, inertia_z=1e-4)
GREENHILL = 7.8373474
"""q L³/EI at which a clamped column buckles under its own weight: 9/4 j², j the first zero of the Bessel function
J_{−1/3}.                                                                                  Greenhill (1881)"""


def cantilever(n, force=(0, 0, 0), torque=(0, 0, 0), section=SLENDER, axes="world", **more):
    beam = ph.Beam("b", section, start=("world", (0, 0, 0)), end=(1, 0, 0), elements=n, **more)
    tip = ph.Force("tip", f"b-{n}", force, torque, axes=axes)
    return ph.Model("c", gravity=(0, 0, 0), beams=[beam], forces=[tip])


@pytest.mark.parametrize(("n", "error"), [(1, 7.6e-3), (2, 5.2e-4), (4, 4e-5)])
def test_a_clamped_column_is_that_of_euler(n, error):
    found = ph.buckling(cantilever(n, (-1e-3, 0, 0)), load="tip")
    assert 0 < found.factor * 1e-3 / (np.pi**2 / 4) - 1 < error
    assert found.factors[1] == pytest.approx(2 * found.factor)  # in the stiffer plane


def test_the_shape_is_a_quarter_of_a_cosine():
    n = 4
    shape = ph.buckling(cantilever(n, (-1, 0, 0)), "tip").shape.reshape(n, 6)  # velocities of free joints: linear first
    angle = np.pi / 2 * np.arange(1, n + 1) / n
    np.testing.assert_allclose(shape[:, 2] / shape[-1, 2], 1 - np.cos(angle), atol=1e-3)
    np.testing.assert_allclose(shape[:, 4] / shape[-1, 2], -np.pi / 2 * np.sin(angle), atol=1e-3)
    np.testing.assert_allclose(shape[:, [0, 1, 3, 5]], 0, atol=1e-6)
    assert np.max(abs(shape)) == 1


def test_a_hinged_column_is_that_of_euler():
    hinge = lambda body: ph.BeamEnd(body, (0, 0, 0), "revolute", (0, 1, 0))
    slider = ph.Body("slider", 1.0, (1, 1, 1))
    rail = ph.Joint("rail", "prismatic", "world", "slider", axis=(1, 0, 0), position=(1, 0, 0))
    beam = ph.Beam("b", SLENDER, start=hinge("world"), end=hinge("slider"), elements=2)
    push = ph.Force("push", "slider", (-1, 0, 0))
    model = ph.Model("p", gravity=(0, 0, 0), bodies=[slider], joints=[rail], beams=[beam], forces=[push])
    assert ph.buckling(model, "push").factor == pytest.approx(np.pi**2, rel=8e-3)


def test_lateral_buckling():
    """4.0126 √(EI GJ)/L², with errors of second order."""
    coarse, fine = (ph.buckling(cantilever(n, (0, 0, -1), section=RULER), "tip").factor for n in (2, 4))
    assert coarse == pytest.approx(4.29, abs=5e-3)
    assert fine == pytest.approx(4.075, abs=2e-3)
    assert (4 * fine - coarse) / 3 == pytest.approx(4.0126, abs=0.015)


def test_a_beam_that_does_not_stretch_buckles_alike():
    """The normal force is a multiplier."""
    free, held = (ph.buckling(cantilever(1, (-1, 0, 0), held=h), "tip").factor for h in ((), "elongation"))
    assert held == pytest.approx(free, rel=1e-6)


def test_a_column_buckles_under_its_own_weight():
    upright = ph.Beam("b", SLENDER, start=("world", (0, 0, 0)), end=(0, 0, 1), up=(1, 0, 0), elements=4)
    model = ph.Model("c", gravity=(0, 0, -1), beams=[upright])
    assert ph.buckling(model, "gravity").factor == pytest.approx(GREENHILL, rel=0.02)


def test_a_distributed_load_is_a_weight():
    found = ph.buckling(cantilever(4, load=(-1, 0, 0))).factor
    assert found == pytest.approx(GREENHILL, rel=0.01)


def test_other_loads_stay_as_they_are():
    """A constant part of the load is missing from the factor."""
    model = cantilever(1, (-1, 0, 0))
    both = ph.Model("c", (0, 0, 0), model.bodies, model.joints, [*model.forces, ph.Force("dead", "b-1", (-1, 0, 0))])
    alone, all_loads = ph.buckling(model, "tip").factor, ph.buckling(both).factor
    assert ph.buckling(both, "tip").factor == pytest.approx(alone - 1, rel=1e-5)
    assert all_loads == pytest.approx(alone / 2, rel=1e-6)
    assert ph.buckling(both, ["tip", "dead"]).factor == pytest.approx(all_loads, rel=1e-12)


def test_the_loaded_state_turns_unstable_at_the_factor():
    """The independent check: eigenvalues of small motions just below and just above."""
    factor = ph.buckling(cantilever(1, (-1, 0, 0)), "tip").factor
    below, above = (ph.equilibrium(cantilever(1, (-x * factor, 0, 0)), stability=True) for x in (0.999, 1.001))
    assert below.stability != "unstable"
    assert above.stability == "unstable"


def test_a_pendulum_on_a_torsion_spring_falls():
    """No beam bears the load: k/(P L)."""
    bob = ph.Body("bob", 1.0, (1, 1, 1))
    hinge = ph.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))
    spring = ph.TorsionSpring("k", joint="hinge", stiffness=3.0)
    push = ph.Force("push", "bob", (0, 0, -2.0), point=(0, 0, 0.5))
    model = ph.Model("p", gravity=(0, 0, 0), bodies=[bob], joints=[hinge], forces=[spring, push])
    assert ph.buckling(model, "push").factor == pytest.approx(3.0)


def test_a_pull_never_buckles():
    found = ph.buckling(cantilever(2, (1, 0, 0)), "tip")
    assert found.factor == np.inf
    assert found.shapes.shape == (0, 12)


@pytest.mark.parametrize(
    ("model", "load", "said"),
    [
        (cantilever(1, (-1, 0, 0)), "tpi", "did you mean|Did you mean"),
        (cantilever(1, (-1, 0, 0)), [], "not a name"),
        (cantilever(1, (-1, 0, 0)), 3, "not a name"),
        (cantilever(1, (-1, 0, 0)), "b-1", "no such name"),
        (cantilever(2, (-1, 0, 0), axes="body"), "tip", "no potential"),
        (cantilever(2, torque=(1, 0, 0)), "tip", "no potential"),
        (
            ph.Model("f", beams=[ph.Beam("b", SLENDER, start=(0, 0, 0), end=(1, 0, 0), elements=1)]),
            None,
            "bear the load",
        ),
    ],
)
def test_what_is_refused(model, load, said):
    with pytest.raises(ph.InputError, match=said):
        ph.buckling(model, load)
