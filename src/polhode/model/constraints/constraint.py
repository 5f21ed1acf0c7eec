"""A constraint as its user writes it: a name, a kind and data."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from polhode.errors import ModelError, check_name, did_you_mean, message
from polhode.model.constraints.base import ConstraintKind, numeric_keys
from polhode.model.constraints.registry import constraint_kind
from polhode.model.numbers import assign, number
from polhode.scalar import is_list, shown, without_rotations


@dataclass(frozen=True, init=False)
class Constraint:
    """A condition on the motion: a loop joint, a rod, a gear, a rolling wheel, a given motion, a function.

    Constraint("rod", "distance", body_b="bob", length=1.0)     # or its data as a mapping, third
    Constraint(lambda t, q: q[0] - 2 * q[1])                    # φ(t, q) = 0
    Constraint(skate, holonomic=False)                          # skate(t, q, v) = 0, linear in v
    Constraint(skate, holonomic=False, matrix=True)             # A v = b,  (A, b) = skate(t, q)

    type  its kind; `polhode.model.constraints.registry` lists them all
    data  its numbers and names, as in {"body_a": "arm", "body_b": "rod", "position_a": (0, 0, 1), "axis_a": (0, 1, 0)}

    Between bodies, data name a frame on each: body_a (the world unless given) and body_b, with position_a, …, and
    orientation_a, … or only its z axis, axis_a, …. A function works on generic scalars and gives one number or
    several; `rows` is how many, or their names; its name is the function's unless name=… is given.
    """

    name: str
    type: str
    data: Mapping[str, Any]

    def __init__(
        self,
        function: str | Callable = "",
        /,
        type: str = "function",
        data: Mapping[str, Any] | None = None,
        *,
        name: str = "",
        **more: Any,
    ) -> None:
        """From a name, a type and data; or from a function."""
        if data is not None and not isinstance(data, Mapping):
            where, expected = f"constraint {shown(name or function)}, data", "a mapping, as {'body_b': 'rod'}"
            raise ModelError(message(where, "not a mapping", shown(data), expected))
        given = {**(data or {}), **more}
        if isinstance(function, str) and isinstance(name, str) and not (function or name):  # only by keyword
            function = given.get("function", "")
        if callable(function):
            own = getattr(function, "__name__", "function")
            name, given = name or ("function" if own == "<lambda>" else own), {"function": function, **given}
        elif isinstance(function, str) and function and name:
            raise ModelError(message(f"constraint '{name}'", "two names", f"{function!r} and {name!r}", "one of them"))
        else:
            name = function if isinstance(name, str) and not name else name
        check_name("constraint", "constraint", name)
        assign(self, name=name, type=type, data={key: _frozen(value) for key, value in given.items()})
        for key in self.numeric:
            _check_size(f"constraint '{name}'", key, self.data[key])

    @property
    def kind(self) -> ConstraintKind:
        """Its kind, or a ModelError where there is none of this name."""
        return constraint_kind(f"constraint '{self.name}'", self.type)

    @property
    def numeric(self) -> list[str]:
        """The keys of its data that hold numbers of the machine: each of these has a path."""
        return numeric_keys(self.data)


def _frozen(value: Any) -> Any:
    """Lists and arrays become tuples, SciPy's Rotation its quaternion."""
    value = without_rotations(value)
    return tuple(value) if is_list(value) else value


def _check_size(where: str, key: str, value: Any) -> None:
    """Refuse numbers too large to be computed with; what else is wrong is told where the kind is known."""
    for x in value if isinstance(value, tuple) else (value,):
        if isinstance(x, tuple):
            _check_size(where, key, x)
        elif not isinstance(x, float) or math.isfinite(x):
            number(where, key, x)


def check_data(constraint: Constraint) -> None:
    """Refuse a constraint whose kind is not known, or whose data do not say what it needs."""
    where, data, kind = f"constraint '{constraint.name}'", constraint.data, constraint.kind
    for name, key in kind.keys.items():
        if key.needed and name not in data:
            raise ModelError(message(where, f"'{name}' is missing", ", ".join(data) or "nothing", f"'{name}'"))
    for name, value in data.items():
        if name not in kind.keys:
            fix = did_you_mean(name, kind.keys)
            raise ModelError(message(where, "no such key", repr(name), ", ".join(kind.keys), fix))
        kind.keys[name].checked(where, name, value)
    kind.check(where, data)
