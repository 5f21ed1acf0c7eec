"""XML from strangers: every fault is a ModelError with file, line and object; nothing leaves the model's folder."""

import os
import random
import warnings
from contextlib import suppress
from xml.sax.saxutils import quoteattr

import pytest

from polhode.errors import ModelError, PolhodeWarning
from polhode.formats import xml_guard
from polhode.formats.mjcf import cleaned_text
from polhode.formats.mjcf.reader import load_mjcf
from polhode.formats.urdf import load_urdf

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
URDF = f"""<robot name="arm">
  <link name="base">{INERTIAL}</link>
  <link name="tip">{INERTIAL}</link>
  <joint name="hinge" type="revolute">
    <parent link="base"/>
    <child link="tip"/>
    <axis xyz="0 0 1"/>
    <origin xyz="0 0 1" rpy="0 0 0"/>
  </joint>
</robot>
"""
MJCF = """<mujoco>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="hinge" axis="0 0 1"/>
      <geom size="0.1"/>
    </body>
  </worldbody>
</mujoco>
"""
LOADERS = {"arm.urdf": (load_urdf, URDF), "arm.xml": (load_mjcf, MJCF)}


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Every test works in an empty folder and leaves no log there."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.rglob("MUJOCO_LOG.TXT"))


def refusal(name, text):
    """The message of the ModelError that a file gives."""
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolhodeWarning)
        with pytest.raises(ModelError) as caught:
            LOADERS[name][0](name)
    return str(caught.value)


@pytest.mark.parametrize("name", LOADERS)
def test_the_sound_files_load(name):
    assert LOADERS[name][0](LOADERS[name][1]).nv == 1


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("not XML at all", 1),
        ("<a>\n<b>\n</a>", 3),
        ("<a>\n<b x='1' x='2'/></a>", 2),
        ("<a>\n&what;</a>", 2),
        ("<a/>\n<b/>", 2),
        ("<a>\n\x01</a>", 2),
    ],
)
def test_malformed_xml_is_refused_with_its_line(name, text, line):
    assert refusal(name, text).startswith(f"{name}:{line}: not well-formed XML")


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize(
    "start",
    [
        '<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;">]><r>&c;</r>',
        '<!DOCTYPE r SYSTEM "file:///etc/passwd"><r/>',
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>',
        '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1/x"> %x;]><r/>',
    ],
)
def test_entities_are_refused_before_any_is_expanded(name, start):
    assert "entities are refused" in refusal(name, "<?xml version='1.0'?>\n" + start)


@pytest.mark.parametrize("name", LOADERS)
def test_deep_nesting_is_refused(name):
    assert refusal(name, "<a>" * 100_000 + "</a>" * 100_000).startswith(f"{name}:1, a: nested too deeply")


@pytest.mark.parametrize("name", LOADERS)
def test_a_file_of_100_megabytes_is_refused_unread(name):
    with open(name, "wb") as file:
        file.write(b"<robot>")
        file.truncate(100_000_000)
    with pytest.raises(ModelError, match=rf"{name}: too large\.\n  found 100 MB"):
        LOADERS[name][0](name)


def test_a_crowd_of_elements_is_refused(monkeypatch):
    monkeypatch.setattr(xml_guard, "MAX_ELEMENTS", 100)
    assert "arm.urdf:1, link: too many elements" in refusal("arm.urdf", "<robot>" + "<link/>" * 101 + "</robot>")


@pytest.mark.parametrize("name", LOADERS)
def test_what_is_no_file_is_refused(name):
    os.mkdir("folder")
    os.mkfifo("pipe")
    for path in ("nowhere.urdf", "folder", "pipe", "/dev/zero", "a\0b", "x" * 5000):
        with pytest.raises(ModelError):
            LOADERS[name][0](path)


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig"])
def test_other_encodings_are_read(encoding):
    label = "utf-8" if "sig" in encoding else encoding
    with open("arm.urdf", "wb") as file:
        file.write((f"<?xml version='1.0' encoding='{label}'?>" + URDF.replace("tip", "tëp")).encode(encoding))
    assert load_urdf("arm.urdf").bodies[1].name == "tëp"


