"""SDF files: what Drake does not read, names, remarks, and files that must be refused. What it reads: tests/peers."""

import math
import warnings

import numpy as np
import pytest

import polhode as ph
from plain import matrix_normalised
from polhode.cli import main
from polhode.errors import ModelError
from polhode.formats.remarks import massless
from polhode.formats.sdf.frames import DEEPEST
from polhode.formats.sdf.reader import load_sdf
from polhode.formats.xml_guard import read_xml

INERTIAL = (
    "<inertial><pose>0 0 -0.3 0.1 0 0</pose><mass>1.5</mass><inertia><ixx>0.3</ixx><iyy>0.25</iyy><izz>0.2</izz>"
    "<ixy>0.01</ixy><ixz>0.02</ixz><iyz>0</iyz></inertia></inertial>"
)
HINGE = "<axis><xyz>0 1 0</xyz></axis>"
PITCH = "<screw_thread_pitch>0.2</screw_thread_pitch>"


def link(name, pose="0 0 0 0 0 0", more=""):
    return f'<link name="{name}"><pose>{pose}</pose>{INERTIAL}{more}</link>'


def joint(name, kind, parent, child, more=HINGE):
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{more}</joint>'


def sdf(*parts, version="1.11"):
    return f'<sdf version="{version}"><model name="m">{"".join(parts)}</model></sdf>'


