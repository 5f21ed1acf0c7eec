"""Model and study files changed by chance into hostile ones: each must give a model or an error of ours, soon."""

import os
import random
import re
import struct
import sys
import warnings
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np
from click.testing import CliRunner

import polhode as ph
from harness import RUN
from polhode.cli import main
from polhode.ensemble.study_file import load_study
from polhode.formats.load import load_with_notes

NUMBERS = [
    "1e308", "-1e308", "1e-320", "5e-324", "nan", ".nan", "inf", ".inf", "-.inf", "-0", "0", "1e999", "9" * 400,
    "1" * 25, "0x7fffffffffffffff", "1/0", "9^9^9^9", "1e308*10", "--1", "1_000", "1,5", "٣", "1e", "1e9999999999",
    "true", "~", "sqrt(-1)", "(" * 60 + "1" + ")" * 60, "2^" * 100 + "2", "-" * 500 + "1", "1e17", "1e16", "-1", "3",
    "1e150",
]  # fmt: skip
NAMES = [
    f'x"\n  ret void\n}}\ndeclare i32 @system(ptr)\n@s = constant [99 x i8] c"{RUN}"\ndefine void @f() {{',
    f'*/ system("{RUN}"); /*', f"\\\n{RUN}", f"$({RUN})", f"`{RUN}`", f"; {RUN};", f"|{RUN}|", f"'; {RUN}; '",
    f'"; {RUN}; "', f"\\immediate\\write18{{{RUN}}}", f"__import__('os').system('{RUN}')",
    "<script>alert(1)</script>", "</title><img src=x>", "{{7*7}}", "%s%n%d", "{0.__class__}", "\x1b]0;x\x07\x1b[31m",
    "\x9b31m", "\u202eabc\u2066", "\0", "a\0b", "\ufffe", "a" * 100_000, "a" * 201, "", " ", "\n", "\t", "\r\n", "'",
    '"', "\\", "#", ":", "- a", "??/", "../../etc/passwd", "world", "q", "t", "pi", "name", "é" * 150, "\u200b",
    "con", "a.b.c", "a/b", "*", "&a", "<<", "null", "1", "😀", "a,b=c",
]  # fmt: skip
PIECES = [
    *"[]{}:-,#'\"|>%@`~\\<>/=&;!?*", "\n", "\0", "\t", "\r", "\ufeff", "\x85", "\u2028", "<<: *a", "&a ", "*a",
    "---\n", "...\n", f"!!python/object/apply:os.system ['{RUN}']", f"!!python/name:os.system {RUN}", "<!-- ", "-->",
    "<![CDATA[", "<?x y?>", '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">]>', "&a;", "&lt;", "&#0;", "&#10;", "&#xD800;",
    "/>", "</mujoco>", "</robot>", "</model>", '<include file="x"/>', '<include file="/etc/passwd"/>',
    '<compiler eulerseq="abc" meshdir="/"/>', '<freejoint/>', '<replicate count="1000000000"><body/></replicate>',
    '<equality><weld body1="x"/></equality>', "<default class='q'/>", '<mimic joint="nobody"/>',
    '<limit lower="2" upper="1"/>', "<include><uri>hostile.sdf</uri></include>", '<pose relative_to="tip">1</pose>',
    "<include merge='true'><uri>model://hostile.sdf</uri><name>n</name></include>", "<uri>file:///etc/passwd</uri>",
    "(references = @/etc/passwd@)", 'def "x" (references = @./hostile.usda@</arm>) {}\n', "over ", "class ",
    "physical: false", "lower: 3", "upper: -3",
]  # fmt: skip
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
URDF = f"""<?xml version="1.0"?>
<robot name="arm">
  <link name="base">{INERTIAL}</link>
  <link name="upper"><inertial><origin xyz="0 0 0.5" rpy="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.2" ixy="0" ixz="0.01" iyy="0.2" iyz="0" izz="0.1"/></inertial>
    <visual><geometry><mesh filename="package://arm/upper.stl" scale="1 1 1"/></geometry></visual></link>
  <link name="lower">{INERTIAL}</link>
  <link name="tool">{INERTIAL}</link>
  <joint name="hip" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 1" rpy="0 0.2 0"/><limit lower="-1" upper="2" effort="5" velocity="1"/></joint>
  <joint name="knee" type="prismatic"><parent link="upper"/><child link="lower"/><axis xyz="0 0.6 0.8"/>
    <dynamics damping="0.5" friction="0"/><mimic joint="hip" multiplier="2" offset="0.1"/></joint>
  <joint name="wrist" type="planar"><parent link="lower"/><child link="tool"/><axis xyz="1 0 0"/></joint>
</robot>
"""
MJCF = """<mujoco model="arm">
  <compiler angle="radian" eulerseq="xyz" meshdir="."/>
  <option gravity="0 0 -9.81" timestep="0.01"/>
  <default><joint damping="0.1"/><default class="thin"><geom size="0.02" density="500"/></default></default>
  <asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
  <worldbody>
    <body name="upper" pos="0 0 1" euler="0.1 0.2 0.3">
      <joint name="hip" axis="0 1 0" range="-1 2" armature="0.1" stiffness="2" springref="0.5" ref="0.1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05"/><site name="s" pos="0 0 1"/>
      <body name="lower" pos="0 0 -1" childclass="thin">
        <joint name="knee" type="slide" axis="1 0 1" pos="0.1 0 0"/><geom type="box" size="0.1 0.1 0.1"/>
        <body name="tool"><joint name="ball" type="ball"/><geom type="mesh" mesh="m" mass="0.5"/></body>
      </body>
    </body>
    <body name="flying" quat="1 0 0 1"><freejoint name="free"/>
      <inertial mass="1" pos="0 0 0" diaginertia="1 2 2"/></body>
  </worldbody>
  <equality><joint joint1="hip" joint2="knee" polycoef="0 1 0.1 0 0"/><connect body1="tool" anchor="0 0 0"/></equality>
</mujoco>
"""
SDF = """<sdf version="1.10">
  <world name="hall"><gravity>0 0 -9.8</gravity>
  <model name="arm" canonical_link="base"><pose>0 0 1 0 0 0.2</pose>
    <link name="base"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>
    <link name="upper"><pose relative_to="base" degrees="true">0 0 0.5 10 0 0</pose>
      <inertial><pose>0 0 0.2 0.1 0 0</pose><mass>2</mass>
        <inertia><ixx>0.2</ixx><ixy>0.01</ixy><iyy>0.2</iyy><izz>0.1</izz></inertia></inertial>
      <visual name="v"><geometry><box><size>1 2 3</size></box></geometry></visual></link>
    <frame name="tip" attached_to="upper"><pose>0 0 1 0 0 0</pose></frame>
    <joint name="hip" type="revolute"><pose>0.1 0 0 0 0 0</pose><parent>base</parent><child>upper</child>
      <axis><xyz expressed_in="__model__">0 1 0</xyz><limit><lower>-1</lower><upper>2</upper></limit>
      <dynamics><damping>0.1</damping><spring_stiffness>2</spring_stiffness></dynamics></axis></joint>
    <model name="hand"><pose relative_to="tip"/><link name="palm"/><link name="finger"/>
      <joint name="grip" type="screw"><parent>palm</parent><child>finger</child>
        <axis><xyz>0 0 1</xyz><mimic joint="turn"><multiplier>2</multiplier></mimic></axis>
        <screw_thread_pitch>0.01</screw_thread_pitch></joint>
      <joint name="turn" type="prismatic"><parent>world</parent><child>palm</child><axis><xyz>1 0 1</xyz></axis></joint>
    </model>
    <joint name="wrist" type="ball"><parent>tip</parent><child>hand::palm</child></joint>
  </model>
  <model name="floor"><static>true</static><link name="plane"><pose relative_to="__model__"/></link></model>
  </world>
</sdf>
"""
DIRECTIVES = """directives:
- add_model:
    name: left
    file: arm.sdf
    default_joint_positions: {arm::hip: [0.3]}
- add_frame:
    name: table
    X_PF: {base_frame: world, translation: [0.1, 0.2, 0.3], rotation: !Rpy {deg: [10, 20, 30]}}
- add_weld: {parent: table, child: left::arm::base, X_PC: {translation: [0, 0, 0.5]}}
- add_model: {name: loose, file: arm.sdf, default_free_body_pose: {arm::base: {translation: [1, 2, 3]}}}
- add_frame: {name: mount, X_PF: {base_frame: left::arm::tip}}
"""
USD = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def PhysicsScene "scene"
{
    float physics:gravityMagnitude = 9.5
}
def Xform "arm"
{
    def Xform "upper" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        double3 xformOp:translate = (0, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        float physics:mass = 2
        float3 physics:diagonalInertia = (1, 1, 1)
        point3f physics:centerOfMass = (0, 0, -0.5)
        quatf physics:principalAxes = (1, 0, 0, 0)
    }
    def Cube "lower" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsCollisionAPI"]
    )
    {
        double size = 0.5
        float physics:density = 700
        float3 xformOp:scale = (1, 2, 1)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }
    def PhysicsRevoluteJoint "hip" (
        prepend apiSchemas = ["PhysicsDriveAPI:angular"]
    )
    {
        rel physics:body1 = </arm/upper>
        point3f physics:localPos0 = (0, 0, 1)
        quatf physics:localRot0 = (0.5, 0.5, 0.5, 0.5)
        uniform token physics:axis = "Y"
        float physics:lowerLimit = -90
        float drive:angular:physics:stiffness = 3
    }
    def PhysicsJoint "knee" (
        prepend apiSchemas = ["PhysicsLimitAPI:transX", "PhysicsLimitAPI:transY", "PhysicsLimitAPI:transZ"]
    )
    {
        rel physics:body0 = </arm/upper>
        rel physics:body1 = </arm/lower>
        float limit:transX:physics:low = 1
        float limit:transX:physics:high = -1
        float limit:transY:physics:low = 1
        float limit:transY:physics:high = -1
        float limit:transZ:physics:low = 1
        float limit:transZ:physics:high = -1
    }
}
"""
MESHED = """<mujoco><asset><mesh name="m" file="m.{}"/></asset><worldbody><body name="a"><freejoint/>
  <geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