@pytest.mark.parametrize("encoding", ["rot13", "base64", "no-such", "utf-7", "idna"])
def test_odd_encodings_are_refused(encoding):
    assert refusal("arm.urdf", f"<?xml version='1.0' encoding='{encoding}'?><robot/>").startswith("arm.urdf:1")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('type="revolute"', 'type="elastic"', "arm.urdf:4, joint 'hinge': unknown type."),
        ('type="revolute"', "", "arm.urdf:4, joint 'hinge': no type."),
        ('name="tip"', 'name="base"', "arm.urdf:3, link 'base': a second one of this name."),
        ('<link name="base">', "<link>", "arm.urdf:2, link: no name."),
        ('<parent link="base"/>', "", "arm.urdf:4, joint 'hinge': no parent."),
        ('<parent link="base"/>', '<parent link="bose"/>', "arm.urdf:5, joint 'hinge', parent: unknown link."),
        ('<child link="tip"/>', '<child link="base"/>', "arm.urdf:4, joint 'hinge': parent and child are one link."),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>', "arm.urdf:7, joint 'hinge', axis: the axis is zero."),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0"/>', "arm.urdf:7, joint 'hinge', axis: xyz cannot be read."),
        ('xyz="0 0 1" rpy', 'xyz="0 nan 1" rpy', "arm.urdf:8, joint 'hinge', origin: xyz cannot be read."),
        ('xyz="0 0 1" rpy', 'xyz="0 1e999 1" rpy', "arm.urdf:8, joint 'hinge', origin: xyz cannot be read."),
        ('rpy="0 0 0"', 'rpy="0 0 __import__(1)"', "arm.urdf:8, joint 'hinge', origin: rpy cannot be read."),
        ('<mass value="1"/>', '<mass value="inf"/>', "arm.urdf:2, link 'base', mass: value cannot be read."),
        ('<mass value="1"/>', "<mass/>", "arm.urdf:2, link 'base', mass: no value."),
        ('ixx="1"', "", "arm.urdf:2, link 'base', inertia: no ixx."),
        ("</joint>", '<dynamics damping="-1"/></joint>', "arm.urdf:4, joint 'hinge', damping: negative."),
        ("</joint>", '<mimic joint="nobody"/></joint>', "arm.urdf:9, joint 'hinge', mimic: unknown source."),
        ("</joint>", '<mimic joint="hinge"/></joint>', "arm.urdf:9, joint 'hinge', mimic: unknown source."),
        ("</robot>", '<link name="c"/></robot>', "arm.urdf:10, link 'c': a second root link."),
        ("</robot>", '<link name="world"/></robot>', "arm.urdf:10, link 'world': a second root link."),
        ("<robot", "<sdf", "arm.urdf:10: not well-formed XML."),
        ("robot", "sdf", "arm.urdf:1, sdf 'arm': not a URDF."),
    ],
)
def test_a_faulty_urdf_is_refused_with_file_line_and_object(old, new, expected):
    assert refusal("arm.urdf", URDF.replace(old, new)).splitlines()[0] == expected


