"""Our model files: what they say is what the model is; what is wrong in them is told with file, line and path."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import polhode as ph
from polhode.formats import document
from polhode.formats.entries.entry_values import FileContext
from polhode.formats.expression import Fault, evaluate, evaluate_on
from polhode.formats.expression_functions import expression
from polhode.formats.overrides import overridden
from polhode.formats.schema import GROUPS, model_entry_for
from polhode.formats.yaml import load_yaml, model_from_yaml, to_yaml

ROOT = Path(__file__).resolve().parents[2]
ARM = """\
name: arm
parameters:
  m1: 1.2
  l: 2*m1 + pi/4
bodies:
  upper: {mass: m1, inertia: [0.1, 0.1, 0.02], center: [0, 0, -l]}
  lower:
    mass: {parameter: m 2, value: 3}
    inertia:
      - [1, 0, 0]
      - [0, 1, 0]
      - [0, 0, 1e-3]
    physical: true
joints:
  hip: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], lower: -pi, upper: .inf, damping: 0.5}
  knee: {type: universal, parent: upper, child: lower, axis: [1, 0, 0], stiffness: [1, 2], lower: [-1, -.inf], upper: 1}
forces:
  push: {body: upper, force: [1, 0, 0], axes: body}
  band: {type: spring, body_a: world, body_b: lower, stiffness: 10}
constraints:
  together: {type: of-another-program, joint: hip, source: knee, list: [1, [a, true]]}
