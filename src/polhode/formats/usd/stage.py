"""A USD stage as values: its prims with their attributes, checked; read by a process of its own."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from polhode.errors import ModelError, PolhodeError, escaped, message
from polhode.formats.placement import FramePose
from polhode.formats.remarks import located
from polhode.formats.usd import stage_reader
from polhode.quaternion import from_matrix, normalise
from polhode.scalar import Vec

SECONDS = 90
"""How long the process may take; its own bound is on processor time."""
SHEARED = 1e-5
"""Cosine between two axes of a prim above which they are not orthogonal: numbers of files have six or seven digits."""
OWN = ("PXR_", "USD", "TF_", "AR_", "SDF_", "PCP_")
"""Beginnings of the names of environment variables that change what Pixar's library does."""

BODY, MASS, COLLISION = "PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsCollisionAPI"


class ScaledPose(NamedTuple):
    """The pose of a prim in the world, m, and the factors of lengths along its axes, stage units."""

    at: FramePose
    scale: np.ndarray


@dataclass(frozen=True)
class Prim:
    """A prim of a stage, with what was written of it."""

    shown: str
    path: str
    kind: str
    schemas: tuple[str, ...]
    values: dict[str, Any]
    timed: tuple[str, ...]
    targets: dict[str, list[str]]
    matrix: tuple[float, ...]
    """Local to world, rows, as USD has them: row vectors are multiplied from the left."""
    density: float
    """Of its physics material, stage units; 0 where none is given."""
    moving: bool

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def where(self) -> str:
        """As in "arm.usda, prim '/arm/hand'"."""
        path = self.path if len(self.path) < 200 else f"{self.path[:200]}…"
        return f"{self.shown}, prim '{escaped(path)}'"

    def naming(self) -> located:
        """Puts the prim before the errors raised inside, unless they name one."""
        return located(self.where, f"{self.shown}, prim ")

    def has(self, schema: str) -> bool:
        """Whether a schema is applied."""
        return schema in self.schemas

    def instances(self, schema: str) -> list[str]:
        """The names under which a schema is applied several times: "angular", "transX"."""
        return [name.partition(":")[2] for name in self.schemas if name.startswith(f"{schema}:")]

    def fail(self, what: str, found: str, expected: str, fix: str = "") -> NoReturn:
        """Refuse the prim."""
        raise ModelError(message(self.where, what, found, expected, fix))

    def numbers(self, name: str, count: int, default: tuple[float, ...], infinite: bool = False) -> tuple[float, ...]:
        """An attribute of numbers."""
        value = self._value(name)
        if value is None:
            return default
        found = value if isinstance(value, list) else [value]
        is_number = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in found)
        if len(found) != count or not is_number:
            self.fail(f"{name} is not {count} numbers", repr(value)[:80], f"{count} numbers")
        if any(math.isnan(x) or (math.isinf(x) and not infinite) for x in found):
            self.fail(f"{name} is not finite", str(value)[:80], "finite numbers")
        return tuple(float(x) for x in found)

    def number(self, name: str, default: float, infinite: bool = False) -> float:
        """An attribute of one number."""
        return self.numbers(name, 1, (default,), infinite)[0]

    def flag(self, name: str, default: bool) -> bool:
        """An attribute that is true or false."""
        value = self._value(name)
        if value is None:
            return default
        if not isinstance(value, (bool, int)):
            self.fail(f"{name} is neither true nor false", repr(value)[:80], "true or false")
        return bool(value)

    def word(self, name: str, default: str, known: tuple[str, ...]) -> str:
        """An attribute that is one of some words."""
        value = self._value(name)
        if value is None:
            return default
        if value not in known:
            self.fail(f"unknown {name}", repr(value)[:80], ", ".join(known))
        return str(value)

    def target(self, name: str) -> str:
        """The one prim that a relationship names, by its path; "" where it names none."""
        found = self.targets.get(name, [])
        if len(found) > 1:
            self.fail(f"{name} names {len(found)} prims", ", ".join(found)[:120], "one")
        return found[0] if found else ""

    def turn(self, name: str) -> Vec:
        """A unit quaternion; USD has them in single precision."""
        q = Vec(self.numbers(name, 4, (1.0, 0.0, 0.0, 0.0)))
        if not any(q):
            self.fail(f"{name} is a quaternion without length", "(0, 0, 0, 0)", "one of any other length")
        with self.naming():
            return normalise(q)

    def pose(self, meters: float) -> ScaledPose:
        """Where the prim is in the world, its scale taken apart."""
        if self.moving:
            fix = "Write the stage without the motion: usdcat --flatten, then remove the time samples."
            self.fail("a pose that changes with time", "time samples of it, or of a prim above", "one pose", fix)
        M = np.array(self.matrix).reshape(4, 4)
        rows, size = M[:3, :3], np.linalg.norm(M[:3, :3], axis=1)
        if not np.isfinite(M).all() or not (size > 0).all() or not np.isfinite(size).all():
            self.fail("a pose that is none", "numbers that are infinite, or a scale of zero", "a pose")
        E = rows / size[:, None]
        if np.max(abs(E @ E.T - np.eye(3))) > SHEARED:
            fix = "Scales above it differ along its axes: apply them to the shapes, or give one scale for all axes."
            self.fail("a sheared pose", "axes that are not orthogonal", "a pose and a scale", fix)
        if np.linalg.det(E) < 0:
            self.fail("a mirrored pose", "a scale below zero", "a pose and a scale above zero")
        with self.naming():
            q = normalise(Vec(from_matrix(Vec(Vec(map(float, column)) for column in E.T))))
            return ScaledPose(FramePose(Vec(float(x) for x in meters * M[3, :3]), q), size)

    def _value(self, name: str) -> Any:
        if name in self.timed:
            fix = "Give it a value without a time."
            self.fail(f"{name} changes with time", "time samples", "one value", fix)
        return self.values.get(name)