def test_cycles_of_links_are_refused():
    back = '<joint name="back" type="fixed"><parent link="tip"/><child link="base"/></joint>'
    assert "the joints make a cycle" in refusal("arm.urdf", URDF.replace("</robot>", back + "</robot>"))
    island = '<link name="top"/><joint name="stem" type="fixed"><parent link="top"/><child link="base"/></joint>'
    double = "arm.urdf:10, joint 'stem': a link with two parents"
    assert double in refusal("arm.urdf", URDF.replace("</robot>", back + island + "</robot>"))
    apart = '<link name="top"/>' + back
    assert "the joints make a cycle" in refusal("arm.urdf", URDF.replace("</robot>", apart + "</robot>"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('axis="0 0 1"', 'axis="0 0 0"', "arm.xml:4, body 'arm', joint 'hinge': the axis is zero."),
        ('axis="0 0 1"', 'type="elastic"', "arm.xml:4, joint 'hinge': MuJoCo cannot read it."),
        ('axis="0 0 1"', 'axis="0 0 nan"', "arm.xml:4, joint 'hinge': axis is not a number."),
        ('axis="0 0 1"', 'pos="0 0 inf"', "arm.xml:4, joint 'hinge', position: not a finite number."),
        ('axis="0 0 1"', 'damping="-1"', "arm.xml:4, joint 'hinge', damping: negative."),
        ('pos="0 0 1"', 'pos="0 0"', "arm.xml:3, body 'arm': MuJoCo cannot read it."),
        ('pos="0 0 1"', 'quat="0 0 0 0"', "arm.xml:3, body 'arm': MuJoCo cannot read it."),
        ('pos="0 0 1"', 'axisangle="0 0 0 1"', "arm.xml:3, body 'arm', 'arm', axisangle: no direction."),
        ('pos="0 0 1"', 'xyaxes="1 0 0 2 0 0"', "arm.xml:3, body 'arm', 'arm', xyaxes: no direction."),
        ('pos="0 0 1"', 'zaxis="0 0 0"', "arm.xml:3, body 'arm', 'arm', zaxis: no direction."),
        ('size="0.1"', 'size="0"', "arm.xml:5, body 'arm', geom: size has no volume."),
        ('size="0.1"', 'size="1e-200"', "arm.xml:5, body 'arm', geom: shape has no volume."),
        ('size="0.1"', 'type="mesh"', "arm.xml:5, body 'arm', geom: mesh has no volume."),
        ('size="0.1"', 'size="1e300"', "arm.xml:3, body 'arm', mass: not a finite number."),
        ('<geom size="0.1"/>', '<body name="arm"/>', "arm.xml:5, body 'arm': MuJoCo cannot read it."),
        ('<geom size="0.1"/>', "<wheel/>", "arm.xml:5, wheel: MuJoCo cannot read it."),
        ('<geom size="0.1"/>', '<flexcomp name="f"/>', "arm.xml:5, flexcomp 'f': <flexcomp>, a soft body."),
        ('<geom size="0.1"/>', '<attach model="m"/>', "arm.xml:5, attach: <attach>, another model."),
        ('<geom size="0.1"/>', '<frame scale="2 2 2"/>', "arm.xml:5, frame: a frame that scales its content."),
        ('<geom size="0.1"/>', '<replicate count="99999999"/>', "arm.xml:5, replicate: too many copies."),
        ("mujoco", "robot", "arm.xml:1, robot: not an MJCF."),
    ],
)
def test_a_faulty_mjcf_is_refused_with_file_line_and_object(old, new, expected):
    assert refusal("arm.xml", MJCF.replace(old, new)).splitlines()[0] == expected


def test_nested_copies_multiply():
    nested = '<replicate count="1000">' * 3 + "</replicate>" * 3
    assert "too many copies" in refusal("arm.xml", MJCF.replace('<geom size="0.1"/>', nested))


def test_a_mesh_that_cannot_be_weighed_names_its_geom(tmp_path):
    (tmp_path / "bad.stl").write_bytes(b"nothing like a mesh")
    asset = '<asset><mesh name="m" file="bad.stl"/></asset>'
    text = MJCF.replace('size="0.1"', 'type="mesh" mesh="m"').replace("</mujoco>", asset + "</mujoco>")
    assert refusal("arm.xml", text).startswith("arm.xml:5, body 'arm', geom: mesh 'm' has no mass.")