def loaded(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        return load_sdf(source, **options)


# loops

BARS = {"crank": "0 0 0 0 0 0", "rod": "0 0 1 0 1.2 0", "rocker": "1.5 0 0 0 -0.2 0"}
"""A four-bar: crank and rocker on the ground, the rod between their tips."""
PINS = {
    "left": ("world", "crank", "crank", "0 0 0"),
    "top": ("crank", "rod", "rod", "0 0 0"),
    "right": ("world", "rocker", "rocker", "0 0 0"),
    "end": ("rocker", "rod", "__model__", "1.2 0 1.3"),
}


def four_bar(order):
    pins = []
    for name in order:
        parent, child, frame, at = PINS[name]
        pose = f'<pose relative_to="{frame}">{at} 0 0 0</pose>'
        pins.append(joint(name, "revolute", parent, child, pose + HINGE))
    return loaded(sdf(*(link(name, pose) for name, pose in BARS.items()), *pins))


def test_a_loop_moves_the_same_wherever_it_is_cut():
    """The second joint of the rod closes the loop: which it is, is a matter of the file's order."""
    first, second = four_bar(["left", "top", "right", "end"]), four_bar(["left", "end", "right", "top"])
    assert [c.name for c in first.constraints] == ["end"]
    assert [c.name for c in second.constraints] == ["top"]
    found = []
    for model in (first, second):
        system = ph.compile(model, target="python")
        q, v = np.array(model.zero), np.zeros(model.nv)
        vd = system.forward_dynamics(q, v, np.zeros(model.nv))
        found.append({body: system.acceleration(q, v, vd, body) for body in BARS})
    for body in BARS:
        for one, other in zip(found[0][body], found[1][body], strict=True):
            assert np.max(abs(np.array(one) - np.array(other))) < 1e-11


def test_the_pins_of_a_loop_are_at_one_point():
    model = four_bar(["left", "top", "right", "end"])
    data = model.constraints[0].data
    system = ph.compile(model, target="python")
    for side in ("a", "b"):
        r, p = system.pose(model.zero, data[f"body_{side}"])
        tip = np.array(r) + matrix_normalised(p) @ data[f"position_{side}"]
        assert np.max(abs(tip - [1.2, 0, 1.3])) < 1e-15


@pytest.mark.parametrize("kind", ["fixed", "revolute", "prismatic", "ball", "universal", "screw"])
def test_a_joint_that_closes_a_loop_lets_through_what_it_does_in_a_tree(kind):
    """Links in any pose that the joint of a tree can give them do not violate the constraint of the same joint."""
    axes = "<axis><xyz>0 0.6 0.8</xyz></axis><axis2><xyz>1 0 0</xyz></axis2>"
    second = joint("second", kind, "a", "b", f"<pose>0.1 0.2 0.3 0.2 0.1 0</pose>{axes}{PITCH}")
    links = link("a", "0.1 0 0 0 0.2 0"), link("b", "0.3 0.2 0.1 0.4 0.5 0.6")
    tree = loaded(sdf(*links, second))
    (constraint,) = loaded(sdf(*links, joint("first", "ball", "a", "b", ""), second)).constraints
    free = [ph.Joint(f"{body}.free", "free", "world", body) for body in ("a", "b")]
    apart = ph.compile(
        ph.Model("apart", bodies=tree.bodies[:2], joints=free, constraints=[constraint]), target="python"
    )
    q = ph.random_configuration(tree, seed=5)
    system = ph.compile(tree, target="python")
    poses = [x for body in ("a", "b") for part in system.pose(q, body) for x in part]
    residuals = apart.constraint_residuals(poses, np.zeros(12)).positions
    assert len(residuals) == 6 - (tree.nv - 6)
    assert np.max(abs(residuals)) < 1e-14


def test_links_that_carry_each_other_have_a_free_one():
    model = loaded(sdf(link("a"), link("b"), joint("ab", "revolute", "a", "b"), joint("ba", "fixed", "b", "a", "")))
    assert [(j.name, j.type) for j in model.joints] == [("a.free", "free"), ("ab", "revolute")]
    assert [c.name for c in model.constraints] == ["ba"]


# gears, mimics, two hinges


def wheels(box, **options):
    text = sdf(
        link("frame"), link("small"), link("large", "1 0 0 0 0 0"), joint("ground", "fixed", "world", "frame", ""),
        joint("one", "revolute", "frame", "small", "<axis><xyz>0 0 1</xyz></axis>"),
        joint("two", "revolute", "frame", "large", "<axis><xyz>0 0 -1</xyz></axis>"), box,
    )  # fmt: skip
    return loaded(text.replace("<pose>0 0 -0.3 0.1 0 0</pose>", ""), **options)


@pytest.mark.parametrize(("axis", "axis2", "sign"), [("1", "1", 1), ("-1", "1", -1), ("1", "-1", -1)])
def test_a_gearbox_reflects_inertia(axis, axis2, sign):
    """θ₂ = −n θ₁ about the axes of the box; joint two turns about −z, so q₂ = n q₁ where both axes are z."""
    box = joint(
        "box", "gearbox", "small", "large",
        f"<axis><xyz>0 0 {axis}</xyz></axis><axis2><xyz>0 0 {axis2}</xyz></axis2><gearbox_ratio>3</gearbox_ratio>"
        "<gearbox_reference_body>frame</gearbox_reference_body>",
    )  # fmt: skip
    vd = ph.compile(wheels(box), target="python").forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 0.0])
    J = 0.2
    assert vd == pytest.approx([1 / (J + 9 * J), sign * 3 / (J + 9 * J)], rel=1e-12)


def test_a_joint_that_mimics_another_follows_it():
    numbers = "<multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference>"
    follower = f"<axis><xyz>0 0 -1</xyz><mimic joint='one'>{numbers}</mimic></axis>"
    text = sdf(
        link("a"), link("b"), joint("one", "revolute", "world", "a"), joint("two", "revolute", "a", "b", follower)
    )
    (mimic,) = loaded(text).constraints
    assert mimic.type == "mimic"
    assert (mimic.data["joint"], mimic.data["source"]) == ("two", "one")
    assert (mimic.data["multiplier"], mimic.data["offset"]) == (2.0, pytest.approx(0.3, abs=1e-16))
    free = loaded(text, mimic="free")
    assert not free.constraints
    assert free.ignored == ("mimic joints (1): they move on their own",)