STUDY = """study: a pendulum under uncertainty
model: double-pendulum
runs: 100
seed: 7
duration: 5
step: 1e-3
method: rk4
every: 100
parameters:
  bodies.upper.mass: {normal: [1, 0.1]}
  start.q.hinge: {uniform: [-pi/2, pi/2]}
  c: {log-uniform: [0.01, 0.5]}
derived:
  joints.hinge.damping: 2*c
input:
  elbow: 0.1*sin(3*t) - c*v.elbow
outputs:
  height: -cos(q.hinge)
stop:
  over: {when: q.elbow - pi, direction: 1}
measures:
  highest: {max: height}
  calm: {settle: q.hinge, target: 0, band: 0.05}
keep: [q, v.elbow]
"""


def _stl() -> bytes:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], dtype="<f4")
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rows = [np.zeros(3, "<f4").tobytes() + corners[list(face)].tobytes() + b"\0\0" for face in faces]
    return b"\0" * 80 + struct.pack("<I", len(faces)) + b"".join(rows)


OBJ = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
SOUND: dict[str, list[bytes]] = {
    "yaml": [file.read_bytes() for file in sorted((files("polhode.formats") / "models").iterdir(), key=str)],
    "urdf": [URDF.encode()],
    "mjcf": [MJCF.encode()],
    "sdf": [SDF.encode()],
    "dmd": [DIRECTIVES.encode()],
    "usd": [USD.encode()],
    "study": [STUDY.encode()],
    "stl": [_stl()],
    "obj": [OBJ.encode()],
}
SHARES = {"yaml": 33, "urdf": 15, "mjcf": 15, "sdf": 12, "dmd": 3, "usd": 2, "study": 14, "stl": 3, "obj": 3}
"""Of a hundred cases."""
PLAIN = ("yaml", "study", "dmd")
"""Kinds that are YAML."""
SUFFIX = {
    "yaml": "yaml",
    "urdf": "urdf",
    "mjcf": "xml",
    "sdf": "sdf",
    "dmd": "dmd.yaml",
    "usd": "usda",
    "study": "yaml",
}


