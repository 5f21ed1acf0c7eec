"""Beams in model files: sections by shape, ends, units, and faults with their line."""

import numpy as np
import pytest

import polhode as ph
from polhode.formats.yaml import model_from_yaml, to_yaml

ROTOR = """\
name: rotor
materials:
  brass: {young: 100e9, poisson: 0.34, density: 8500}
sections:
  rod: {shape: circle, diameter: 6 mm, material: steel}
  strip: {shape: rectangle, width: 20 mm, height: 1 mm, material: brass}
  cord: {axial: 1e4, bending_y: 0.1, bending_z: 0.1, torsion: 0.1, mass: 0.2, inertia_y: 1e-6, inertia_z: 1e-6}
bodies:
  hub: {mass: 2, inertia: [0.01, 0.01, 0.02]}
joints:
  shaft: {type: revolute, parent: world, child: hub, axis: [0, 0, 1]}
beams:
  blade:
    section: rod
    start: {body: hub, position: [0.05, 0, 0]}
    end: [85 cm, 0, 0]
    elements: 2
    damping: 1e-4
    load: [0, 0, -3]
    driven: {elongation: 0.001*sin(3*t)}
  tail:
    section: strip
    start: {body: blade-2, joint: revolute, axis: [0, 1, 0]}
    end: [1, 0, 0]
    up: [0, 1, 0]
    elements: 1
    held: [elongation, torsion]
start: {v: {shaft: 1.0}}
"""


def test_beams_of_a_file_are_those_of_python():
    brass = ph.Material(100e9, 0.34, 8500.0)
    blade = ph.Beam(
        "blade", ph.Section.circle(0.006), ph.BeamEnd("hub", (0.05, 0, 0)), (0.85, 0, 0), elements=2, damping=1e-4,
        load=(0, 0, -3), driven={"elongation": ph.sin},
    )  # fmt: skip
    tail = ph.Beam(
        "tail", ph.Section.rectangle(0.02, 0.001, brass), ph.BeamEnd("blade-2", joint="revolute", axis=(0, 1, 0)),
        (1, 0, 0), up=(0, 1, 0), elements=1, held=["elongation", "torsion"],
    )  # fmt: skip
    hub = ph.Body("hub", 2, (0.01, 0.01, 0.02))
    shaft = ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1))
    python = ph.Model("rotor", bodies=[hub], joints=[shaft], beams=[blade, tail])
    found = model_from_yaml(ROTOR, "rotor.yaml")
    assert found.bodies == python.bodies
    assert found.joints == python.joints
    assert found.forces == python.forces
    assert [x.name for x in found.constraints] == [x.name for x in python.constraints]
    assert found.start.v[0] == 1.0


def test_a_model_with_beams_is_written_and_read_again():
    found = model_from_yaml(ROTOR, "rotor.yaml")
    assert model_from_yaml(to_yaml(found), "again.yaml") == found


@pytest.mark.parametrize(
    ("written", "instead", "said"),
    [
        ("shape: circle", "shape: cirle", "rotor.yaml:5.*unknown.*Did you mean 'circle'"),
        ("6 mm", "6 kg", "rotor.yaml:5.*unit of another dimension"),
        ("material: steel", "material: stel", "rotor.yaml:5.*Did you mean 'steel'"),
        ("section: rod", "section: rood", "no such section.*Did you mean 'rod'"),
        ("body: hub", "body: hup", "unknown body.*Did you mean 'hub'"),
        ("diameter: 6 mm", "outer: 3 mm", "not the lengths of a circle"),
        ("shape: circle, ", "", "a shape without its name"),
        ("elongation: 0.001", "elongaton: 0.001", "no such strain.*elongation"),
        ("load: [0, 0, -3]", "load: [0, 0]", "rotor.yaml:19"),
        ("elements: 2", "elments: 2", "elments"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(written, instead, said):
    with pytest.raises(ph.ModelError, match=f"(?s){said}"):
        model_from_yaml(ROTOR.replace(written, instead, 1), "rotor.yaml")


def test_a_file_has_curved_beams():
    """An element is as long as its arc."""
    text = """\
name: hook
sections: {rod: {shape: circle, diameter: 6 mm}}
beams:
  hook: {section: rod, start: {body: world}, end: [1, 1, 0], through: [[0.8, 0.4, 0]], curved: true}
"""
    elements = [force for force in model_from_yaml(text, "hook.yaml").forces if isinstance(force, ph.BeamElement)]
    turn = np.arcsin(0.8)  # of a quarter of a circle about (0, 1, 0)
    assert [element.length for element in elements] == pytest.approx([turn, np.pi / 2 - turn])