@pytest.mark.parametrize("path", ["../secret.xml", "/etc/hostname", "link.xml", "folder/../../secret.xml"])
def test_includes_stay_in_the_models_folder(tmp_path, monkeypatch, path):
    home = tmp_path / "home"
    (home / "folder").mkdir(parents=True)
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    (home / "link.xml").symlink_to(tmp_path / "secret.xml")
    monkeypatch.chdir(home)
    text = refusal("arm.xml", MJCF.replace("<worldbody>", f'<include file="{path}"/><worldbody>', 1))
    assert text.startswith("arm.xml:2, include: a path that leaves the model's folder.")
    assert path in text


def test_a_package_folder_may_hold_included_files(tmp_path, monkeypatch):
    home, shared = tmp_path / "home", tmp_path / "shared"
    home.mkdir()
    shared.mkdir()
    (shared / "part.xml").write_text('<mujoco><option gravity="1 2 3"/></mujoco>')
    (home / "arm.xml").write_text(MJCF.replace("<worldbody>", '<include file="../shared/part.xml"/><worldbody>'))
    assert load_mjcf(home / "arm.xml", packages=[shared]).gravity == (1.0, 2.0, 3.0)


def test_included_files_are_guarded_too(tmp_path):
    include = MJCF.replace("<worldbody>", '<include file="part.xml"/><worldbody>')
    for text, expected in [
        ("<!DOCTYPE r><mujoco/>", "part.xml:1: a document type declaration"),
        ("<mujoco>\n<", "part.xml:2: not well-formed"),
        ("<robot/>", "part.xml:1, robot: not a part of an MJCF"),
        ('<mujoco><include file="part.xml"/></mujoco>', "part.xml:1, include: included twice"),
        ('<mujoco><include file="arm.xml"/></mujoco>', "part.xml:1, include: included twice"),
        ('<mujoco><worldbody>\n<body name="arm"/></worldbody></mujoco>', "arm.xml:3, body 'arm': MuJoCo cannot read"),
    ]:
        (tmp_path / "part.xml").write_text(text)
        assert refusal("arm.xml", include).startswith(expected)


def test_a_missing_included_file_is_named():
    text = refusal("arm.xml", MJCF.replace("<worldbody>", '<include file="gone.xml"/><worldbody>'))
    assert text.startswith("arm.xml:2, include: no such file.")
    with pytest.raises(ModelError, match="no folder to include from"):
        load_mjcf(MJCF.replace("<worldbody>", '<include file="gone.xml"/><worldbody>'))


def mesh_warning(file, packages=()):
    shape = f'<visual><geometry><mesh filename="{file}"/></geometry></visual></link>'
    with open("arm.urdf", "w", encoding="utf-8") as stream:
        stream.write(URDF.replace("</link>", shape, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_urdf("arm.urdf", packages=packages)
    return "\n".join(str(warning.message) for warning in caught if "meshes" in str(warning.message))


@pytest.mark.parametrize(
    "file",
    [
        "../secret.stl",
        "/etc/hostname",
        "file:///etc/hostname",
        "gone.stl",
        "package://",
        "package:///etc/hostname",
        "package://../secret.stl",
        "package://etc/hostname",
        "package://robots/../../x",
        "package://robots//etc/hostname",
    ],
)
def test_meshes_outside_or_missing_are_named_and_dropped(tmp_path, file):
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "package.xml").write_text("<package/>")
    assert file.strip() in mesh_warning(file)


def test_packages_are_found_above_the_model_beside_it_and_in_the_roots_named(tmp_path, monkeypatch):
    for place in ("arms/urdf", "tools", "far/hands"):
        (tmp_path / place).mkdir(parents=True)
    for mesh in ("arms/a.stl", "tools/a.stl", "far/hands/a.stl", "arms/urdf/a.stl", "tools/package.xml"):
        (tmp_path / mesh).write_bytes(b"")
    monkeypatch.chdir(tmp_path / "arms" / "urdf")
    for file in ("package://arms/a.stl", "package://tools/a.stl", "a.stl", "./a.stl"):
        assert mesh_warning(file) == ""
    assert "package://hands/a.stl" in mesh_warning("package://hands/a.stl")
    assert mesh_warning("package://hands/a.stl", [tmp_path / "far"]) == ""
    assert mesh_warning("package://hands/a.stl", [tmp_path / "far" / "hands"]) == ""


@pytest.mark.parametrize("name", LOADERS)
def test_damaged_files_give_a_model_or_a_model_error(name):
    """Bytes cut, doubled, changed: no other exception, ever."""
    load, text = LOADERS[name]
    rng = random.Random(1)
    for _ in range(400):
        damaged = list(text)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(damaged))
            match rng.randrange(4):
                case 0:
                    del damaged[at : at + rng.randint(1, 30)]
                case 1:
                    damaged[at:at] = damaged[at : at + rng.randint(1, 30)]
                case 2:
                    damaged[at] = rng.choice("<>\"'&/=-0e9 \x00é")
                case 3:
                    damaged[at:at] = rng.choice(
                        ["1e400", "1e308", "-1", "nan", "<joint/>", "]]>", "<!--", "999999999999"]
                    )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PolhodeWarning)
            with suppress(ModelError):
                load("<" + "".join(damaged)[1:])


