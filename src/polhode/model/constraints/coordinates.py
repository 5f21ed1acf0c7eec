"""Constraints on the coordinates of joints: one that follows another, one that keeps a value."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from polhode.errors import ModelError, message
from polhode.model.constraints.base import CoordinateConstraint, Data
from polhode.model.keys import Key
from polhode.model.mount import NotCarried
from polhode.model.numbers import plain
from polhode.model.reflection import Reflection
from polhode.model.scale import Scale, multiplied
from polhode.model.state import MachineState
from polhode.scalar import Vec, vec

_A_NUMBER = (math.isfinite, "a number")
AGREES = 1e-9
"""rad or m: so far may the values of two locked joints be from a constraint between them."""


class _Follower(CoordinateConstraint):
    """A joint that follows another: joint = multiplier × source + offset."""

    keys: ClassVar = {
        "joint": Key("joint", "a joint of one axis", needed=True),
        "source": Key("joint", "the joint that it follows", needed=True),
        "multiplier": Key(
            "number", "joint = multiplier × source + offset; 1 unless given", unit="1", letter="n", range=_A_NUMBER
        ),
        "offset": Key("number", "0 unless given", letter="o", range=_A_NUMBER),
    }
    rows = ("angle",)

    def check(self, where: str, data: Data) -> None:
        """Refuse a joint that follows itself."""
        if data["joint"] == data["source"]:
            raise ModelError(message(where, "a joint that follows itself", repr(data["joint"]), "two joints"))

    def residual(self, state: MachineState, data: Data) -> Vec:
        """joint − multiplier × source − offset"""
        joint, source = state.coordinate(data["joint"]), state.coordinate(data["source"])
        return vec(joint - data.get("multiplier", 1.0) * source - data.get("offset", 0.0))

    def _coefficients(self, data: Data) -> tuple[Any, ...]:
        """c of joint = Σ c[k] source^k"""
        return data.get("offset", 0.0), data.get("multiplier", 1.0)

    def _with(self, data: Data, c: Sequence[float]) -> Data:
        """Its data with other coefficients."""
        rules = (("offset", c[0], 0.0), ("multiplier", c[1], 1.0))
        return {**data, **{name: x for name, x, default in rules if name in data or x != default}}

    def following(self, data: Data, q: Mapping[str, tuple[float, ...]]) -> tuple[str, float]:
        """Σ c[k] source^k"""
        c = plain(self._coefficients(data))
        return data["joint"], float(np.polynomial.polynomial.polyval(q[data["source"]][0], c))

    def reflected(self, data: Data, mirror: Reflection) -> Data:
        """Its coefficients, by the signs of both coordinates."""
        joint, source = mirror.sign(data["joint"]), mirror.sign(data["source"])
        return self._with(data, [joint * source**k * plain(c) for k, c in enumerate(self._coefficients(data))])

    def scaled(self, data: Data, scale: Scale) -> Data:
        """Its coefficients, by what both joints go."""
        own, source = scale.of_coordinate(data["joint"]), scale.of_coordinate(data["source"])
        return self._with(data, [multiplied(c, own / source**k) for k, c in enumerate(self._coefficients(data))])

    def locked(self, data: Data, values: Mapping[str, tuple[float, ...]]) -> tuple[str, Data] | None:
        """With one of its joints locked, the other one is held where that demands."""
        joint, source = data["joint"], data["source"]
        if source in values:
            _, value = self.following(data, values)
            if joint not in values:
                return Prescribed.name, {"joint": joint, "value": value}
            if abs(value - values[joint][0]) > AGREES:
                raise NotCarried(f"'{joint}' is locked at {values[joint][0]:g}, where '{source}' demands {value:g}")
            return None
        c = plain(self._coefficients(data))
        if len(c) != 2 or not c[1]:
            raise NotCarried(f"'{joint}' is locked, and '{source}' does not follow from it")
        return Prescribed.name, {"joint": source, "value": (values[joint][0] - c[0]) / c[1]}


class Gear(_Follower):
    """Two joints that turn together."""

    name = "gear"


class Mimic(_Follower):
    """A joint that follows another, by a multiplier and an offset or by a polynomial."""

    name = "mimic"
    keys: ClassVar = {**_Follower.keys, "polynomial": Key("numbers", "joint = Σ c[k] source^k, coefficients c")}

    def check(self, where: str, data: Data) -> None:
        """Refuse two rules, and a joint that follows itself."""
        if "polynomial" in data and ("multiplier" in data or "offset" in data):
            raise ModelError(message(where, "two rules", "a polynomial and a multiplier or an offset", "one of them"))
        super().check(where, data)

    def _coefficients(self, data: Data) -> tuple[Any, ...]:
        return data["polynomial"] if "polynomial" in data else super()._coefficients(data)

    def _with(self, data: Data, c: Sequence[float]) -> Data:
        return {**data, "polynomial": tuple(c)} if "polynomial" in data else super()._with(data, c)

    def residual(self, state: MachineState, data: Data) -> Vec:
        """joint − Σ c[k] source^k, by Horner's rule"""
        if "polynomial" not in data:
            return super().residual(state, data)
        joint, source = state.coordinate(data["joint"]), state.coordinate(data["source"])
        *lower, found = data["polynomial"]
        for c in reversed(lower):
            found = found * source + c
        return vec(joint - found)


class Prescribed(CoordinateConstraint):
    """A joint that keeps a value, or follows a function of time."""

    name = "prescribed"
    has_constant_rows: ClassVar[bool] = True
    keys: ClassVar = {
        "joint": Key("joint", "a joint of one axis", needed=True),
        "value": Key(
            "number", "the coordinate that the joint keeps: a number, or an expression of the time t", needed=True,
            of_time=True, range=(math.isfinite, "a number, or a function of time"),
        ),
    }  # fmt: skip
    rows = ("value",)

    def residual(self, state: MachineState, data: Data) -> Vec:
        """joint − value"""
        value = data["value"]
        return vec(state.coordinate(data["joint"]) - (value(state.t) if callable(value) else value))

    def reflected(self, data: Data, mirror: Reflection) -> Data:
        """The value, by the sign of the coordinate; a function of time stays where that does."""
        if mirror.sign(data["joint"]) > 0:
            return data
        if callable(data["value"]):
            raise NotCarried("its coordinate changes its sign, its function of time does not")
        return {**data, "value": -plain(data["value"])}

    def scaled(self, data: Data, scale: Scale) -> Data:
        """The value, as an angle or a length."""
        return {**data, "value": multiplied(data["value"], scale.of_coordinate(data["joint"]))}

    def locked(self, data: Data, values: Mapping[str, tuple[float, ...]]) -> tuple[str, Data] | None:
        """Met, where the joint is locked at its value."""
        joint, value = data["joint"], plain(data["value"])
        if callable(value) or abs(value - values[joint][0]) > AGREES:
            raise NotCarried(f"joint '{joint}' is locked at {values[joint][0]:g}, and prescribed otherwise")
        return None
