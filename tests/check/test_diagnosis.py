"""Rank and redundancy: found at every size and in every unit, and told by name."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from free_bodies import ENDS, flying, states


def start(model):
    return np.array(model.start.q), np.array(model.start.v)


def scaled(model, length, mass):
    """The same machine in other units of length and mass; its coordinates are angles."""

    def times(x, factor):
        return tuple(factor * value for value in x)

    bodies = [
        replace(
            body,
            mass=body.mass * mass,
            inertia=tuple(map(tuple, body.inertia_matrix() * mass * length**2)),
            center=times(body.center, length),
        )
        for body in model.bodies
    ]
    joints = [replace(joint, position=times(joint.position, length)) for joint in model.joints]
    constraints = [
        replace(c, data={key: times(x, length) if key.startswith("position") else x for key, x in c.data.items()})
        for c in model.constraints
    ]
    return replace(
        model, gravity=times(model.gravity, length), bodies=bodies, joints=joints, forces=(), constraints=constraints
    )


RANKS = {"four-bar": (2, 5), "bricard": (4, 5), "n-four-bar-3": (6, 15), "n-four-bar-12": (24, 60)}


@pytest.mark.parametrize("name", RANKS)
@pytest.mark.parametrize(("length", "mass"), [(1, 1), (1e3, 1), (1e-3, 1), (1, 1e3), (1e-3, 1e3), (1e3, 1e-3)])
def test_the_rank_does_not_depend_on_units(name, length, mass):
    model = plainly(name)
    found = ph.compile(scaled(model, float(length), float(mass)), target="python").constraint_forces(
        *start(model), np.zeros(model.nv)
    )
    rank, rows = RANKS[name]
    assert (found.rank, len(found.dependent), np.sum(found.dependent)) == (rank, rows, rows - rank)


def plainly(name):
    """A bundled model with plain numbers in the place of parameters."""
    from polhode.model import plain

    model = ph.load(name)
    bodies = [ph.Body(b.name, plain(b.mass), plain(b.inertia), plain(b.center)) for b in model.bodies]
    joints = [replace(joint, position=plain(joint.position)) for joint in model.joints]
    return replace(model, bodies=bodies, joints=joints)


@pytest.mark.parametrize("name", ["four-bar", "bricard"])
@pytest.mark.parametrize(("length", "mass"), [(1e-3, 1e3), (1e3, 1.0)])
def test_a_motion_does_not_depend_on_units(length, mass, name):
    model = plainly(name)
    options = {"duration": 0.5, "tolerance": 1e-10, "samples": 3}
    one, other = ph.simulate(model, **options), ph.simulate(scaled(model, length, mass), **options)
    assert np.max(abs(one["q"].values - other["q"].values)) < 1e-9


@pytest.mark.parametrize("way", ["distance", "revolute", "weld"])
def test_a_constraint_said_twice_is_redundant_by_both_names(way):
    data = {"body_a": "a", "body_b": "b", **({"length": 1.7} if way == "distance" else {})}
    both = [ph.Constraint(name, way, data) for name in ("one", "two")]
    more = ph.Constraint("alone", "distance", {"body_b": "a", "position_b": (0.3, 0.1, 0.2), "length": 2.0})
    model = flying(*both, more)
    q, v, *_ = ph.consistent_start(model, *next(states()))
    found, single = ph.diagnose(model, q, v), ph.diagnose(flying(both[0], more), q, v)
    rows = [name.partition(".")[2] for name in found.rows if name.startswith("one")]
    assert set(found.redundant) == {f"{name}.{row}" for name in ("one", "two") for row in rows}
    assert found.determined == ("alone.length",)
    assert found.rank == single.rank == len(rows) + 1
    assert not single.redundant
    one, two = ph.compile(flying(both[0], more)), ph.compile(model)
    assert_close(two.forward_dynamics(q, v, np.ones(12)), one.forward_dynamics(q, v, np.ones(12)), 1000)
    assert_close(
        two.constraint_forces(q, v, np.ones(12)).generalized, one.constraint_forces(q, v, np.ones(12)).generalized, 1000
    )


def test_a_planar_four_bar_in_space_has_rank_two_of_five():
    found = ph.diagnose(ph.load("four-bar"))
    assert (found.rank, len(found.rows), found.freedoms) == (2, 5, 1)
    assert found.idle == ("closing.z", "closing.turn x", "closing.turn y")
    assert found.determined == ("closing.x", "closing.y")
    assert not found.redundant
    assert str(found).startswith(
        "four-bar: 5 rows, rank 2, 3 velocities: 1 degree of freedom\n  hold by themselves: closing.z"
    )


def test_bricards_redundant_condition_is_named():
    model = ph.load("bricard")
    run = ph.simulate(model, duration=1, tolerance=1e-10, samples=11)
    for q, v in zip(run["q"].values, run["v"].values, strict=True):
        found = ph.diagnose(model, q, v)
        assert (found.rank, found.freedoms) == (4, 1)
        assert found.redundant
        assert all(name.startswith("hinge6.") for name in found.redundant)
        assert not found.contradictory
        assert not found.violated
        assert found.weakest > 1e-2


def test_rolling_takes_velocities_and_not_as_many_positions():
    found = ph.diagnose(ph.load("rolling-disk"))
    assert (found.rank, found.freedoms, found.configurations) == (3, 3, 5)
    assert "3 degrees of freedom (5 of positions)" in str(found)


def test_a_singular_configuration_is_seen_coming():
    model = ph.load("n-four-bar")
    weakest = []
    for angle in (1.0, 1e-2, 1e-4, 1e-6):
        found = ph.diagnose(model, [angle] * 3 + [-angle] * 2, [0] * 5)
        assert found.rank == 4
        weakest.append(found.weakest / angle)
        assert bool(found.nearly) == (angle < 1e-5)
    assert np.ptp(weakest) < 0.5 * max(weakest)  # it falls with the angle
    flat = ph.diagnose(model, [0] * 5, [0] * 5)
    assert (flat.rank, flat.freedoms) == (2, 3)  # N + 1


def test_the_forces_of_rows_that_are_determined_do_not_depend_on_the_others():
    model = ph.load("four-bar")
    q, v = start(model)
    found = ph.compile(model).constraint_forces(q, v, np.array([0.5, 0, 0]))
    assert_close(found.multipliers[2:], np.zeros(3))
    assert list(found.dependent) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("inertia", [(0.0, 0.0, 0.0), (0.0, 0.1, 0.1)])
def test_a_body_without_inertia_moves_where_constraints_determine_it(inertia):
    """A point mass that flies, welded to a body on a hinge, is a mass of that body."""
    plate = ph.Body("plate", 2.0, (0.3, 0.4, 0.5), (0.1, 0.2, 0.3))
    point, at = ph.Body("point", 1.5, inertia), (0.4, -0.3, 0.2)
    hinge = ph.Joint("hinge", "revolute", "world", "plate", axis=(0, 1, 0))
    fixed = ph.Model(
        "t", bodies=[plate, point], joints=[hinge, ph.Joint("fixed", "fixed", "plate", "point", position=at)]
    )
    weld = ph.Constraint("weld", "weld", {"body_a": "plate", "body_b": "point", "position_a": at})
    loose = ph.Model(
        "c", bodies=[plate, point], joints=[hinge, ph.Joint("flight", "free", "world", "point")], constraints=[weld]
    )
    tree, cut = ph.compile(fixed), ph.compile(loose)
    pose, moving = tree.pose([0.7], "point"), tree.velocity([0.7], [1.3], "point")
    q = np.array([0.7, *pose.position, *pose.quaternion])
    v = np.array([1.3, *moving.linear, 0, 1.3, 0])
    found = cut.forward_dynamics(q, v, np.zeros(7))
    assert_close(found[0], tree.forward_dynamics([0.7], [1.3], [0.0])[0], 1000)
    forces = cut.constraint_forces(q, v, np.zeros(7))
    needed = cut.inverse_dynamics(q, v, found)
    assert_close(forces.generalized, needed, 1000)
    options = {"duration": 0.5, "tolerance": 1e-11, "samples": 2}
    by_tree, by_cut = ph.simulate(fixed, [0.7], [1.3], **options), ph.simulate(loose, q, v, **options)
    assert abs(by_tree["q"].values[-1, 0] - by_cut["q"].values[-1, 0]) < 1e-9


def test_every_kind_of_joint_may_close_a_loop_that_is_closed_already():
    """A weld and a hinge between the same frames: the hinge adds nothing, and all its rows are named."""
    model = flying(ph.Constraint("weld", "weld", ENDS), ph.Constraint("hinge", "revolute", ENDS))
    q, v, *_ = ph.consistent_start(model, *next(states()))
    found = ph.diagnose(model, q, v)
    assert found.rank == 6
    assert {f"hinge.{row}" for row in ("x", "y", "z", "turn x", "turn y")} <= set(found.redundant)
    assert found.determined == ("weld.turn z",)


@pytest.mark.parametrize("windows", [1, 2, 3])
def test_a_singular_position_is_told_with_its_rank_and_that_of_its_neighbourhood(windows):
    """Rods in one line: each loop has lost the row along it."""
    model = ph.load(f"n-four-bar-{windows}")
    found = ph.diagnose(model, np.zeros(model.nv), np.zeros(model.nv))
    assert (found.rank, found.nearby, found.freedoms) == (windows, 2 * windows, windows + 1)
    assert found.lost == tuple(f"loop{k}.x" for k in range(windows))
    assert not set(found.lost) & {*found.idle, *found.redundant, *found.determined}
    assert found.weakest < 1e-12
    assert f"a singular position: rank {windows} here, {2 * windows} in the neighbourhood" in str(found)


@pytest.mark.parametrize("name", ["four-bar", "bricard", "n-four-bar", "rolling-disk", "chaplygin-sleigh"])
def test_a_regular_position_has_the_rank_of_its_neighbourhood(name):
    found = ph.diagnose(ph.load(name))
    assert (found.nearby, found.lost) == (found.rank, ())
    assert "singular position" not in str(found)


def test_a_slider_crank_of_equal_lengths_is_singular_where_it_folds():
    """r = l: with the crank across the guide the slider is on its axis, and the rod may turn with the crank."""
    rod = {"mass": 1.0, "inertia": (0.01, 0.1, 0.1), "center": (0.5, 0, 0)}
    bodies = [ph.Body("crank", **rod), ph.Body("rod", **rod), ph.Body("slider", 1.0, (0.1, 0.1, 0.1))]
    joints = [
        ph.Joint("crank", "revolute", "world", "crank", axis=(0, 0, 1)),
        ph.Joint("elbow", "revolute", "crank", "rod", axis=(0, 0, 1), position=(1, 0, 0)),
        ph.Joint("guide", "prismatic", "world", "slider", axis=(1, 0, 0)),
    ]
    ends = {"body_a": "rod", "position_a": (1, 0, 0), "body_b": "slider", "axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    model = ph.Model("slider-crank", (0, 0, 0), bodies, joints, constraints=[ph.Constraint("pin", "revolute", ends)])
    folded, open_ = ph.diagnose(model, [np.pi / 2, np.pi, 0.0]), ph.diagnose(model, [0.3, -0.6, 2 * np.cos(0.3)])
    assert (folded.rank, folded.nearby, folded.lost) == (1, 2, ("pin.x",))
    assert (open_.rank, open_.nearby, open_.lost) == (2, 2, ())