def cases(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """So many files, their kind and content; the same for the same seed."""
    chance = random.Random(seed)
    kinds, shares = list(SHARES), list(SHARES.values())
    for _ in range(count):
        kind = chance.choices(kinds, shares)[0]
        content = chance.choice(SOUND[kind])
        for _ in range(chance.choice([1, 1, 1, 1, 2, 3])):
            content = chance.choice(WAYS)(content, chance, kind)
        yield kind, content


def _flip(content: bytes, chance: random.Random, _: str) -> bytes:
    found = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        if found:
            found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


def _cut(content: bytes, chance: random.Random, _: str) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] if chance.random() < 0.4 else content[:at] + content[at + chance.choice([1, 5, 40, 300]) :]


def _again(content: bytes, chance: random.Random, _: str) -> bytes:
    at, size, to = (
        chance.randrange(len(content) + 1),
        chance.choice([5, 40, 300, 2000]),
        chance.randrange(len(content) + 1),
    )
    return content[:to] + content[at : at + size] * chance.choice([1, 2, 30]) + content[to:]


def _lines(content: bytes, chance: random.Random, _: str) -> bytes:
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    what = chance.randrange(4)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(at, lines[at])
    elif what == 2:
        lines[at] = chance.choice([b" ", b"  ", b"\t"]) + lines[at]
    else:
        chance.shuffle(lines)
    return b"\n".join(lines)