start: {q: [0, 1, 2], v: [0, 0, 0], duration: 2, method: rk4}
"""


def read(text):
    return model_from_yaml(text, "arm.yaml")


def fault(text):
    with pytest.raises(ph.ModelError) as error:
        read(text)
    return str(error.value)


def changed(old, new):
    assert old in ARM
    return fault(ARM.replace(old, new, 1))


def test_a_file_says_what_the_model_is():
    arm = read(ARM)
    length = 2 * 1.2 + math.pi / 4
    assert arm.body("upper") == ph.Body("upper", ph.Parameter("m1", 1.2), (0.1, 0.1, 0.02), (0, 0, -length))
    assert arm.body("lower").mass == ph.Parameter("m 2", 3.0)
    assert arm.body("lower").inertia == ((1, 0, 0), (0, 1, 0), (0, 0, 1e-3))
    assert arm.joint("hip").lower == -math.pi
    assert arm.joint("knee").axis2 == (0, 1, 0)
    assert arm.joint("knee").lower == (-1, -math.inf)
    assert arm.forces[0] == ph.Force("push", "upper", (1, 0, 0), axes="body")
    assert arm.forces[1] == ph.Spring("band", "world", "lower", stiffness=10)
    assert arm.constraints[0].data["list"] == (1, ("a", True))
    assert arm.start == ph.Start((0, 1, 2), (0, 0, 0), 2, "rk4")
    assert arm.gravity == (0, 0, -9.81)


def test_ten_lines_describe_a_pendulum():
    page = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    small, whole = re.findall(r"```yaml\n(.*?)```", page, re.S)
    assert small.count("\n") <= 10
    assert read(small).nv == 1
    crane = read(whole)
    assert (crane.nq, crane.nv, len(crane.forces)) == (6, 5, 2)
    assert read(to_yaml(crane)) == crane


@pytest.mark.parametrize(
    ("way", "matrix"),
    [
        ("rpy: [0.1, 0.2, 0.3]", lambda a: a(3, 0.3) @ a(2, 0.2) @ a(1, 0.1)),
        ("euler: {sequence: 313, angles: [0.1, 0.2, 0.3]}", lambda a: a(3, 0.1) @ a(1, 0.2) @ a(3, 0.3)),
        ('euler: {sequence: "extrinsic-123", angles: [0.1, 0.2, 0.3]}', lambda a: a(3, 0.3) @ a(2, 0.2) @ a(1, 0.1)),
        ("orientation: [cos(0.2), 0, sin(0.2), 0]", lambda a: a(2, 0.4)),
    ],
)
def test_orientations_are_those_they_name(way, matrix):
    def about(axis, angle):
        c, s = math.cos(angle), math.sin(angle)
        R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        return np.roll(np.roll(R, axis - 1, 0), axis - 1, 1)

    joint = read(ARM.replace("axis: [0, 1, 0]", way)).joint("hip")
    found = ph.quaternion.rotation_matrix(np.array(joint.orientation))
    assert np.max(abs(found - matrix(about))) < 1e-15


def test_writing_and_reading_gives_the_same_model():
    arm = read(ARM)
    assert read(to_yaml(arm)) == arm
    assert to_yaml(read(to_yaml(arm))) == to_yaml(arm)


printable = st.characters(exclude_categories=("C", "Z"), include_characters=" ")
names = st.text(printable, min_size=1, max_size=8).filter(lambda text: text != "world")
numbers = st.floats(-1e9, 1e9)


@st.composite
def models(draw):
    """Chains with odd names and numbers."""
    count = draw(st.integers(1, 4))
    bodies = draw(st.lists(names, min_size=count, max_size=count, unique=True))
    any_number = st.one_of(numbers, st.just(ph.Parameter(draw(names), draw(numbers))))
    vectors = st.tuples(any_number, any_number, any_number)
    types = st.sampled_from(["revolute", "prismatic", "cylindrical", "planar", "spherical", "free", "fixed"])
    joints, parent = [], "world"
    for k, body in enumerate(bodies):
        limits = {"lower": draw(st.sampled_from([-math.inf, -1.5])), "damping": draw(st.floats(0, 1e-5))}
        joints.append(ph.Joint(f"{body}{k}", draw(types), parent, body, position=draw(vectors), **limits))
        parent = draw(st.sampled_from(["world", body]))
    made = [ph.Body(body, draw(st.floats(1e-6, 1e6)), (1.0, 1.0, 1.0), draw(vectors)) for body in bodies]
    force = ph.Force(draw(names), bodies[0], draw(vectors))
    data = {"name": draw(names), "flag": True, "list": (1, 2.0, None), "map": {"a": draw(names)}}
    limit = ph.Constraint(draw(names), draw(names), data)
    return ph.Model(
        draw(names), draw(vectors), made, joints, [force], [limit], draw(st.sampled_from([None, ph.Start()]))
    )


@settings(max_examples=40)
@given(models())
def test_every_name_and_number_survives_a_file(model):
    assert read(to_yaml(model)) == model


def test_what_a_file_cannot_hold_is_an_error():
    body, joint = ph.Body("b", 1.0, (1, 1, 1)), ph.Joint("j", "revolute", "world", "b")
    for force in (ph.ForceFunction("drag", lambda t, q, v: [-v[0]]), ph.Force("push", "b", lambda t: (t, 0, 0))):
        with pytest.raises(ph.ModelError, match=rf"forces.{force.name}: a function of Python"):
            to_yaml(ph.Model("m", bodies=[body], joints=[joint], forces=[force]))
    two = ph.Body("b", ph.Parameter("m", 1.0), (1, 1, 1), (ph.Parameter("m", 2.0), 0, 0))
    with pytest.raises(ph.ModelError, match="two values"):
        to_yaml(ph.Model("m", bodies=[two], joints=[joint]))
    with pytest.raises(ph.ModelError, match="cannot be written"):
        to_yaml(ph.Model("m", bodies=[body], joints=[joint], constraints=[ph.Constraint("c", "t", {"x": object()})]))


@pytest.mark.parametrize(
    ("old", "new", "start", "words"),
    [
        ("mass: m1", "mas: m1", "arm.yaml:6, bodies.upper.mass: missing", ["'mas'", "Did you mean 'mass'?"]),
        ("mass: m1", "mass: -1", "arm.yaml:6, bodies.upper.mass: ", ["-1 kg", "above 0"]),
        ("mass: m1", "mass: true", "arm.yaml:6, bodies.upper.mass: not a number", ["True"]),
        ("mass: m1", "mass: [1]", "arm.yaml:6, bodies.upper.mass: not a number", ["[1]"]),
        ("mass: m1", "mass: ~", "arm.yaml:6, bodies.upper.mass: not a number", ["found nothing"]),
        ("mass: m1", "mass: .nan", "arm.yaml:6, bodies.upper.mass: not a finite number", ["nan"]),
        ("mass: m1", "mass: 1e999", "arm.yaml:6, bodies.upper.mass: not a finite number", ["inf"]),
        ("mass: m1", "mass: m2", "arm.yaml:6, bodies.upper.mass: an unknown name", ["'m2'", "m1, l"]),
        ("value: 3", "value: x", "arm.yaml:8, bodies.lower.mass: an unknown name", ["'x'"]),
        ("parameter: m 2, value: 3", "parameter: m1, value: 3", "arm.yaml:8, bodies.lower.mass", ["two values", "1.2"]),
        ("  m1: 1.2", "  sin: 1.2", "arm.yaml:3, parameters.sin", ["cannot be called so"]),
        ("  m1: 1.2", "  m1: l", "arm.yaml:3, parameters.m1: an unknown name", ["'l'", "none is defined"]),
        ("      - [0, 1, 0]\n", "", "arm.yaml:9, bodies.lower.inertia: wrong size", ["2 values", "three rows"]),
        ("[0, 0, 1e-3]", "[0, 0, 1e-3, 4]", "arm.yaml:12, bodies.lower.inertia.2: wrong size", ["4 values"]),
        ("[0, 0, 1e-3]", "[0, 0, oops]", "arm.yaml:12, bodies.lower.inertia.2.2: an unknown name", ["'oops'"]),
        ("- [0, 0, 1e-3]", "- 3", "arm.yaml:12, bodies.lower.inertia.2: not a list", ["found 3"]),
        ("[0, 0, 1e-3]", "[0, 0, 5]", "arm.yaml:9, bodies.lower.inertia: not that of a real body", ["1, 1, 5"]),
        ("physical: true", "physical: yes", "arm.yaml:13, bodies.lower.physical", ["'yes'", "true or false"]),
        ("type: revolute, ", "", "arm.yaml:15, joints.hip.type: missing", ["kind of joint"]),
        ("type: revolute", "type: revolut", "arm.yaml:15, joints.hip: unknown type", ["Did you mean 'revolute'?"]),
        ("type: revolute", "type: Ball", "arm.yaml:15, joints.hip: unknown type", ["Did you mean 'spherical'?"]),
        ("type: revolute", "type: 3", "arm.yaml:15, joints.hip.type: not text", ["found 3"]),
        ("axis: [0, 1, 0]", "axis: [0, 0, 0]", "arm.yaml:15, joints.hip.axis: is zero", []),
        ("axis: [0, 1, 0]", "axis: 3", "arm.yaml:15, joints.hip.axis: not a list", []),
        ("axis: [0, 1, 0]", "axis: [0, .nan, 0]", "arm.yaml:15, joints.hip.axis.1: not a finite number", []),
        ("axis: [0, 1, 0]", "rpy: [0, 0, 0], orientation: [1, 0, 0, 0]", "arm.yaml:15, joints.hip.rpy", ["twice"]),
        ("axis: [0, 1, 0]", "orientation: [1, 1, 0, 0]", "arm.yaml:15, joints.hip.orientation", ["1.414"]),
        ("axis: [0, 1, 0]", "euler: {sequence: 311, angles: [0, 0, 0]}", "arm.yaml:15, joints.hip.euler", ["'311'"]),
        ("axis: [0, 1, 0]", "euler: {sequence: 313}", "arm.yaml:15, joints.hip.euler.angles: missing", ["rad"]),
        ("parent: upper", "parent: uper", "arm.yaml:16, joints.knee.parent: unknown body", ["Did you mean 'upper'?"]),
        ("parent: upper", "parent: 7", "arm.yaml:16, joints.knee.parent: not a name", ["quotes"]),
        ("parent: world", "parent: lower", "arm.yaml:15, joints.hip: the joints make a cycle", ["not reached"]),
        ("child: lower", "child: upper", "arm.yaml:16, joints.knee: parent and child are one body", []),
        ("parent: upper, child: lower", "parent: world, child: upper", "arm.yaml:16, joints.knee: a body with two", []),
        ("  knee:", "  hip:", "arm.yaml:16: a key twice", ["'hip'", "line 15"]),
        ("  lower:\n", "  world:\n", "arm.yaml:7, bodies.world: a body named 'world'", ["the ground"]),
        ("stiffness: 10", "stifness: 10", "arm.yaml:19, forces.band.stifness: an unknown key", ["'stiffness'"]),
        ("type: spring", "type: string", "arm.yaml:19, forces.band.type: an unknown type", ["force or spring"]),
        ("body: upper", "body: uper", "arm.yaml:18, forces.push: unknown body", ["'upper'"]),
        ("axes: body", "axes: bod", "arm.yaml:18, forces.push.axes: unknown", ["'bod'"]),
        ("q: [0, 1, 2]", "q: [0, 1]", "arm.yaml:22, start.q: wrong size", ["3 numbers"]),
        ("duration: 2", "durration: 2", "arm.yaml:22, start.durration: an unknown key", ["'duration'"]),
        ("name: arm\n", "", "arm.yaml:1, name: missing", ["of the model"]),
        ("bodies:\n", "bodies: 3\nbodiez:\n", "arm.yaml:5, bodies: not a mapping", ["arm.yaml:6, bodiez", "'bodies'"]),
        ("start: {", "start: [", "arm.yaml:22: not YAML", ["start: [q"]),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_file_line_and_path(old, new, start, words):
    told = changed(old, new)
    assert told.startswith(start), told
    assert "expected" in told
    assert "pydantic" not in told
    for word in words:
        assert word in told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty file"]),
        ("# nothing\n", ["empty file"]),
        ("just text", ["arm.yaml:1", "not a model"]),
        ("- 1\n- 2", ["not a model"]),
        ("name: a\n\tb: 1", ["arm.yaml:2", "not YAML"]),
        ("name: a\nbodies: {a: b: c}", ["arm.yaml:2", "not YAML"]),
        ("name: 'a", ["not YAML"]),
        ("name: a\x00b", ["not YAML"]),
        ('name: "\\UFFFFFFFF"', ["not YAML"]),
        ("name: a\n---\nname: b", ["arm.yaml:3", "second document"]),
        ("name: a\n? [1, 2]\n: 3", ["arm.yaml:2", "as a key"]),
        ("x: &x {a: 1}\ny:\n  <<: *x", ["arm.yaml:3", "merge key"]),
        ("name: *nobody", ["arm.yaml:1", "'*nobody'"]),
        ("name: &me [*me]", ["arm.yaml:1", "'*me'"]),
        ("name: !!python/object/apply:os.system ['true']", ["arm.yaml:1", "a tag", "os.system"]),
        ("name: a\nbodies: !!python/name:os.system", ["arm.yaml:2", "a tag"]),
        ("name: a\nbodies: !body {}", ["arm.yaml:2", "a tag", "!body"]),
        ("[" * 100_000, ["nested too deeply", "50"]),
        ("{a: " * 100_000, ["nested too deeply", "50"]),
        ("- " * 100_000, ["nested too deeply", "50"]),
    ],
)
def test_what_is_not_a_model_is_an_error_of_ours(text, words):
    told = fault(text)
    for word in words:
        assert word in told


def test_a_bomb_of_aliases_does_not_go_off():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 30)]
    assert "too many values" in fault("\n".join(lines))


def test_aliases_repeat_a_value():
    arm = read("name: a\nbodies:\n  a: &a {mass: 1, inertia: [1, 1, 1]}\n  b: *a\njoints:\n"
               "  j: {type: free, parent: world, child: a}\n  k: {type: free, parent: world, child: b}")  # fmt: skip
    assert arm.bodies[0].mass == arm.bodies[1].mass == 1
    told = fault("name: a\nbodies:\n  a: &a {mass: 1, inertia: [1, 1]}\n  b: *a")
    assert "arm.yaml:3, bodies.a.inertia" in told
    assert "arm.yaml:4, bodies.b.inertia" in told


def test_files_of_any_size_and_kind_end_soon(tmp_path, monkeypatch):
    large = tmp_path / "large.yaml"
    with large.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(ph.ModelError, match=r"large.yaml: too large[^0-9]*\n  found 100 MB; expected at most 16 MB"):
        load_yaml(large)
    monkeypatch.setattr(document, "MOST", 1000)
    assert "too many values" in fault("a: [" + "1," * 2000 + "]")
    (tmp_path / "latin.yaml").write_bytes("name: a\n# é".encode("latin-1"))
    with pytest.raises(ph.ModelError, match=r"latin.yaml:2: not text in UTF-8"):
        load_yaml(tmp_path / "latin.yaml")
    with pytest.raises(ph.InputError, match="not a file"):
        load_yaml(tmp_path)
    with pytest.raises(ph.InputError, match="cannot be read"):
        load_yaml(tmp_path / "missing.yaml")


def test_many_faults_are_told_in_the_order_of_lines_up_to_five():
    bodies = "".join(f"  b{k}: {{mass: x, inertia: [1, 1, 1]}}\n" for k in range(9))
    told = fault("name: a\nbodies:\n" + bodies)
    assert [int(line) for line in re.findall(r"arm.yaml:(\d+)", told)] == [3, 4, 5, 6, 7]
    assert told.endswith("… and 4 more")


def test_warnings_of_the_records_name_file_and_line():
    text = ARM.replace("mass: {parameter: m 2, value: 3}", "mass: 0").replace("physical: true", "physical: false")
    with pytest.warns(ph.PolhodeWarning, match=r"arm.yaml:8, bodies.lower.mass: not that of a real body"):
        read(text)


@pytest.mark.parametrize(
    ("limits", "kept", "told"),
    [
        ("lower: 2, upper: 1.5", (-math.inf, math.inf), "lower 2, upper 1.5"),
        ("lower: pi, upper: -.inf", (-math.inf, math.inf), "lower 3.14159, upper -inf"),
        ("upper: 1, lower: .inf", (-math.inf, math.inf), "lower inf, upper 1"),
        ("lower: 1, upper: 1", (1, 1), ""),
    ],
)
def test_a_lower_limit_above_the_upper_one_is_no_limit_and_told(recwarn, limits, kept, told):
    joint = read(ARM.replace("lower: -pi, upper: .inf", limits)).joint("hip")
    assert (joint.lower, joint.upper) == kept
    assert [str(w.message).splitlines()[0] for w in recwarn] == (
        ["arm.yaml:15, joints.hip.lower: above upper."] if told else []
    )
    assert not told or told in str(recwarn[0].message)


def test_crossed_limits_of_one_coordinate_leave_the_others(recwarn):
    joint = read(ARM.replace("lower: [-1, -.inf], upper: 1", "lower: [-1, 3], upper: 1")).joint("knee")
    assert (joint.lower, joint.upper) == ((-1, -math.inf), (1, math.inf))
    assert "lower 3, upper 1" in str(recwarn.pop(ph.PolhodeWarning).message)


def test_a_type_that_is_no_text_is_told():
    told = fault(ARM.replace("type: of-another-program", "type: [of, another]"))
    assert told.startswith("arm.yaml:21, constraints.together.type: not a name")


@settings(max_examples=150)
@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%,? \n01.~", max_size=60))
def test_no_text_gives_an_error_of_a_library(text):
    try:
        read(text)
    except ph.ModelError:
        return


@settings(max_examples=150)
@given(st.data())
def test_no_torn_file_gives_an_error_of_a_library(data):
    at = data.draw(st.integers(0, len(ARM) - 1))
    size = data.draw(st.integers(0, 12))
    put = data.draw(st.text(alphabet="ab:-[]{}&*!'\" \n01.", max_size=4))
    try:
        read(ARM[:at] + put + ARM[at + size :])
    except (ph.ModelError, ph.PolhodeWarning):  # crossed limits, as of -.inf torn to inf, are a warning of ours
        return


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("  2*m1 + pi/4 ", 2.4 + math.pi / 4),
        ("-2^2", -4),
        ("2^3^2", 512),
        ("2^-1", 0.5),
        ("6/3/2", 1),
        ("1 - 2 - 3", -4),
        ("--1", 1),
        ("2*-3", -6),
        ("sqrt(abs(-4)) + log(exp(1))", 3),
        ("sin(pi/6)*cos(0)+tan(0)", 0.5),
        (".5e1", 5),
        ("(((1)))", 1),
        ("-" * 999 + "1", -1),
    ],
)
def test_expressions_have_their_value(text, value):
    assert evaluate(text, {"m1": 1.2}) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text",
    ["__import__('os').system('true')", "m1.__class__", "m1()", "().__class__", "eval('1')", "lambda: 1", "m1[0]",
     "1 if 1 else 2", "2**3", "1;2", "m1 m1", "", "1 +", "(1", "1)", "sin", "sin 1", "sin()", "1e", "0x10", "1_000",
     "1/0", "0^-1", "(-8)^(1/3)", "sqrt(-1)", "log(0)", "exp(1000)", "9^9^9^9", "1e999", "(" * 500,
     "2^" * 400 + "1", "1" * 2000, "\u0661", "m1\u0301\u0301", "pi()", "`id`", "${m1}", "a" * 5000],
)  # fmt: skip
def test_nothing_but_arithmetic_is_an_expression(text):
    with pytest.raises(Fault):
        evaluate(text, {"m1": 1.2})


@pytest.mark.parametrize("text", ["1/0", "0^-1", "1e999", "x/(x - x)", "1/(1 - 1)", "9" * 400, "(" * 500])
def test_expressions_of_scalars_without_a_value_are_faults(text):
    with pytest.raises(Fault):
        evaluate_on(text, {"x": 2.0})


def test_an_expression_that_loses_its_value_is_an_error_of_ours():
    written = expression("1/(1 - t)", {}, ("t",))
    assert written(0.0) == 1
    with pytest.raises(ph.InputError, match=r"expression '1/\(1 - t\)': a division by zero"):
        written(1.0)
    with pytest.raises(Fault, match="too long"):
        expression("+".join(["a"] * 400), {"a": 1 / 3}, ("t",))


@pytest.mark.parametrize(
    "text",
    ["", "=", "q=", "=1", "gravity.²=1", "gravity.9=1", "gravity.-1=1", "gravity.0.0=1", "gravity=1,2", "gravity=1,,2",
     "gravity." + "9" * 5000 + "=1", "bodies.upper.mass=nan", "bodies.upper.mass=1/0", "bodies.upper.mass=1,2",
     "hip.q=1,2", "bodies.upper.name=1", "joints.hip.type=1", "nobody.q=1", "joints.hip.axis=0,0,0", "a" * 9999 + "=1",
     "q=1e999,1,1"],
)  # fmt: skip
def test_overrides_that_make_no_sense_are_errors_of_ours(text):
    with pytest.raises(ph.PolhodeError):
        overridden(read(ARM), [text])


@pytest.mark.parametrize("group", GROUPS)
def test_a_file_may_leave_out_any_group_and_each_group_is_checked(group):
    whole = {"name": "box", "bodies": {"box": {"mass": 1.0, "inertia": [1.0, 1.0, 1.0]}}}
    assert model_entry_for(whole).model_validate(whole, context=FileContext({}, [])).bodies.keys() == {"box"}
    wrong = f"name: box\n{group}:\n  part: 7\n"
    assert f"{group}.part" in fault(wrong)