def test_two_hinges_in_one_joint_are_two_hinges():
    """revolute2: two revolute joints in series, whose axes need not be at right angles."""
    axes = "<axis><xyz>0 0 1</xyz>{}</axis><axis2><xyz>0 0.6 0.8</xyz></axis2>".format(
        "<dynamics><damping>0.3</damping></dynamics>"
    )
    model = loaded(sdf(link("a", "0 0 1 0.2 0 0"), joint("j", "revolute2", "world", "a", axes)))
    by_hand = ph.Model("two", bodies=[massless("between"), model.bodies[0]], joints=[
        ph.Joint("one", "revolute", "world", "between", axis=(0, 0, 1), damping=0.3,
                 position=(0, 0, 1), orientation=model.joints[0].orientation),
        ph.Joint("two", "revolute", "between", "a", axis=(0, 0.6, 0.8))])  # fmt: skip
    q, v, vd = np.random.default_rng(3).uniform(-1, 1, (3, 2))
    one, other = (ph.compile(m, target="python").inverse_dynamics(q, v, vd) for m in (model, by_hand))
    assert np.max(abs(one - other)) < 1e-14


def test_a_link_without_gravity_does_not_fall():
    text = sdf(link("a", "0 0 5 0.3 0.2 0", "<gravity>false</gravity>"))
    model = loaded(text)
    vd = ph.compile(model, target="python").forward_dynamics(model.start.q, [0.0] * 6, [0.0] * 6)
    assert np.max(abs(vd)) < 1e-14


def test_limits_of_older_files_may_be_large_numbers():
    bounds = "<axis><xyz>0 1 0</xyz><limit><lower>-1e16</lower><upper>0.5</upper></limit></axis>"
    model = loaded(sdf(link("a"), joint("j", "revolute", "world", "a", bounds)))
    assert (model.joints[0].lower, model.joints[0].upper) == (-math.inf, 0.5)


def test_dry_friction_is_kept_where_it_is_asked_for():
    rub = "<axis><xyz>0 1 0</xyz><dynamics><friction>0.4</friction></dynamics></axis>"
    text = sdf(link("a"), joint("j", "revolute", "world", "a", rub))
    assert loaded(text).ignored == ("dry friction of joints",)
    (friction,) = loaded(text, friction="regularised").forces
    assert isinstance(friction, ph.JointFriction)


# names, places, remarks


def test_a_world_with_one_model_has_its_links_by_their_own_names(tmp_path, capsys):
    path = tmp_path / "a.world"
    path.write_text(
        f'<sdf version="1.9"><world name="w"><model name="m"><pose>0 0 2 0 0 0</pose>{link("a")}</model></world></sdf>'
    )
    model = ph.load(path)
    assert (model.name, model.bodies[0].name, model.gravity) == ("w", "a", (0.0, 0.0, -9.8))
    assert model.start.q == (0, 0, 2, 1, 0, 0, 0)
    with pytest.raises(SystemExit, match="0"):
        main(["info", str(path)])
    assert "a.free" in capsys.readouterr().out


def test_models_of_a_world_are_told_apart_by_their_names():
    models = "".join(f'<model name="{name}">{link("a")}</model>' for name in "mn")
    text = f'<sdf version="1.9"><world name="w">{models}</world></sdf>'
    assert [body.name for body in loaded(text).bodies] == ["m::a", "n::a"]


def test_shapes_are_those_of_the_links(tmp_path):
    (tmp_path / "part.stl").write_text("solid\nendsolid\n")
    shapes = (
        "<visual name='v'><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry></visual>"
        "<visual name='c'><geometry><cylinder><radius>0.1</radius><length>2</length></cylinder></geometry></visual>"
        "<visual name='m'><geometry><mesh><uri>part.stl</uri><scale>2 2 2</scale></mesh></geometry></visual>"
    )
    path = tmp_path / "a.sdf"
    path.write_text(sdf(link("a", more=shapes)))
    found = loaded(path).shapes
    assert [(shape.type, shape.size) for shape in found] == [
        ("box", (1, 2, 3)), ("cylinder", (0.1, 2)), ("mesh", (2, 2, 2)),
    ]  # fmt: skip
    assert found[0].position == (0, 0, 1)


