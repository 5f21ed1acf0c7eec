"""MuJoCo's MjSpec read uncompiled: parsing a string, and what parsing leaves open (orientations, frames)."""

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

from polhode.errors import ModelError, PolhodeError, message
from polhode.formats.placement import FramePose, turn_from_z
from polhode.formats.xml_guard import XmlElement, shorten, write_xml
from polhode.quaternion import from_matrix, normalise, product
from polhode.scalar import Vec, cross, dot, length, vec

AXES = {"x": vec(1.0, 0.0, 0.0), "y": vec(0.0, 1.0, 0.0), "z": vec(0.0, 0.0, 1.0)}


def the_mujoco() -> Any:
    """The package mujoco."""
    try:
        return importlib.import_module("mujoco")
    except ImportError as error:
        fix = "Install it: pip install 'polhode[robots]'."
        raise PolhodeError(message("load_mjcf", "MuJoCo is missing", str(error), "the package mujoco", fix)) from None


def fresh(name: str, taken: set[str]) -> str:
    """A name that is not taken, and is from now on: underscores are added where needed."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


@contextmanager
def without_log() -> Iterator[None]:
    """No MUJOCO_LOG.TXT in the user's folder: MuJoCo's warnings go nowhere, what matters is checked here."""
    mujoco = the_mujoco()
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


@dataclass(frozen=True)
class Parsed:
    """A spec, and the element of the user's file behind every line of the string it was parsed from."""

    spec: Any
    nodes: list[XmlElement]
    shown: str

    def node(self, info: str) -> XmlElement | None:
        """The element that MuJoCo means by "line 7"."""
        found = re.search(r"\bline (\d+)", info)
        line = int(found[1]) if found else 0
        return self.nodes[line - 1] if 0 < line <= len(self.nodes) else None

    def place(self, element: Any) -> str:
        """File and line of an element of the spec, as far as known."""
        node = self.node(element.info)
        return f"{node.file}:{node.line}" if node else self.shown

    def fault(self, error: Exception) -> ModelError:
        """The ModelError of an error of MuJoCo."""
        text = str(error).strip()
        node = self.node(text)
        said = text.splitlines()[0].removeprefix("XML ").removeprefix("Error: ").strip() if text else repr(error)
        return ModelError(
            message(node.where if node else self.shown, "MuJoCo cannot read it", shorten(said, 200), "MJCF")
        )


def parse(root: XmlElement, shown: str) -> Parsed:
    """The spec of a cleaned MJCF tree."""
    text, nodes = write_xml(root)
    mujoco = the_mujoco()
    with without_log():
        try:
            return Parsed(mujoco.MjSpec.from_string(text), nodes, shown)
        except Exception as error:
            raise Parsed(None, nodes, shown).fault(error) from None


def orientation(element: Any, quat: Any, alternative: Any) -> Vec:
    """The unit quaternion of an element, from whichever of MJCF's five forms it has.

    quat         the element's `quat`, or `iquat`, of any length
    alternative  its `alt`, or `ialt`; angles are in the units of the element's compiler
    """
    kind = alternative.type.name.removeprefix("mjORIENTATION_")
    unit = pi / 180 if element.compiler.degree else 1.0
    try:
        match kind:
            case "AXISANGLE":
                *axis, angle = (float(x) for x in alternative.axisangle)
                return turn(Vec(axis) / length(Vec(axis)), angle * unit)
            case "XYAXES":
                return _from_xy_axes(as_vec(alternative.xyaxes[:3]), as_vec(alternative.xyaxes[3:]))
            case "ZAXIS":
                return turn_from_z(alternative.zaxis)
            case "EULER":
                return _from_euler("".join(element.compiler.eulerseq), [float(x) * unit for x in alternative.euler])
        return normalise(as_vec(quat))
    except ZeroDivisionError:
        found = "axes of no length, or parallel ones"
        raise ModelError(message(f"'{element.name}', {kind.lower()}", "no direction", found, "directions")) from None


def as_vec(values: Any) -> Vec:
    """Numbers of a spec as plain floats."""
    return Vec(float(x) for x in values)


def turn(axis: Vec, angle: float) -> Vec:
    """The quaternion of a turn about a unit axis."""
    return vec(cos(angle / 2), *(sin(angle / 2) * axis))


def _from_xy_axes(x: Vec, y: Vec) -> Vec:
    """The quaternion of a frame with this x axis and y in this half plane."""
    x = x / length(x)
    y = y - dot(x, y) * x
    y = y / length(y)
    z = cross(x, y)
    return from_matrix(Vec(Vec(row) for row in zip(x, y, z, strict=True)))


def _from_euler(sequence: str, angles: list[float]) -> Vec:
    """Three turns; a small letter turns about the axis carried along, a capital about the fixed one."""
    found = vec(1.0, 0.0, 0.0, 0.0)
    for letter, angle in zip(sequence, angles, strict=True):
        about = turn(AXES[letter.lower()], angle)
        found = product(found, about) if letter.islower() else product(about, found)
    return normalise(found)


def frame_of(element: Any) -> FramePose:
    """The pose in its body of the nested <frame>s that an element stands in."""
    found = FramePose()
    frame = element.frame
    while frame is not None:
        found = FramePose(as_vec(frame.pos), orientation(frame, frame.quat, frame.alt)).then(found)
        frame = frame.frame
    return found


def placement(element: Any) -> FramePose:
    """The pose of a body or geom in its parent body."""
    return frame_of(element).then(FramePose(as_vec(element.pos), orientation(element, element.quat, element.alt)))
