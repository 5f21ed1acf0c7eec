"""Names for the numbers of a model, as textbooks choose them: m₁, I₁ₓ, l₁, c₁, g, k₁.

A body's mass centre and the joint on it get one letter where they are one point; equal moments of one body share one.
"""

from typing import Any, NamedTuple

from polhode.equations_of_motion.letters import subscripted
from polhode.model import WORLD, Body, Constraint, ForceElement, Joint, Model, Parameter, plain

AXES = "xyz"


class Draft(NamedTuple):
    """What is proposed for the number of a path: a name, its sign, what it is."""

    name: str
    sign: int
    meaning: str
    unit: str


def drafts(model: Model, subscripts: str) -> dict[str, Draft]:
    """A name for every number of a model that may become a letter and is not zero, by its path."""
    return _Drafts(model, subscripts).all()


class _Drafts:
    """Names for the numbers of a model."""

    def __init__(self, model: Model, subscripts: str) -> None:
        self.model, self.words = model, subscripts == "names"
        self.found: dict[str, Draft] = {}

    def all(self) -> dict[str, Draft]:
        """Every number that may become a letter, by path."""
        self._vector("gravity", self.model.gravity, "g", "", "gravity", "m/s²")
        for k, body in enumerate(self.model.bodies, 1):
            self._body(body, "" if len(self.model.bodies) == 1 else body.name if self.words else str(k))
        moving = [joint.name for joint in self.model.joints if joint.nv]
        for joint in self.model.joints:
            number = str(moving.index(joint.name) + 1) if joint.name in moving else joint.name
            tail = joint.name if self.words else number if len(moving) > 1 or joint.name not in moving else ""
            self._joint(joint, tail)
        for k, force in enumerate(self.model.forces, 1):
            self._force(force, force.name if self.words else str(k))
        for k, constraint in enumerate(self.model.constraints, 1):
            tail = constraint.name if self.words else str(k) if len(self.model.constraints) > 1 else ""
            self._constraint(constraint, tail)
        return self.found

    def _put(self, path: str, value: Any, name: str, tail: str, meaning: str, unit: str, length: bool = False) -> None:
        if not plain(value):
            return
        if isinstance(value, Parameter):
            self.found[path] = Draft(value.name, 1, meaning, unit)
            return
        name = subscripted(name, tail) if tail else name
        self.found[path] = Draft(name, -1 if length and plain(value) < 0 else 1, meaning, unit)

    def _vector(self, path: str, values: Any, name: str, tail: str, meaning: str, unit: str) -> None:
        """A vector along one axis is a length with a sign; any other one has its components."""
        filled = [k for k, x in enumerate(values) if plain(x)]
        for k in filled:
            if len(filled) == 1:
                self._put(f"{path}.{k}", values[k], name, tail, meaning, unit, length=True)
            else:
                self._put(f"{path}.{k}", values[k], f"{name}_{AXES[k]}", tail, f"{meaning}, {AXES[k]}", unit)

    def _body(self, body: Body, tail: str) -> None:
        path, what = f"bodies.{body.name}", f"body '{body.name}'"
        self._put(f"{path}.mass", body.mass, "m", tail, f"mass of {what}", "kg")
        if isinstance(body.inertia[0], tuple):
            self._matrix(f"{path}.inertia", body.inertia, tail, what)
        else:
            self._moments(f"{path}.inertia", body.inertia, tail, what)
        moving = [joint.name for joint in self.model.joints if joint.nv]
        on_it = [joint for joint in self.model.joints if joint.parent == body.name]
        reached = any(plain(joint.position) == plain(body.center) for joint in on_it)
        alone = not any(any(plain(joint.position)) for joint in on_it)
        name = "l" if alone or (reached and len(on_it) == 1) else "c"
        meaning = f"from the origin to the mass centre of {what}"
        self._vector(f"{path}.center", body.center, name, tail, meaning, "m")
        for joint in on_it:
            number = joint.name if self.words or joint.name not in moving else str(moving.index(joint.name) + 1)
            own = tail if len(on_it) == 1 else number
            self._vector(
                f"joints.{joint.name}.position", joint.position, "l" if len(on_it) == 1 else "a", own,
                f"from the origin of {what} to joint '{joint.name}'", "m",
            )  # fmt: skip

    def _moments(self, path: str, moments: Any, tail: str, what: str) -> None:
        for k, moment in enumerate(moments):
            same = next(j for j in range(3) if plain(moments[j]) == plain(moment))
            axes = " and ".join(AXES[j] for j in range(3) if plain(moments[j]) == plain(moment))
            self._put(
                f"{path}.{k}", moment, f"I_{AXES[same]}", tail, f"moment of {what} about {axes}, mass centre", "kg m²"
            )

    def _matrix(self, path: str, rows: Any, tail: str, what: str) -> None:
        for i in range(3):
            for j in range(3):
                low, high = sorted((i, j))
                name = f"I_{AXES[low]}" if i == j else f"I_{AXES[low]}{AXES[high]}"
                meaning = f"inertia of {what}, entry {AXES[low]}{AXES[high]}, mass centre"
                self._put(f"{path}.{i}.{j}", rows[i][j], name, tail, meaning, "kg m²")

    def _joint(self, joint: Joint, tail: str) -> None:
        path, what = f"joints.{joint.name}", f"joint '{joint.name}'"
        if joint.parent == WORLD:
            self._vector(f"{path}.position", joint.position, "a", tail, f"from the world's origin to {what}", "m")
        turning = not all(joint.kind.linear)
        units = {
            "armature": "kg m²" if turning else "kg",
            "damping": "N m s" if turning else "N s/m",
            "stiffness": "N m" if turning else "N/m",
            "rest": "rad" if turning else "m",
        }
        letters = {"armature": "J", "damping": "b", "stiffness": "k", "rest": "s"}
        for name, letter in letters.items():
            value = getattr(joint, name)
            if isinstance(value, tuple):
                for k, x in enumerate(value):
                    self._put(
                        f"{path}.{name}.{k}", x, f"{letter}_{'abcdef'[k]}", tail, f"{name} of {what}", units[name]
                    )
            elif value is not None:
                self._put(f"{path}.{name}", value, letter, tail, f"{name} of {what}", units[name])
        for name, (place, value) in joint.own().items():
            key = joint.kind.keys[name]
            put = self._components if isinstance(value, tuple) else self._put
            if key.letter:
                put(f"{path}.{place}", value, key.letter, tail, f"{name} of {what}", key.unit)

    def _force(self, force: ForceElement, tail: str) -> None:
        path, what = f"forces.{force.name}", f"force '{force.name}'"
        for name in force.numeric:
            key, value = force.keys[name], getattr(force, name)
            put = self._components if isinstance(value, tuple) else self._put
            if key.letter:
                put(f"{path}.{name}", value, key.letter, tail, f"{name} of {what}", key.unit)

    def _components(self, path: str, values: Any, name: str, tail: str, meaning: str, unit: str) -> None:
        for k, x in enumerate(values):
            self._put(f"{path}.{k}", x, f"{name}{AXES[k]}" if "_" in name else f"{name}_{AXES[k]}", tail, meaning, unit)

    def _constraint(self, constraint: Constraint, tail: str) -> None:
        keys = constraint.kind.keys
        for name in constraint.numeric:
            key, value = keys[name], constraint.data[name]
            path = f"constraints.{constraint.name}.{name}"
            meaning = f"{name.replace('_', ' ')} of constraint '{constraint.name}'"
            put = self._vector if isinstance(value, tuple) else self._put
            if key.letter:
                put(path, value, key.letter, tail, meaning, key.unit.removeprefix("1"))