def _put(content: bytes, chance: random.Random, _: str) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] + chance.choice(PIECES).encode() + content[at:]


def _number(content: bytes, chance: random.Random, _: str) -> bytes:
    return _replace(rb"-?\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", chance.choice(NUMBERS).encode(), content, chance)


def _replace(pattern: bytes, new: bytes, content: bytes, chance: random.Random, most: int = 3) -> bytes:
    found = list(re.finditer(pattern, content))
    for match in sorted(chance.sample(found, min(len(found), chance.randint(1, most))), key=lambda m: -m.start()):
        content = content[: match.start()] + new + content[match.end() :]
    return content


def _name(content: bytes, chance: random.Random, kind: str) -> bytes:
    name = chance.choice(NAMES)
    if kind in PLAIN:
        quoted = "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in name)
        new = chance.choice([f'"{quoted}"', f'"{quoted}"', name])
        word = rb"[A-Za-z][\w.-]*"
    else:
        escapes = "".join(f"&#{ord(c)};" if not c.isprintable() or c in "<>&\"'" else c for c in name)
        new, word = chance.choice([f'"{escapes}"', f'"{escapes}"', f'"{name}"']), rb'"[A-Za-z][^"]*"'
    if chance.random() < 0.5:  # one name wherever it stands
        found = re.findall(word, content)
        return content.replace(chance.choice(found), new.encode(), 5) if found else content
    return _replace(word, new.encode(), content, chance)