def test_what_is_not_used_is_told_and_what_would_change_the_motion_is_kept():
    touch = "<collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry></collision><sensor name='s'/>"
    text = sdf(link("a", more=touch), link("b", more=touch), '<link name="bare"/>', "<plugin name='p' filename='f'/>")
    with pytest.warns(ph.PolhodeWarning) as caught:
        model = load_sdf(text)
    told = "\n".join(str(warning.message) for warning in caught)
    assert "sensor (2)" in told
    assert "links without a mass (1 kg) and an inertia (1 kg m² about each axis)" in told
    assert "'bare'" in told
    assert model.ignored == ("plugins (1)", "contacts: bodies pass through each other")


# refused

WORLD = '<sdf version="1.11"><world name="w">{}</world></sdf>'
NESTED = "<model name='n'>" * (DEEPEST + 5) + "</model>" * (DEEPEST + 5)
FAULTS = [
    ("<sdf><model name='m'/></sdf>", "no version"),
    ("<sdf version='1.0'><model name='m'/></sdf>", "a version that is not read"),
    ("<sdf version='9.9'><model name='m'/></sdf>", "a version that is not read"),
    ("<robot name='m'/>", "not an SDF"),
    (sdf(), "no links"),
    (sdf('<link name=""/>'), "no name"),
    (sdf("<link/>"), "no name"),
    (sdf(link("a"), link("a")), "a second one of this name"),
    (sdf(link("a"), '<frame name="a"/>'), "a second one of this name"),
    (sdf(link("a"), joint("j", "ball", "world", "a"), joint("j", "ball", "world", "a")), "a second one of this name"),
    (sdf(link("a"), joint("j", "hinge", "world", "a")), "unknown type"),
    (sdf(link("a"), joint("j", "revolute", "world", "b")), "unknown frame"),
    (sdf(link("a"), joint("j", "revolute", "a", "a")), "one link"),
    (sdf(link("a"), joint("j", "revolute", "a", "world")), "unknown frame"),
    (sdf(link("a"), '<joint name="j" type="revolute"><child>a</child></joint>'), "no parent"),
    (sdf(link("a"), joint("j", "revolute", "world", "a", "")), "no axis"),
    (sdf(link("a"), joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>")), "the axis is zero"),
    (sdf(link("a"), joint("j", "revolute", "world", "a", "<axis><xyz>nan 0 1</xyz></axis>")), "cannot be read"),
    (sdf(link("a"), joint("j", "universal", "world", "a", HINGE + "<axis2><xyz>0 2 0</xyz></axis2>")), "parallel"),
    (sdf(link("a"), joint("j", "screw", "world", "a")), "no pitch of the screw"),
    (sdf(link("a"), joint("j", "screw", "world", "a", HINGE + "<thread_pitch>0</thread_pitch>")), "zero"),
    (sdf(link("a", "0 0 0 0 0")), "cannot be read"),
    (sdf(link("a", "0 0 0 inf 0 0")), "cannot be read"),
    (sdf('<link name="a"><pose rotation_format="mrp">0 0 0 0 0 0</pose></link>'), "unknown rotation_format"),
    (sdf('<link name="a"><pose rotation_format="quat_xyzw">0 0 0 0 0 0 0</pose></link>'), "without length"),
    (sdf('<link name="a"><pose rotation_format="quat_xyzw" degrees="1">0 0 0 0 0 0 1</pose></link>'), "in degrees"),
    (sdf('<link name="a"><pose degrees="perhaps">0 0 0 0 0 0</pose></link>'), "neither true nor false"),
    (sdf('<link name="a"><pose relative_to="b">0 0 0 0 0 0</pose></link>'), "unknown frame"),
    (sdf('<link name="a"><pose relative_to="a">0 0 0 0 0 0</pose></link>'), "in a circle"),
    (sdf('<link name="a"><pose relative_to="b"/></link><link name="b"><pose relative_to="a"/></link>'), "in a circle"),
    (sdf(link("a"), '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'), "in a circle"),
    (sdf(link("a"), *(f'<frame name="{a}" attached_to="{b}"><pose relative_to="a"/></frame>' for a, b in ("fg", "gf"))),
     "in a circle"),
    (sdf(link("a")).replace('name="m"', 'name="m" canonical_link="x"'), "unknown frame"),
    (sdf(link("a")).replace('name="m"', 'name="m" placement_frame="x"'), "unknown frame"),
    (WORLD.format("".join(
        f'<model name="{a}"><pose relative_to="{b}"/><link name="a"/></model>' for a, b in ("mn", "nm"))),
     "in a circle"),
    ('<sdf version="1.9"><world name="w"/><world name="v"/></sdf>', "a second world"),
    ('<sdf version="1.9"><world name="w"><link name="a"/></world></sdf>', "outside of a model"),
    (sdf(NESTED), "nested too deeply"),
    (sdf('<link name="a"><inertial auto="true"/></link>'), "auto=true"),
    (sdf('<link name="a"><inertial><pose relative_to="b"/></inertial></link>'), "in another frame"),
    (sdf('<link name="a"><inertial><mass>1e400</mass></inertial></link>'), "cannot be read"),
    (sdf('<link name="a"><inertial><mass>heavy</mass></inertial></link>'), "cannot be read"),
    (sdf(link("a"), joint("j", "gearbox", "world", "a", HINGE + HINGE.replace("axis>", "axis2>"))), "reference_body"),
    (sdf(link("a"), "<include/>"), "no uri"),
    (sdf(link("a"), "<include><uri>https://example.org/arm</uri></include>"), "a file of elsewhere"),
    (sdf(link("a"), "<include><uri>model://arm</uri></include>"), "not found in the model's folders"),
    ('<!DOCTYPE sdf [<!ENTITY a "aaaa">]><sdf version="1.9"/>', "document type declaration"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "what"), FAULTS, ids=[what for _, what in FAULTS])
def test_a_faulty_file_is_refused_by_name(text, what):
    with pytest.raises(ModelError, match=what):
        loaded(text)


def test_files_outside_of_the_models_folder_are_not_included(tmp_path):
    (tmp_path / "secret.sdf").write_text(sdf(link("a")))
    home = tmp_path / "home"
    home.mkdir()
    (home / "link.sdf").symlink_to(tmp_path / "secret.sdf")
    for uri in (
        "../secret.sdf",
        str(tmp_path / "secret.sdf"),
        "file:///etc/passwd",
        "model://../secret.sdf",
        "link.sdf",
    ):
        path = home / "a.sdf"
        path.write_text(sdf(link("b"), f"<include><uri>{uri}</uri></include>"))
        with pytest.raises(ModelError, match="not found in the model's folders"):
            loaded(path)
    assert loaded(tmp_path / "secret.sdf").bodies


def test_a_file_that_includes_itself_ends(tmp_path):
    path = tmp_path / "a.sdf"
    path.write_text(sdf(link("b"), *(f"<include><uri>a.sdf</uri><name>n{k}</name></include>" for k in range(3))))
    with pytest.raises(ModelError, match=r"nested too deeply|too many included files"):
        loaded(path)


def test_a_long_chain_of_poses_is_no_matter():
    """Ten thousand frames, each relative to the one before: no recursion, no square of the number."""
    frames = "".join(
        f'<frame name="f{k}" attached_to="{f"f{k - 1}" if k else "a"}"><pose>0.001 0 0 0 0 0</pose></frame>'
        for k in range(10_000)
    )
    model = loaded(sdf(link("a"), frames))
    assert model.frame("f9999").position[0] == pytest.approx(10.0, abs=1e-9)


def test_texts_of_elements_are_kept_only_where_they_are_asked_for():
    assert read_xml("<a>  1 <b/>2 </a>", keep_content=True).content.split() == ["1", "2"]
    assert read_xml("<a>1</a>").content == ""
