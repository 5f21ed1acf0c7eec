"""Drake's model directives (.dmd.yaml) → Model: files of models, welded to each other, with frames and a start.

Bodies and joints are called "NAME::link" after the name that the file gives to their model.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from polhode.errors import ModelError, check_name, did_you_mean, message, warn_caller
from polhode.euler import to_quaternion
from polhode.formats.document import Document, read_document, read_text
from polhode.formats.folders import Folders, folders_of
from polhode.formats.load import format_of
from polhode.formats.placement import FramePose
from polhode.formats.registry import FRICTION, function_named
from polhode.model import WORLD, BodyFrame, Joint, Model, Start
from polhode.quaternion import from_axis_angle
from polhode.scalar import Vec, length, one_of

TAGS = frozenset({"!Rpy", "!AngleAxis", "!Identity"})
"""Tags of rotations: what they mean follows from the keys beside them."""

DEEPEST, MOST = 16, 300
"""Files that read files: how deeply, and how many files and models in all."""

NOT_USED = ("add_collision_filter_group",)
KNOWN = ("add_model", "add_model_instance", "add_frame", "add_weld", "add_directives", *NOT_USED)


def load_directives(
    source: str | Path, mimic: str = "constrain", packages: Iterable[str | Path] = (), friction: str = "ignore"
) -> Model:
    """The model of a file of directives; mimic, packages, friction: as of `load`, for the files that it names."""
    one_of("load_directives, argument mimic", mimic, ("constrain", "free"), "unknown")
    one_of("load_directives, argument friction", friction, FRICTION, "unknown")
    path = Path(source)
    options = {"base": "free", "mimic": mimic, "packages": tuple(packages), "friction": friction}
    reader = _DirectivesReader(folders_of(path, False, packages), options)
    reader.read(path, "", 0)
    return reader.model(path.name.split(".")[0])


@dataclass
class _AddedModel:
    """A model that the file adds, and where one of its bodies is welded, if it is."""

    model: Model
    place: str
    weld: tuple[str, FramePose, str] | None = None
    """The full name of the parent's frame, the pose of the body in it, and the body."""
    start: dict[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass
class _DirectivesReader:
    """Collects what directives say; `model` puts it together."""

    folders: Folders
    options: dict[str, Any]
    parts: dict[str, _AddedModel] = field(default_factory=dict)
    frames: dict[str, tuple[str, FramePose, str]] = field(default_factory=dict)
    """By full name: the frame that it is in, its pose there, and where the file says so."""
    poses: list[tuple[str, str, FramePose, str]] = field(default_factory=list)
    """Starts of free bodies: the body's full name, the frame, the pose in it, the place."""
    unused: set[str] = field(default_factory=set)
    count: int = 0

    def read(self, path: Path, scope: str, depth: int) -> None:
        """Take in a file; scope: before the names in it."""
        if depth > DEEPEST:
            raise ModelError(message(str(path), "files that read files, too deeply", f"{depth}", f"at most {DEEPEST}"))
        document = read_document(read_text(path), str(path), TAGS)
        entries = document.data.get("directives") if isinstance(document.data, dict) else None
        if not isinstance(entries, list) or set(document.data) != {"directives"}:
            raise ModelError(message(str(path), "not model directives", type(entries).__name__, "directives: a list"))
        for k, entry in enumerate(entries):
            self.count += 1
            if self.count > MOST:
                raise ModelError(message(str(path), "too many directives", f"more than {MOST}", f"at most {MOST}"))
            at = document.place(("directives", k))
            if not isinstance(entry, dict) or len(entry) != 1 or next(iter(entry)) not in KNOWN:
                found = ", ".join(map(str, entry)) if isinstance(entry, dict) else type(entry).__name__
                raise ModelError(message(at, "not a directive", found[:80], " or ".join(KNOWN)))
            ((kind, given),) = entry.items()
            if kind in NOT_USED:
                self.unused.add(kind)
                continue
            item = _Directive(document, ("directives", k, kind), given)
            getattr(self, f"_{kind}")(item, path, scope, depth)

    def _add_model(self, item: "_Directive", path: Path, scope: str, _depth: int) -> None:
        item.only("name", "file", "default_joint_positions", "default_free_body_pose")
        name = scope + item.text("name")
        check_name(item.place, "model", name)
        if name in self.parts:
            raise item.fault("a second model of this name", repr(name), "unique names")
        file = self._file(item, path)
        form = format_of(str(file), file)
        if form.loader.endswith("load_directives"):
            raise item.fault("directives as a model", repr(file.name), "add_directives")
        model = function_named(form.loader)(
            file, **{key: value for key, value in self.options.items() if key in form.options}
        )
        part = self.parts[name] = _AddedModel(model, item.place)
        for joint, q in item.mapping("default_joint_positions").items():
            part.start[_known(item, joint, {j.name: j for j in model.joints}, "joint").name] = item.numbers(q, None)
        for body, pose in item.mapping("default_free_body_pose").items():
            _known(item, body, {b.name: b for b in model.bodies}, "body")
            frame, at = item.pose(pose)
            self.poses.append((f"{name}::{body}", _scoped(scope, frame), at, item.place))

    def _add_model_instance(self, item: "_Directive", _path: Path, scope: str, _depth: int) -> None:
        item.only("name")
        check_name(item.place, "model", scope + item.text("name"))

    def _add_frame(self, item: "_Directive", _path: Path, scope: str, _depth: int) -> None:
        item.only("name", "X_PF")
        name = scope + item.text("name")
        check_name(item.place, "frame", name)
        if name in self.frames:
            raise item.fault("a second frame of this name", repr(name), "unique names")
        base, pose = item.pose(item.data.get("X_PF", {}))
        if not base and "::" in name:
            base = name.rpartition("::")[0]
        self.frames[name] = (_scoped(scope, base), pose, item.place)

    def _add_weld(self, item: "_Directive", _path: Path, scope: str, _depth: int) -> None:
        item.only("parent", "child", "X_PC")
        _, pose = item.pose(item.data.get("X_PC", {}))
        child = scope + item.text("child")
        body, at = self._on_body(child, item)
        owner, link = self._owner(body, item)
        if owner.weld is not None:
            raise item.fault("a second weld of a model", repr(child), "one weld for each model")
        owner.weld = (_scoped(scope, item.text("parent")), pose.then(at.inverse()), link)

    def _add_directives(self, item: "_Directive", path: Path, scope: str, depth: int) -> None:
        item.only("file", "model_namespace")
        inner = item.text("model_namespace") if "model_namespace" in item.data else ""
        self.read(self._file(item, path), f"{scope}{inner}::" if inner else scope, depth + 1)

    def _file(self, item: "_Directive", path: Path) -> Path:
        name = item.text("file")
        if "://" in name and not name.startswith(("package://", "file://")):
            raise item.fault("a file of elsewhere", repr(name[:80]), "package://NAME/… or a path")
        if name.startswith("package://"):
            found = self.folders.package(name)
        else:
            found = self.folders.near(path.parent, name.removeprefix("file://"))
        if found is None or not found.is_file():
            fix = "Folders given as packages=… are looked at too."
            raise item.fault("file not found in the model's folders", repr(name[:80]), "a file there", fix)
        return found

    def _owner(self, body: str, item: "_Directive") -> tuple[_AddedModel, str]:
        """The model that has a body of this full name, and its name there."""
        for name, part in self.parts.items():
            link = body.removeprefix(f"{name}::")
            if link != body and any(one.name == link for one in part.model.bodies):
                return part, link
        raise item.fault("no such body", repr(body[:80]), "a body of a model above")

    def _on_body(self, name: str, item: "_Directive") -> tuple[str, FramePose]:
        """The body, or the world, that carries a frame of a full name, and the pose of the frame on it."""
        pose, seen = FramePose(), set()
        while name in self.frames:
            if name in seen:
                raise item.fault("frames in each other in a circle", repr(name[:80]), "a body at the end")
            seen.add(name)
            base, step, _ = self.frames[name]
            name, pose = base, step.then(pose)
        if name in ("", WORLD):
            return WORLD, pose
        for owner, part in self.parts.items():
            link = name.removeprefix(f"{owner}::")
            if link == name:
                continue
            if any(body.name == link for body in part.model.bodies):
                return name, pose
            for frame in part.model.frames:
                if frame.name == link:
                    at = FramePose(Vec(frame.position), Vec(frame.orientation))
                    return f"{owner}::{frame.body}", at.then(pose)
        known = [f"{owner}::{body.name}" for owner, part in self.parts.items() for body in part.model.bodies]
        raise item.fault(
            "no such frame", repr(name[:80]), "a frame or a body of a model above", did_you_mean(name, known)
        )

    # the model

    def model(self, name: str) -> Model:
        """All parts as one machine, those that others are welded to first."""
        made, waiting, placed = Model(name), dict(self.parts), {WORLD}
        while waiting:
            ready = next((one for one in waiting if self._parent(waiting[one]) in placed), None)
            if ready is None:
                part = next(iter(waiting.values()))
                raise ModelError(
                    message(part.place, "models welded to each other in a circle", str([*waiting]), "a tree")
                )
            part = waiting.pop(ready)
            made = self._put(made, ready, part)
            placed |= {f"{ready}::{body.name}" for body in part.model.bodies}
        made = replace(made, frames=[*made.frames, *self._added_frames(made)])
        if self.unused:
            warn_caller(f"{name}: not used: {', '.join(sorted(self.unused))}.")
        return self._started(made)

    def _parent(self, part: _AddedModel) -> str:
        if part.weld is None:
            return WORLD
        return self._on_body(part.weld[0], _Directive.at(part.place))[0]

    def _put(self, made: Model, name: str, part: _AddedModel) -> Model:
        if part.weld is None:
            return made.append(part.model, prefix=f"{name}::")
        frame, pose, link = part.weld
        body, at = self._on_body(frame, _Directive.at(part.place))
        at = at.then(pose)
        model = _held(part.model, link, part.place)
        return made.append(model, body, position=at.position, orientation=at.orientation, prefix=f"{name}::")

    def _added_frames(self, made: Model) -> list[BodyFrame]:
        found = []
        for name, (_, _, place) in self.frames.items():
            body, at = self._on_body(name, _Directive.at(place))
            if body != WORLD:
                found.append(BodyFrame(name, body, at.position, at.orientation))
        return found

    def _started(self, made: Model) -> Model:
        q = list(made.zero if made.start is None or made.start.q is None else made.start.q)
        given = {f"{name}::{joint}": x for name, part in self.parts.items() for joint, x in part.start.items()}
        where = {f"{name}::{joint}": part.place for name, part in self.parts.items() for joint in part.start}
        for body, frame, pose, place in self.poses:
            carrier, at = self._on_body(frame, _Directive.at(place))
            joint = next(joint for joint in made.joints if joint.child == body)
            if carrier != WORLD or not joint.kind.floats:
                raise ModelError(
                    message(place, "a pose of a body that is not free in the world", repr(body), "a free one")
                )
            found = at.then(pose)
            given[joint.name], where[joint.name] = (*found.position, *found.orientation), place
        at_q = 0
        for joint in made.joints:
            if joint.name in given:
                if len(given[joint.name]) != joint.nq:
                    shown = f"{len(given[joint.name])} numbers of '{joint.name}'"
                    raise ModelError(message(where[joint.name], "wrong size", shown, f"{joint.nq}"))
                q[at_q : at_q + joint.nq] = given[joint.name]
            at_q += joint.nq
        return replace(made, start=Start(q=tuple(q))) if tuple(q) != made.zero else made


@dataclass(frozen=True)
class _Directive:
    """The data of one directive, and where it stands."""

    document: Document | None
    path: tuple
    data: Any
    shown: str = ""

    @classmethod
    def at(cls, place: str) -> "_Directive":
        """An item of which only the place is known."""
        return cls(None, (), {}, place)

    @property
    def place(self) -> str:
        """File and line."""
        return self.shown or (self.document.place(self.path) if self.document else "")

    def fault(self, what: str, found: str, expected: str, fix: str = "") -> ModelError:
        """An error at this place."""
        return ModelError(message(self.place, what, found, expected, fix))

    def only(self, *names: str) -> None:
        """Refuse other keys."""
        if not isinstance(self.data, dict):
            raise self.fault("not a mapping", type(self.data).__name__, ", ".join(names))
        for name in self.data:
            if name not in names:
                raise self.fault("no such key", repr(name)[:60], ", ".join(names), did_you_mean(name, names))

    def text(self, name: str) -> str:
        """A name that must be there."""
        found = self.data.get(name)
        if not isinstance(found, str) or not found:
            raise self.fault(f"no {name}", repr(found)[:60], "text")
        return found

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Values by name; none where there are none."""
        found = self.data.get(name) or {}
        if not isinstance(found, dict):
            raise self.fault(f"{name} is not a mapping", repr(found)[:60], "values by name")
        return found

    def numbers(self, value: Any, size: int | None) -> tuple[float, ...]:
        """Finite numbers."""
        values = value if isinstance(value, list) else [value]
        good = all(isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x) for x in values)
        if not good or (size is not None and len(values) != size):
            raise self.fault("not finite numbers", repr(value)[:60], f"{size} numbers" if size else "numbers")
        return tuple(float(x) for x in values)

    def pose(self, given: Any) -> tuple[str, FramePose]:
        """The base_frame of a pose, and the pose in it."""
        if not isinstance(given, dict) or set(given) - {"base_frame", "translation", "rotation"}:
            raise self.fault("not a pose", repr(given)[:60], "base_frame, translation, rotation")
        base = given.get("base_frame") or ""
        if not isinstance(base, str):
            raise self.fault("base_frame is not a name", repr(base)[:60], "text")
        position = self.numbers(given.get("translation", [0.0, 0.0, 0.0]), 3)
        return base, FramePose(Vec(position), self._rotation(given.get("rotation") or {}))

    def _rotation(self, given: Any) -> Vec:
        keys = set(given) if isinstance(given, dict) else None
        if keys == set():
            return FramePose().orientation
        if keys == {"deg"}:
            angles = [math.radians(x) for x in self.numbers(given["deg"], 3)]
            return to_quaternion("extrinsic-123", Vec(angles)) if any(angles) else FramePose().orientation
        if keys == {"angle_deg", "axis"}:
            axis = Vec(self.numbers(given["axis"], 3))
            if not length(axis) > 0:
                raise self.fault("the axis is zero", "(0, 0, 0)", "a direction")
            return from_axis_angle(axis / length(axis), math.radians(self.numbers(given["angle_deg"], 1)[0]))
        raise self.fault("not a rotation", repr(given)[:60], "!Rpy {deg: […]} or !AngleAxis {angle_deg: …, axis: […]}")


def _known(item: _Directive, name: str, known: Mapping[str, Any], what: str) -> Any:
    if name not in known:
        raise item.fault(f"no such {what}", repr(name)[:60], f"a {what} of the model", did_you_mean(name, known))
    return known[name]


def _scoped(scope: str, name: str) -> str:
    return name if name in ("", WORLD) else scope + name


def _held(model: Model, link: str, place: str) -> Model:
    """A model whose free body is the ground instead: its own frame on the world's."""
    free = next(joint for joint in model.joints if joint.child == link)
    if not (free.kind.floats and free.parent == WORLD):
        if not any(joint.kind.floats for joint in model.joints):
            raise ModelError(message(place, "a weld of a body that is not free", repr(link), "a free body"))
        model = model.with_base(link)
        free = next(joint for joint in model.joints if joint.child == link)
    start = model.zero if model.start is None or model.start.q is None else model.start.q
    q, at = list[float](), 0
    for joint in model.joints:
        q += [] if joint is free else start[at : at + joint.nq]
        at += joint.nq
    fixed = Joint(free.name, "fixed", WORLD, link)
    joints = [fixed if joint is free else joint for joint in model.joints]
    return replace(model, joints=joints, start=Start(q=tuple(q)) if any(q) else None, configurations={})