def warned(name, text):
    """The model of a file, and what is told of it."""
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LOADERS[name][0](name)
    return model, "\n".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize(
    "before",
    ["\n", "\n\n \t", "\ufeff", "\ufeff\r\n", "<!-- a -->\n", "\n<?xml version='1.0'?>\n", " <?xml version='1.0'?>",
     "\n<!-- - -->\n<!-- <?xml ?> -->\n<?xml version='1.0' encoding='UTF-8'?>\n", "\ufeff\n<?xml version='1.0'?>"],
)  # fmt: skip
def test_what_stands_before_the_first_element_does_no_harm(name, before):
    model, _ = warned(name, before + LOADERS[name][1])
    assert model.nv == 1
    line = before.count("\n") + (4 if name == "arm.urdf" else 3)
    broken = LOADERS[name][1].replace('<joint name="hinge" type="revolute">', '<joint name="hinge" type="odd">')
    broken = broken.replace('<body name="arm" pos="0 0 1">', '<body name="arm" pos="0 0 odd">')
    assert refusal(name, before + broken).startswith(f"{name}:{line}, ")
    from polhode import load

    assert load(name_with_it(name, before + LOADERS[name][1])).nv == 1


def name_with_it(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("arm.urdf", "</joint>", '<limit lower="1.5" upper="-0.25"/></joint>', "(arm.urdf:9): lower 1.5, upper -0.25"),
        ("arm.xml", 'axis="0 0 1"', 'range="30 -20"', "(arm.xml:4): lower 30, upper -20"),
        ("arm.xml", 'axis="0 0 1"', 'range="30 -20" limited="true"', "(arm.xml:4): lower 30, upper -20"),
        ("arm.xml", 'axis="0 0 1"', 'type="slide" range="inf 1"', "(arm.xml:4): lower inf, upper 1"),
    ],
)
def test_a_lower_limit_above_the_upper_one_is_no_limit_and_told(name, old, new, told):
    model, text = warned(name, LOADERS[name][1].replace(old, new, 1))
    joint = model.joint("hinge")
    assert (joint.lower, joint.upper) == (-float("inf"), float("inf"))
    assert f"'hinge' {told}" in text
    assert "no limits" in text


def test_limits_that_a_file_switches_off_are_not_told():
    model, text = warned("arm.xml", MJCF.replace('axis="0 0 1"', 'range="30 -20" limited="false"'))
    assert "limit" not in text
    assert model.joint("hinge").upper == float("inf")


TWO = MJCF.replace(
    "    </body>",
    '      <site name="s"/><body name="hand"><joint name="ball" type="ball"/><geom size=".1"/></body></body>',
)