SWAPS = [
    (rb"\[[^\]]*\]", b"{a: 1}"), (rb"\{[^}]*\}", b"[1, 2, 3]"), (rb"\[[^\]]*\]", b"3"), (rb":\n", b": 3\n"),
    (rb": [\w.]+", b": [[1], {b: 2}]"), (rb"[\w.]+:", b"? [a]\n:"), (rb"[\w.]+: ", b"a: "),
    (rb"\[[^\]]*\]", b"[" + b"1, " * 30_000 + b"1]"),
]  # fmt: skip
XML_SWAPS = [
    (rb"<(\w+)", b"<body"), (rb"/>", b">"), (rb"</\w+>", b""), (rb' \w+="[^"]*"', b""), (rb'"[^"]*"', b'""'),
    (rb'"[^"]*"', b'"' + b"1 " * 30_000 + b'"'), (rb"\w+=", b"type="), (rb'"[^"]*"', b'"1 2 3 4 5 6 7 8"'),
    (rb"<joint", b"<joint type='free'"), (rb'"(revolute|slide|ball|prismatic)"', b'"free"'),
    (rb'"(revolute|screw|ball|prismatic)"', b'"gearbox"'), (rb">[\w.: -]+<", b"><"), (rb">[\w.: -]+<", b">base<"),
    (rb'"[\d. -]+"', b'"0 0 0"'),
]  # fmt: skip


def _swap(content: bytes, chance: random.Random, kind: str) -> bytes:
    old, new = chance.choice(SWAPS if kind in PLAIN else XML_SWAPS)
    return _replace(old, new, content, chance)


def _deep(content: bytes, chance: random.Random, kind: str) -> bytes:
    depth = chance.choice([20, 60, 300, 5000])
    if kind in PLAIN:
        new = chance.choice([b"[" * depth + b"]" * depth, b"{a: " * depth + b"1" + b"}" * depth, b"- " * depth,
                             b"&a [1]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c, *c]", b"".join(
            b"\n" + b" " * k + b"a:" for k in range(min(depth, 300)))])  # fmt: skip
        return _replace(rb"[\w.]+$", new, content, chance, 1)
    tag = chance.choice([b"body", b"link", b"frame", b"default", b"geom", b"include", b"model"])
    return _replace(rb">", b">" + (b"<" + tag + b">") * depth + (b"</" + tag + b">") * depth, content, chance, 1)


WAYS = [_flip, _cut, _again, _lines, _put, _put, *[_number] * 6, *[_name] * 4, _swap, _swap, _deep]
"""What makes a file hostile; more often in ways that leave its structure whole, and so lead far."""


def attempt(path: Path | str) -> str:
    """What becomes of a model file: "loaded", after its page was printed and its accelerations were found."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model, _ = load_with_notes(path)
        _info(path)
        system = ph.compile(model, target="python")
        start = model.start
        q = model.zero if start is None or start.q is None else start.q
        v = [0.0] * model.nv if start is None or start.v is None else start.v
        system.forward_dynamics(q, v, [0.0] * model.nv)
    return "loaded"


def attempt_study(path: Path | str) -> str:
    """What becomes of a study file."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        load_study(path)
    return "loaded"


def _info(path: Path | str) -> None:
    """`polhode info`: it ends well, with nothing that steers a terminal."""
    for options in ([], ["--json"]):
        result = CliRunner().invoke(main, ["info", str(path), *options])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        odd = [c for c in result.output if not c.isprintable() and c != "\n"]
        assert result.exit_code == 0, result.output
        assert not odd, f"printed {odd[:3]}"


def attempt_content(kind: str, content: bytes, folder: Path) -> str:
    """The same for a case of `cases`, written into a folder."""
    if kind in ("stl", "obj"):
        (folder / f"m.{kind}").write_bytes(content)
        kind, content = "mjcf", MESHED.format(kind).encode()
    (folder / "arm.sdf").write_text(SDF)  # that directives name
    path = folder / f"hostile.{SUFFIX[kind]}"
    path.write_bytes(content)
    return attempt_study(path) if kind == "study" else attempt(path)


if __name__ == "__main__":  # python tests/campaigns/hostile_files.py SEED COUNT
    from harness import run

    print(run(cases(int(sys.argv[1]), int(sys.argv[2])), attempt_content, workers=os.cpu_count() or 1))