@dataclass(frozen=True)
class Stage:
    """A stage: units, the axis that points up, prims by path."""

    shown: str
    name: str
    meters: float
    """Metres in a unit of length."""
    meters_given: bool
    kilograms: float
    """Kilograms in a unit of mass."""
    up: str
    prims: dict[str, Prim]

    def of_kind(self, *kinds: str) -> list[Prim]:
        """The prims of some types, in the order of the stage."""
        return [prim for prim in self.prims.values() if prim.kind in kinds]

    def above(self, path: str) -> Iterator[Prim]:
        """The prim of a path and those above it, as far as they are kept, from the bottom up."""
        while path:
            if path in self.prims:
                yield self.prims[path]
            path = path.rpartition("/")[0]


def read_stage(path: Path, packages: Iterable[str | Path] = ()) -> Stage:
    """The stage of a file.  packages: folders beside its own in which files that it refers to may lie"""
    folders = [str(folder.resolve()) for folder in (path.parent, *map(Path, packages))]
    answer = stage_answer(str(path.resolve()), folders)
    if "missing" in answer:
        fix = "Install it: pip install 'polhode[usd]'."
        raise PolhodeError(message("load_usd", "OpenUSD is missing", answer["missing"], "the package usd-core", fix))
    if "fault" in answer:
        where, *rest = answer["fault"]
        raise ModelError(message(f"{path}, {where}" if where else str(path), *rest))
    shown = str(path)
    prims = {
        one["path"]: Prim(**{**one, "shown": shown, "schemas": tuple(one["schemas"]), "timed": tuple(one["timed"]),
                             "matrix": tuple(one["matrix"])})
        for one in answer["prims"]
    }  # fmt: skip
    for name in ("meters", "kilograms"):
        if not (math.isfinite(answer[name]) and answer[name] > 0):
            what = f"{name}PerUnit is no unit"
            raise ModelError(message(shown, what, str(answer[name]), "a number above 0"))
    if answer["up"] not in ("X", "Y", "Z"):
        raise ModelError(message(shown, "upAxis is no axis", repr(answer["up"][:100]), '"X", "Y" or "Z"'))
    return Stage(
        shown, answer["name"], answer["meters"], answer["meters_given"], answer["kilograms"], answer["up"], prims
    )


def stage_answer(path: str, folders: list[str]) -> dict[str, Any]:
    """The answer of the process that reads a file; a crash or a hang of it is an answer too."""
    if getattr(sys, "frozen", False) or not os.path.basename(sys.executable or "").lower().startswith(("py", "pypy")):
        fix = "Read it in Python, and save the model: ph.save_model."
        return {"fault": ["", "no Python to read it with", repr(sys.executable), "a Python program", fix]}
    request = {"path": path, "folders": folders, "modules": [os.path.abspath(one) for one in sys.path if one]}
    own = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
    command = [sys.executable, "-P", str(Path(stage_reader.__file__))]
    try:
        done = subprocess.run(
            command, input=json.dumps(request).encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=SECONDS, env=own | {"PXR_WORK_THREAD_LIMIT": "1"}, cwd=folders[0], check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"fault": ["", "takes too long to read", f"more than {SECONDS} s", "less", ""]}
    try:
        return json.loads(done.stdout)
    except ValueError:
        fix = "The file is damaged, or takes too much time or memory."
        return {"fault": ["", "the reader of OpenUSD broke off", f"status {done.returncode}", "a USD file", fix]}
