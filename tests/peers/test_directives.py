"""Files of Drake's model directives, read by us and by Drake."""

import logging
import warnings

import numpy as np
import pytest

import polhode as ph
from drake_model import Beside, plant_of

INERTIAL = (
    "<inertial><pose>0.1 0 -0.3 0.1 0 0</pose><mass>1.5</mass><inertia><ixx>0.3</ixx><iyy>0.25</iyy><izz>0.2</izz>"
    "<ixy>0.01</ixy><ixz>0.02</ixz><iyz>0</iyz></inertia></inertial>"
)
ARM = f"""<sdf version="1.9"><model name="arm"><link name="base">{INERTIAL}</link>
  <link name="tip"><pose>0 0 1 0.2 0 0</pose>{INERTIAL}</link>
  <frame name="grip" attached_to="tip"><pose>0 0 0.5 0 0.3 0</pose></frame>
  <joint name="elbow" type="revolute"><parent>base</parent><child>tip</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""
TOOL = """<robot name="tool"><link name="handle"><inertial><mass value="0.4"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.05"/></inertial></link></robot>"""
DIRECTIVES = """
directives:
- add_model:
    name: left
    file: package://cell/arm.sdf
    default_joint_positions:
      elbow: [0.3]
- add_frame:
    name: table
    X_PF:
      base_frame: world
      translation: [0.1, 0.2, 0.3]
      rotation: !Rpy { deg: [10, 20, 30] }
- add_weld:
    parent: table
    child: left::base
    X_PC:
      translation: [0, 0, 0.5]
      rotation: !Rpy { deg: [0, 0, 90] }
- add_frame:
    name: mount
    X_PF:
      base_frame: left::grip
      translation: [0, 0.1, 0]
- add_model:
    name: tool
    file: package://cell/tool.urdf
- add_weld:
    parent: mount
    child: tool::handle
- add_model:
    name: loose
    file: package://cell/arm.sdf
    default_free_body_pose:
      base:
        translation: [1, 2, 3]
        rotation: !Rpy { deg: [0, 0, 45] }
- add_model_instance:
    name: spare
- add_directives:
    file: package://cell/more.dmd.yaml
    model_namespace: spare
"""
MORE = """
directives:
- add_model:
    name: right
    file: package://cell/arm.sdf
- add_weld:
    parent: world
    child: right::base
"""


@pytest.fixture
def cell(tmp_path):
    logging.getLogger("drake").setLevel(logging.CRITICAL)
    folder = tmp_path / "cell"
    folder.mkdir()
    (folder / "package.xml").write_text("<package><name>cell</name></package>")
    for name, text in (("arm.sdf", ARM), ("tool.urdf", TOOL), ("cell.dmd.yaml", DIRECTIVES), ("more.dmd.yaml", MORE)):
        (folder / name).write_text(text)
    return folder


def loaded(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        return ph.load(path, **options)


def test_directives_are_read_as_drake_reads_them(cell):
    model = loaded(cell / "cell.dmd.yaml", packages=[cell])
    plant = plant_of(cell / "cell.dmd.yaml", packages=(cell,))
    assert (model.nq, model.nv) == (plant.num_positions(), plant.num_velocities())
    beside = Beside(model, plant)
    assert max(beside.difference() for _ in range(3)) < 1e-12
    assert {frame.name for frame in model.frames} == {
        "mount", "left::grip", "loose::grip", "spare::right::grip",
    }  # fmt: skip


def test_the_start_is_drakes_default(cell):
    model = loaded(cell / "cell.dmd.yaml", packages=[cell])
    beside = Beside(model, plant_of(cell / "cell.dmd.yaml", packages=(cell,)))
    system = ph.compile(model, target="python")
    for name in ("left::tip", "loose::base", "loose::tip", "tool::handle"):
        theirs = beside.named(beside.bodies, name).body_frame().CalcPoseInWorld(beside.context)
        r, _ = system.pose(model.start.q, name)
        assert np.max(abs(r - theirs.translation())) < 1e-14


WELD = "- add_weld: {parent: world, child: %s}\n"
ARM_ENTRY = "- add_model: {name: a, file: arm.sdf}\n"
FAULTS = {
    "not model directives": "models: []",
    "not a directive": "directives:\n- add_house: {name: a}\n",
    "no such key": "directives:\n- add_model: {name: a, path: arm.sdf}\n",
    "no file": "directives:\n- add_model: {name: a}\n",
    "not found in the model's folders": "directives:\n- add_model: {name: a, file: ../arm.sdf}\n",
    "a file of elsewhere": "directives:\n- add_model: {name: a, file: 'https://example.org/a.sdf'}\n",
    "a second model of this name": "directives:\n" + ARM_ENTRY * 2,
    "no such frame": "directives:\n" + ARM_ENTRY + WELD % "a::bse",
    "a second weld of a model": "directives:\n" + ARM_ENTRY + (WELD % "a::base") * 2,
    "in a circle": "directives:\n- add_frame: {name: f, X_PF: {base_frame: f}}\n" + ARM_ENTRY + WELD % "f",
    "models welded to each other": "directives:\n"
    + ARM_ENTRY
    + "- add_model: {name: b, file: arm.sdf}\n- add_weld: {parent: a::tip, child: b::base}\n"
    "- add_weld: {parent: b::tip, child: a::base}\n",
    "not a rotation": "directives:\n- add_frame: {name: f, X_PF: {base_frame: world, rotation: {mrp: [0, 0, 0]}}}\n",
    "not finite numbers": "directives:\n- add_frame: {name: f, X_PF: {base_frame: world, translation: [.nan, 0, 0]}}\n",
    "a tag": "directives:\n- add_frame: {name: f, X_PF: !!python/object:os.system {}}\n",
    "no such joint": "directives:\n- add_model: {name: a, file: arm.sdf, default_joint_positions: {knee: [1]}}\n",
    "wrong size": "directives:\n- add_model: {name: a, file: arm.sdf, default_joint_positions: {elbow: [1, 2]}}\n",
    "too deeply": "directives:\n- add_directives: {file: a.dmd.yaml}\n",
    "too many directives": "directives:\n" + ARM_ENTRY + "- add_model_instance: {name: b}\n" * 300,
}


@pytest.mark.parametrize("what", FAULTS)
def test_faulty_directives_are_refused_by_name(cell, what):
    path = cell / "a.dmd.yaml"
    path.write_text(FAULTS[what])
    with pytest.raises(ph.ModelError, match=what):
        loaded(path)
