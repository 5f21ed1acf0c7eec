"""What differs between two models is named, with values."""

from dataclasses import replace

import pytest

import polhode as ph


def test_numbers_are_told_one_by_one():
    model = ph.load("double-pendulum")
    upper = model.bodies[0].name
    found = model.diff(model.with_numbers({f"bodies.{upper}.mass": 3.0, "gravity.2": -1.62}))
    assert [*found] == [("gravity.2", -9.81, -1.62), (f"bodies.{upper}.mass", 1.0, 3.0)]
    assert str(found) == f"gravity.2: -9.81 → -1.62\nbodies.{upper}.mass: 1.0 → 3.0"


def test_equal_models_have_none():
    model = ph.load("four-bar")
    found = model.diff(ph.load("four-bar"))
    assert not found
    assert (str(found), repr(found)) == ("no differences", "<no differences>")


def test_parts_that_one_model_lacks_are_named():
    model = ph.load("double-pendulum")
    spring = ph.Spring("spring", "world", model.bodies[0].name, stiffness=1.0)
    found = model.diff(replace(model, forces=[spring], configurations={"home": (0, 0)}, start=None))
    assert [x.path for x in found] == ["forces.spring", "start", "configurations.home"]
    assert str(found[0]) == "forces.spring: – → 'spring'"
    assert [x.path for x in replace(model, start=None).diff(model)] == ["start"]


def test_another_order_and_another_kind_are_told():
    bodies = [ph.Body(name, 1.0, (1, 1, 1)) for name in "ab"]
    joints = [ph.Joint(f"j{name}", "revolute", "world", name) for name in "ab"]
    model = ph.Model("two", bodies=bodies, joints=joints)
    found = model.diff(replace(model, joints=[joints[1], replace(joints[0], type="prismatic")]))
    assert [x.path for x in found] == ["joints in order", "joints.ja.type"]


def test_a_page_of_a_notebook_shows_them_and_runs_nothing():
    model = ph.Model(
        "<script>", bodies=[ph.Body("<b>", 1.0, (1, 1, 1))], joints=[ph.Joint("j", "free", "world", "<b>")]
    )
    html = model.diff(replace(model, name="other"))._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_what_is_no_model_is_told():
    with pytest.raises(ph.InputError, match="diff, model 'double-pendulum': not a model"):
        ph.load("double-pendulum").diff(3)
