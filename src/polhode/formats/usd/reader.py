"""USD with UsdPhysics → Model.

q = 0 is where the two frames of a joint coincide; the start is where the file has the bodies. Joints are followed
from the world outwards, then from the roots of articulations; those that are left close loops.
"""

from collections import Counter
from collections.abc import Iterable
from math import inf
from pathlib import Path

import numpy as np

from polhode.errors import ModelError, message
from polhode.formats.remarks import Remarks, located
from polhode.formats.usd.joints import DISTANCE, EVERY, Ends, UsdJointReader, freedom_of
from polhode.formats.usd.masses import solid_of
from polhode.formats.usd.shapes import body_shapes
from polhode.formats.usd.stage import BODY, COLLISION, MASS, Prim, Stage, read_stage
from polhode.formats.usd.stage_reader import SHAPES
from polhode.formats.visuals import shapes_of
from polhode.model import WORLD, Body, Constraint, Joint, Model, Start

EARTH = 9.81
"""Gravity where a scene gives none, m/s²."""
ROOT = "PhysicsArticulationRootAPI"
USED = (
    BODY,
    MASS,
    COLLISION,
    ROOT,
    "PhysicsMaterialAPI",
    "PhysicsDriveAPI",
    "PhysicsLimitAPI",
    "PhysicsMeshCollisionAPI",
)
IGNORED = {
    "physxJoint:armature": "armature of joints, in PhysX's words ({n})",
    "physxJoint:jointFriction": "dry friction of joints, in PhysX's words ({n})",
    "physxRigidBody:disableGravity": "gravity that does not act on bodies, in PhysX's words ({n})",
    "physxRigidBody:linearDamping": "damping of bodies, in PhysX's words ({n})",
    "physxRigidBody:angularDamping": "damping of bodies, in PhysX's words ({n})",
    "mjc:armature": "armature of joints, in MuJoCo's words ({n})",
    "mjc:frictionloss": "dry friction of joints, in MuJoCo's words ({n})",
    "mjc:damping": "damping of joints, in MuJoCo's words ({n})",
    "mjc:stiffness": "springs of joints, in MuJoCo's words ({n})",
    "newton:armature": "armature of joints, in Newton's words ({n})",
    "newton:friction": "dry friction of joints, in Newton's words ({n})",
}
"""Attributes of other programs that would change the motion and do not reach the model."""


def load_usd(source: str | Path, packages: Iterable[str | Path] = ()) -> Model:
    """The model of a USD file (.usd, .usda, .usdc).

    packages  folders beside the model's own in which files that it refers to may lie

    Bodies and joints have the names of their prims; where two bodies or two joints have one name, their paths. What
    is not used is told by one PolhodeWarning each; it needs the package usd-core.
    """
    path = Path(source)
    if path.suffix.lower() == ".usdz":
        fix = "It is a ZIP archive: unpack it, and load the .usd, .usda or .usdc file in it."
        raise ModelError(message(str(path), "a package of files", ".usdz", "a .usd, .usda or .usdc file", fix))
    stage = read_stage(path, packages)
    remarks = Remarks(stage.shown)
    with np.errstate(all="ignore"):  # numbers beyond all bounds are found by the records
        model = _UsdReader(stage, remarks).model(stage.name or path.stem)
    remarks.warn()
    return model