@pytest.mark.parametrize(
    ("equality", "told"),
    [
        ('<joint joint1="hing"/>', "joint1: unknown.\n  found 'hing'; expected a joint of one axis"),
        ('<joint name="e" joint1="hinge" joint2="nobody"/>', "joint2: unknown.\n  found 'nobody'"),
        ('<joint joint1="ball"/>', "joint1: unknown.\n  found 'ball'"),
        ('<connect body1="nobody" anchor="0 0 0"/>', "body1: unknown.\n  found 'nobody'"),
        ('<connect body1="arm" body2="nobody" anchor="0 0 0"/>', "body2: unknown.\n  found 'nobody'"),
        ('<weld body1="nobody"/>', "body1: unknown"),
        ('<weld body1="arm" body2="nobody"/>', "body2: unknown"),
        ('<weld site1="nowhere" site2="s"/>', "site1: unknown.\n  found 'nowhere'"),
        ('<connect site1="s" site2="nowhere"/>', "site2: unknown.\n  found 'nowhere'"),
        ('<joint joint1="hinge" polycoef="inf 0"/>', "value: out of range"),
        ('<connect body1="arm" anchor="inf 0 0"/>', "not a finite number"),
        ('<weld body1="arm" relpose="1 1 1 1e-320 0 0 0"/>', "numbers without a result"),
    ],
)  # fmt: skip
def test_an_equality_that_names_nothing_is_refused_with_its_line(equality, told):
    text = refusal("arm.xml", TWO.replace("</mujoco>", f"  <equality>\n    {equality}\n  </equality>\n</mujoco>"))
    assert text.startswith("arm.xml:9, equality '")
    assert told in text


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('<geom size="0.1"/>', '<geom type="mesh" mesh="nobody"/>', "arm.xml:5, geom: unknown mesh.\n  found 'nobody'"),
        ("<worldbody>", '<compiler eulerseq="abc"/><worldbody>', "arm.xml:2, compiler: eulerseq cannot be read"),
        ('pos="0 0 1"', 'quat="1e-320 0 0 0"', "arm.xml:3, body 'arm'"),
        ('pos="0 0 1"', 'euler="inf 0 0"', "arm.xml:3, body 'arm'"),
        ('size="0.1"', 'type="capsule" size=".1" fromto="0 0 0 1e-320 0 0"', "arm.xml:3, body 'arm'"),
        ("<body ", '<body childclass="nobody" ', "arm.xml:3, body 'arm'"),
        ("<geom ", '<geom class="nobody" ', "arm.xml:5, geom"),
        ("<joint ", '<joint class="nobody" ', "arm.xml:4, joint"),
    ],
)
def test_names_and_numbers_that_mean_nothing_are_refused_with_their_line(old, new, told):
    assert refusal("arm.xml", MJCF.replace(old, new, 1)).startswith(told)


def test_texts_of_a_file_are_told_without_what_steers_a_terminal():
    odd = MJCF.replace("<worldbody>", '<asset><mesh name="m" file="a&#10;&#x202e;&#x9b;31m.stl"/></asset><worldbody>')
    odd = odd.replace("<geom", '<geom type="mesh" mesh="m"/><geom')
    _, text = warned("arm.xml", odd)
    assert "<U+000A>" in text
    assert all(c.isprintable() or c == "\n" for c in text)


@pytest.mark.parametrize(
    "content",
    ['<body><geom size="1"/></body>' * 40, '<replicate count="30"><body><geom size="1"/></body></replicate>'],
)
def test_more_than_mujoco_reads_in_time_is_refused(monkeypatch, content):
    monkeypatch.setattr(cleaned_text, "MAX_PARTS", 50)
    text = refusal("arm.xml", f"<mujoco><worldbody>{content}</worldbody></mujoco>")
    assert text.startswith("arm.xml:1, mujoco: too many elements")
    assert "MAX_PARTS" in text


@pytest.mark.parametrize(
    "value", ["plain", "a<b>&c", "tab\tline\nreturn\r", 'one " quote', "one ' quote", "both \" and '"]
)
def test_values_of_attributes_are_written_as_the_library_writes_them(value):
    assert xml_guard.quoted(value) == quoteattr(value)
