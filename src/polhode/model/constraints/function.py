"""Constraints by user functions: φ(t, q) = 0, r(t, q, v) = 0, or A(t, q) v = b(t, q)."""

import inspect
from collections.abc import Mapping, Sequence
from typing import ClassVar

from polhode.errors import CompileError, ModelError, PolhodeError, message
from polhode.model.constraints.base import ConstraintCondition, ConstraintKind, Data, as_vector, asked, counted
from polhode.model.constraints.points import FUNCTION_UNIT
from polhode.model.keys import Key
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Unknown, Vec, is_zero, time_enters


class FunctionConstraint(ConstraintKind):
    """A user function of time, coordinates and velocities that stays zero."""

    name = "function"
    keys: ClassVar = {
        "function": Key("function", needed=True),
        "rows": Key("rows", in_files=False),
        "holonomic": Key("flag", in_files=False),
        "matrix": Key("flag", in_files=False),
    }
    of_coordinates = True
    rows_by_trial = True
    expressions_of = "coordinates"

    def check(self, where: str, data: Data) -> None:
        """Refuse A v = b that is not marked as a condition of velocities."""
        if data.get("matrix") and data.get("holonomic", True):
            found = "matrix=True without holonomic=False"
            raise ModelError(message(where, "A v = b is a condition of velocities", found, "holonomic=False"))

    def conditions(self, name: str, data: Data, names: Sequence[str]) -> list[ConstraintCondition]:
        """One condition, of positions or of velocities."""
        count = len(names)

        def residual(state: MachineState) -> Vec:
            return counted(name, count, function_residual(name, data, state.t, state.q, state.v))

        return [ConstraintCondition(name, tuple(names), data.get("holonomic", True), residual, ("length",) * count)]

    def multiplier_unit(self, row: str, data: Data, joint_units: Mapping[str, Sequence[str]]) -> str:
        """The function's own unit is not known."""
        return FUNCTION_UNIT

    def does_work(self, data: Data, nq: int, nv: int) -> bool:
        """Whether time enters the function; of velocities also whether they are held at others than zero (b ≠ 0)."""
        q, v = Vec([Unknown() for _ in range(nq)]), Vec([Unknown() for _ in range(nv)])
        try:
            moves = any(map(time_enters, function_residual("", data, Unknown(of_time=True), q, v)))
            at_rest = [] if data.get("holonomic", True) else function_residual("", data, 0.0, q, Vec([0.0] * nv))
        except PolhodeError:  # told when it is compiled
            return True
        return moves or not all(map(is_zero, at_rest))

    def is_internal(self, data: Data) -> bool:
        """A function may hold the machine to the world."""
        return False


def function_residual(name: str, data: Data, t: Scalar, q: Vec, v: Vec) -> Vec:
    """The residual of a constraint by a user function: φ(t, q), r(t, q, v), or A v − b of its (A, b)."""
    _check_arguments(name, data)
    if data.get("holonomic", True):
        return as_vector(asked(name, data["function"], t, q))
    if not data.get("matrix", False):
        return as_vector(asked(name, data["function"], t, q, v))
    found = asked(name, data["function"], t, q)
    try:
        A, b = found
        A, b = [as_vector(row) for row in A], as_vector(b)
    except (TypeError, ValueError):
        A, b = [], Vec()
    if not A or len(A) != len(b) or any(len(row) != len(v) for row in A):
        shown = f"{len(A)} rows of {len(A[0]) if A else 0} numbers, and {len(b)} numbers"
        expected = f"(A, b): rows of {len(v)} numbers, and as many numbers as rows"
        raise CompileError(message(f"constraint '{name}', function", "wrong result", shown, expected))
    return Vec([row @ v - x for row, x in zip(A, b, strict=True)])


def _check_arguments(name: str, data: Data) -> None:
    """Refuse a function that takes other arguments than it is given."""
    of_velocities = not data.get("holonomic", True) and not data.get("matrix", False)
    expected = ("t", "q", "v") if of_velocities else ("t", "q")
    try:
        signature = inspect.signature(data["function"])
    except (TypeError, ValueError):  # built-in functions may not tell
        return
    try:
        signature.bind(*expected)
    except TypeError:
        fix = "Conditions of velocities take (t, q, v) and are marked: holonomic=False."
        where, shown = f"constraint '{name}', function", f"({', '.join(expected)})"
        raise CompileError(message(where, "takes other arguments", str(signature), shown, fix)) from None
