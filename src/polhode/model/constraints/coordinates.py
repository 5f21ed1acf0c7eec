"""Constraints on the coordinates of joints: one that follows another, one that keeps a value."""

import math
from typing import ClassVar

from polhode.errors import ModelError, message
from polhode.model.constraints.base import CoordinateConstraint, Data
from polhode.model.keys import Key
from polhode.model.state import MachineState
from polhode.scalar import Vec, vec

_A_NUMBER = (math.isfinite, "a number")


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