class _UsdReader:
    """Turns a stage into records."""

    def __init__(self, stage: Stage, remarks: Remarks) -> None:
        self.stage, self.remarks = stage, remarks
        self._check_instancers()
        prims = [prim for prim in stage.prims.values() if self._is_moving(prim)]
        self.bodies = self._names(prims, {WORLD})
        self.reader = UsdJointReader(stage, self.bodies, remarks)
        self.joint_prims = [prim for prim in stage.of_kind(*EVERY) if self._is_enabled(prim)]
        self.joint_names = self._names(self.joint_prims, set())

    def model(self, name: str) -> Model:
        """The model."""
        stage, remarks = self.stage, self.remarks
        if not self.bodies:
            fix = "Apply PhysicsRigidBodyAPI to the prims that move."
            raise ModelError(message(stage.shown, "no bodies", "no prim with PhysicsRigidBodyAPI", "one at least", fix))
        gravity = self._gravity()
        shapes = self._shapes()
        bodies = [self._body(path, [s for s in shapes[path] if s.has(COLLISION)]) for path in self.bodies]
        joints, frames, q, constraints = self._tree()
        drawn = {own: body_shapes(stage, stage.prims[path], shapes[path], remarks) for path, own in self.bodies.items()}
        self._note()
        zero = [x for joint in joints for x in joint.zero]
        with located(stage.shown):
            return Model(
                name, gravity=gravity, bodies=[*bodies, *frames], joints=joints, constraints=constraints,
                shapes=shapes_of(drawn, [*self.bodies.values()]),
                start=Start(q=tuple(q)) if q != zero else None, ignored=remarks.ignored,
            )  # fmt: skip

    # bodies

    def _is_moving(self, prim: Prim) -> bool:
        """Whether a prim is a body that forces move."""
        if not prim.has(BODY) or not prim.flag("physics:rigidBodyEnabled", True):
            return False
        if prim.flag("physics:kinematicEnabled", False):
            self.remarks.tell("kinematic bodies: they stand still", prim.name)
            return False
        return True

    def _names(self, prims: list[Prim], taken: set[str]) -> dict[str, str]:
        """What the model calls prims, by their paths."""
        times, found = Counter(prim.name for prim in prims), dict[str, str]()
        for prim in prims:
            name = prim.name if times[prim.name] == 1 and prim.name not in taken else prim.path[1:]
            while name in taken:
                name += "_"
            taken.add(name)
            found[prim.path] = name
        return found

    def _shapes(self) -> dict[str, list[Prim]]:
        """The shapes of every body, by the body's path: those below it, and below no other body."""
        found: dict[str, list[Prim]] = {path: [] for path in self.bodies}
        for prim in self.stage.prims.values():
            if prim.kind not in SHAPES and not prim.has(COLLISION):
                continue
            for above in self.stage.above(prim.path):
                if above.path in found:
                    found[above.path].append(prim)
                if above.has(BODY) and above.flag("physics:rigidBodyEnabled", True):
                    break
        return found

    def _body(self, path: str, shapes: list[Prim]) -> Body:
        prim, name = self.stage.prims[path], self.bodies[path]
        with prim.naming():
            solid = solid_of(self.stage, prim, shapes, self.remarks, name)
            if any(
                prim.numbers(f"physics:{key}", 3, (0.0,) * 3) != (0.0,) * 3 for key in ("velocity", "angularVelocity")
            ):
                self.remarks.ignore("velocities of bodies at the start ({n})")
            return self.remarks.body(prim.where, name, solid.mass, solid.inertia.tolist(), tuple(solid.center.tolist()))

    def _gravity(self) -> tuple[float, float, float]:
        stage = self.stage
        if not stage.meters_given:
            self.remarks.tell("lengths without a unit (metersPerUnit): centimetres, as USD says", stage.name or "stage")
        scenes = stage.of_kind("PhysicsScene")
        if not scenes:
            self.remarks.tell(f"no PhysicsScene: gravity is {EARTH} m/s² downwards", stage.name or "stage")
        if len(scenes) > 1:
            self.remarks.tell("several scenes: all bodies are in the first", scenes[0].name)
        down = [0.0, 0.0, 0.0]
        down["XYZ".index(stage.up)] = -1.0
        if not scenes:
            return tuple(EARTH * x for x in down)  # type: ignore[return-value]
        scene = scenes[0]
        direction = np.array(scene.numbers("physics:gravityDirection", 3, (0.0,) * 3))
        size = scene.number("physics:gravityMagnitude", -inf, infinite=True)
        if size == inf:
            scene.fail("gravity without end", "inf", "a magnitude, or -inf for that of the earth")
        g = EARTH if size < 0 else size * stage.meters
        length = float(np.linalg.norm(direction))
        if not np.isfinite(length):
            scene.fail("a direction of gravity beyond all bounds", str(direction), "a direction")
        x, y, z = (direction / length if length > 0 else np.array(down)) * g
        return float(x), float(y), float(z)

    # the tree

    def _is_enabled(self, prim: Prim) -> bool:
        if prim.flag("physics:jointEnabled", True):
            return True
        self.remarks.ignore("joints that are not enabled ({n})")
        return False

    def _tree(self) -> tuple[list[Joint], list[Body], list[float], list[Constraint]]:
        """Joints of the tree, massless frames, coordinates at the start, and constraints."""
        holding, closing, constraints = self._holding()
        joints, frames, q = list[Joint](), list[Body](), list[float]()
        reached, names = {WORLD}, {ends.name for ends in (*holding, *closing)}
        late, closing = closing, []
        for root in (WORLD, *self._roots(holding)):
            if root != WORLD and root in reached:
                continue
            if root != WORLD:
                reached.add(root)
                joints.append(self._free(root, names))
                at = self.reader.poses[root]
                q += [*at.position, *at.orientation]
            carried, closed = self._carried(root, holding, reached)
            closing += closed
            for ends, turned in carried:
                parts = self.reader.of_tree(ends, turned)
                joints += parts.joints
                frames += parts.frames
                q += parts.q
        return joints, frames, q, [*constraints, *(self.reader.of_loop(ends) for ends in (*closing, *late))]

    def _holding(self) -> tuple[list[Ends], list[Ends], list[Constraint]]:
        """The joints that may carry bodies, those that the file has outside of its trees, and rods."""
        holding, apart, rods = list[Ends](), list[Ends](), list[Constraint]()
        for prim in self.joint_prims:
            ends = self._ends(prim)
            if ends is None:
                continue
            if prim.kind == DISTANCE:
                made = self.reader.distance(ends)
                rods += [made] if made else []
            elif not freedom_of(prim).kind:
                self.remarks.tell("joints that hold nothing: left out", ends.name)
                if prim.instances("PhysicsDriveAPI"):
                    self.remarks.ignore("drives of joints that hold nothing ({n})")
            else:
                (apart if prim.flag("physics:excludeFromArticulation", False) else holding).append(ends)
        return holding, apart, rods

    def _ends(self, prim: Prim) -> Ends | None:
        """What a joint is between; None where nothing of it moves."""
        paths = [prim.target(f"physics:body{k}") for k in (0, 1)]
        ends = self.reader.ends(prim, self.joint_names[prim.path]) if any(paths) else None
        if ends is None or ends.bodies == (WORLD, WORLD):
            self.remarks.tell("joints of which no end moves: left out", prim.name)
            return None
        return ends

    def _roots(self, joints: list[Ends]) -> list[str]:
        """Bodies to begin with, the likeliest first: roots of articulations, those that no joint has as its second."""
        seconds = {ends.bodies[1] for ends in joints}
        marked = [name for path, name in self.bodies.items() if self.stage.prims[path].has(ROOT)]
        firsts = [name for name in self.bodies.values() if name not in seconds]
        return [*dict.fromkeys([*marked, *firsts, *self.bodies.values()])]

    def _carried(self, root: str, joints: list[Ends], reached: set[str]) -> tuple[list[tuple[Ends, bool]], list[Ends]]:
        """The joints that carry bodies from a root on, nearest first, each from its parent; and those that close loops.

        reached  the bodies that are carried; added to
        """
        at: dict[str, list[Ends]] = {}
        for ends in joints:
            for body in ends.bodies:
                at.setdefault(body, []).append(ends)
        found, closing, used = list[tuple[Ends, bool]](), list[Ends](), set[str]()
        waiting = [root]
        for body in waiting:
            for ends in at.get(body, ()):
                if ends.name in used:
                    continue
                used.add(ends.name)
                turned = ends.bodies[0] != body
                way = ends.reversed() if turned else ends
                if way.bodies[1] in reached:
                    closing.append(ends)
                else:
                    reached.add(way.bodies[1])
                    waiting.append(way.bodies[1])
                    found.append((way, turned))
        return found, closing

    def _free(self, body: str, taken: set[str]) -> Joint:
        name = f"{body}.free"
        while name in taken:
            name += "_"
        return Joint(name, "free", WORLD, body)

    # remarks

    def _check_instancers(self) -> None:
        for prim in self.stage.of_kind("PointInstancer"):
            inside = (prim.path, *prim.targets.get("prototypes", ()))
            for other in self.stage.prims.values():
                if other.has(BODY) and any(other.path == one or other.path.startswith(f"{one}/") for one in inside):
                    fix = "Write each body as a prim of its own."
                    prim.fail("bodies in a PointInstancer", repr(other.path[:120]), "none", fix)

    def _note(self) -> None:
        """Note what the stage says and the model does not."""
        for prim in self.stage.prims.values():
            for schema in prim.schemas:
                if "hysx" in schema or ("Physics" in schema and schema.partition(":")[0] not in USED):
                    self.remarks.not_used(schema.partition(":")[0])
            for name, phrase in IGNORED.items():
                if prim.values.get(name):
                    self.remarks.ignore(phrase)
            if "Joint" in prim.kind and prim.kind not in EVERY:
                self.remarks.ignore(f"{prim.kind[:60]} ({{n}})")
            if any("Tendon" in name or "Mimic" in name for name in prim.schemas):
                self.remarks.ignore("tendons and joints that follow others, in PhysX's words ({n})")
        self._note_contacts()

    def _note_contacts(self) -> None:
        """Note contacts: of bodies that move with what stands still, and with others."""
        carriers, still = set[str](), False
        for prim in self.stage.prims.values():
            if prim.has(COLLISION) and prim.flag("physics:collisionEnabled", True):
                owner = self.reader.owner(prim.path)
                still |= owner == WORLD
                carriers |= {owner} - {WORLD}
        if len(carriers) > 1:
            self.remarks.ignore("contacts: bodies pass through each other")
        if carriers and still:
            self.remarks.ignore("contacts: bodies pass through what stands still, such as a floor")
