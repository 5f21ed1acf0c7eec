"""Real robots as published: URDF files of the package example-robot-data, which Pinocchio reads too."""

import warnings
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, files
from math import inf
from pathlib import Path

from polhode.errors import PolhodeWarning
from polhode.formats.load import load
from polhode.model import Joint, Model

PACKAGE = "example-robot-data"
"""The package whose files are read."""


@dataclass(frozen=True)
class PublishedRobot:
    """A URDF file of the package, and how it is read.

    path  the end of its path
    free  whether its root is on a free joint
    held  the joints that are welded as they are at zero
    """

    path: str
    free: bool = False
    held: tuple[str, ...] = ()


ROBOTS = {
    "panda": PublishedRobot("panda_description/urdf/panda.urdf"),
    "panda-arm": PublishedRobot(
        "panda_description/urdf/panda.urdf", held=("panda_finger_joint1", "panda_finger_joint2")
    ),
    "ur5": PublishedRobot("ur_description/urdf/ur5_robot.urdf"),
    "solo": PublishedRobot("solo_description/robots/solo12.urdf", free=True),
    "talos": PublishedRobot("talos_data/robots/talos_full_v2.urdf", free=True),
}
"""By the name that `run_bench` and the command line take."""


def missing(name: str) -> str:
    """Why a machine cannot be read; "" where it can, or where it is none of the robots."""
    if name not in ROBOTS or file_of(name):
        return ""
    return f"{name}: no {ROBOTS[name].path} of {PACKAGE}, which pip install '.[bench]' brings"


def file_of(name: str) -> Path | None:
    """The URDF file of a robot; None where the package is not installed, or has no such file."""
    try:
        found = files(PACKAGE) or ()
    except PackageNotFoundError:
        return None
    paths = [Path(str(file.locate())) for file in found if str(file).endswith(f"/{ROBOTS[name].path}")]
    return next((path for path in paths if path.is_file()), None)


def options_of(name: str) -> dict[str, str]:
    """The options by which `ph.load` reads the file of a robot; mimic joints are free, as Pinocchio takes them."""
    return {"base": "free" if ROBOTS[name].free else "fixed", "mimic": "free"}


def robot(name: str) -> Model:
    """The model of a robot whose file is there."""
    about, path = ROBOTS[name], file_of(name)
    assert path is not None, missing(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolhodeWarning)  # what is not read of the file: pictures, limits of torque
        model = load(path, **options_of(name))
    return replace(model, name=name, joints=tuple(_welded(x) if x.name in about.held else x for x in model.joints))


def _welded(joint: Joint) -> Joint:
    return replace(joint, type="fixed", lower=-inf, upper=inf)
