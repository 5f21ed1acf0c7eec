"""A joint that is locked and released: at given times, or where functions of the state say so."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from polhode.errors import ModelError, message
from polhode.model.forces.base import ElementEvent, ForceElement, Hold, Jump
from polhode.model.forces.joint_axis import check_axis
from polhode.model.joints.base import JointKind
from polhode.model.keys import AT_LEAST_ZERO, Key
from polhode.model.numbers import plain
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Vec, maximum, minimum, where


@dataclass(frozen=True)
class JointLock(ForceElement):
    """A lock of a joint. Locking stops it at once, by an impulse that leaves constraints and other axes that are held
    as they are; locked, it does not move, whatever acts. The mode `locked` is 0 or 1; events are recorded as
    "name.locks" and "name.releases".

    lock_time, release_time  when it locks and when it lets go, s; where only the latter is given, or it comes first, it
                             is locked from the start
    lock_when, release_when  functions of (t, q, v), on generic scalars: it locks, or lets go, where they are above 0;
                             in place of times
    axis                     the place of the one axis of the joint that is locked; all unless given
    """

    name: str
    joint: str
    lock_time: Scalar = None
    release_time: Scalar = None
    lock_when: Callable[..., Any] | None = None
    release_when: Callable[..., Any] | None = None
    axis: int | None = None

    kind = "joint-lock"
    keys: ClassVar = {
        "joint": Key("joint", "any joint that moves", needed=True),
        "lock_time": Key("number", "when it locks, s", "s", "t_l", range=AT_LEAST_ZERO),
        "release_time": Key("number", "when it lets go, s", "s", "t_r", range=AT_LEAST_ZERO),
        "lock_when": Key("function", "it locks where this function of (t, q, v) is above 0", in_files=False),
        "release_when": Key("function", "it lets go where this function of (t, q, v) is above 0", in_files=False),
        "axis": Key("axis", "the place of the one axis that is locked; all unless given"),
    }
    modes: ClassVar = {"locked": "1"}
    changes_energy = "locks"

    def check(self, where: str) -> None:
        """Either times or functions, and two times that differ."""
        times, functions = self._is_timed, self.lock_when is not None or self.release_when is not None
        if times == functions:
            found = "both" if times else "neither"
            raise ModelError(message(where, "times and functions", found, "lock_time, release_time; or lock_when, …"))
        if self.lock_time is not None and self.release_time is not None:
            begin, end = plain(self.lock_time), plain(self.release_time)
            if begin == end:
                raise ModelError(message(f"{where}, release_time", "when it locks too", f"{end:g} s", "another time"))

    def check_joint(self, where: str, joint: str, kind: JointKind) -> None:
        """A joint that moves, and that has this axis."""
        if self.axis is not None:
            check_axis(where, joint, kind, self.axis)
        elif not kind.nv:
            raise ModelError(message(where, "a joint that does not move", f"'{joint}', {kind.name}", "one that does"))

    @property
    def _is_timed(self) -> bool:
        return self.lock_time is not None or self.release_time is not None

    def _since(self, t: Scalar) -> Scalar:
        """Above 0 while it is locked by times."""
        after = None if self.lock_time is None else t - self.lock_time
        before = None if self.release_time is None else self.release_time - t
        if after is None or before is None:
            return before if after is None else after
        return where(self.lock_time < self.release_time, minimum(after, before), maximum(after, before))

    def start_values(self) -> list[float]:
        """Locked, where it is by its times."""
        if not self._is_timed:
            return [0.0]
        begin, end = (None if x is None else plain(x) for x in (self.lock_time, self.release_time))
        return [float(end is not None and (begin is None or begin > end)) or float(begin == 0.0)]

    def holds(self, own: Vec) -> Iterable[Hold]:
        """The axes, where they are locked."""
        (locked,) = own
        yield Hold(self.joint, self.axis, where(locked > 0.5, 1.0, 0.0))

    def events(self) -> Sequence[ElementEvent]:
        """That it locks, and that it lets go."""
        return (
            ElementEvent("locks", self._locks, lambda state: Jump({"locked": 1.0}, [(self.joint, self.axis, 0.0)])),
            ElementEvent("releases", self._releases, lambda state: Jump({"locked": 0.0})),
        )

    def _locks(self, state: MachineState) -> Scalar:
        (locked,) = state.own(self)
        return where(locked > 0.5, -1.0, self._since(state.t) if self._is_timed else _of(self.lock_when, state))

    def _releases(self, state: MachineState) -> Scalar:
        (locked,) = state.own(self)
        return where(locked > 0.5, -self._since(state.t) if self._is_timed else _of(self.release_when, state), -1.0)

    def functions(self) -> list[tuple[str, Callable[[Scalar, Vec, Vec], Any]]]:
        """Those that say when it locks and lets go."""
        held = [(part, getattr(self, part)) for part in ("lock_when", "release_when")]
        return [(f"{part} of '{self.name}'", _as_vector(f)) for part, f in held if f is not None]

    @property
    def is_internal(self) -> bool:
        """It is, between the two bodies of its joint."""
        return True

    @property
    def of_layout(self) -> str:
        """Its conditions are."""
        functions = self.lock_when or self.release_when
        return "its conditions are functions of q and v of the model as it was" if functions else ""

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """What is held stays held."""
        return {}


def _as_vector(function: Callable[..., Any]) -> Callable[[Scalar, Vec, Vec], Vec]:
    return lambda t, q, v: Vec([function(t, q, v)])


def _of(function: Callable[..., Any] | None, state: MachineState) -> Scalar:
    return function(state.t, state.q, state.v) if function else -1.0
