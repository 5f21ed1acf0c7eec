"""A strain of a beam element that is held, or given as a function of time."""

from collections.abc import Sequence
from typing import ClassVar

from polhode.model.beams.higher_order import HigherOrder
from polhode.model.beams.strains import MEASURES, MODES, STRAIN_SIGNS, chord, second_order, with_second_order
from polhode.model.constraints.base import ENDS, BodyConstraint, ConstraintCondition, Data, asked, counted
from polhode.model.constraints.frames import MovingFrame, end
from polhode.model.keys import POSITIVE, Key
from polhode.model.numbers import plain
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Vec

_FRAMES = {name: key for name, key in ENDS.items() if not name.startswith("axis")}


class BeamStrain(BodyConstraint):
    """A strain of a beam element between two frames, x along it: ε_mode = strain, 0 unless given.

    Minus its multiplier is the load of the section that belongs to the strain, N.
    """

    name = "beam-strain"
    has_image = True
    keys: ClassVar[dict[str, Key]] = {
        **_FRAMES,
        "length": Key(
            "number", "of the element without strain, m", unit="m", letter="l_0", needed=True, range=POSITIVE
        ),
        "mode": Key("word", "which strain", needed=True, choices=MODES),
        "strain": Key("number", "m, or a function of time", unit="m", of_time=True),
        "shear": Key("array", "12 EI/(GA l²) of the planes xy and xz; 0 unless given", unit="1"),
        "measure": Key("word", "of strains: angle or sine", choices=MEASURES),
        "second_order": Key(
            "flag", "with the terms of second and higher order: an element that bends; true unless given"
        ),
    }
    rows = ("strain",)

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """ε_mode, without what it is to be."""
        return Vec([_strain(a, b, data)])

    def reflected(self, data: Data, mirror: Reflection) -> Data:
        """Its frames; torsion, and bending in the plane of y, change their signs."""
        found = dict(super().reflected(data, mirror))
        if "strain" in data:
            found["strain"] = STRAIN_SIGNS[MODES.index(data["mode"])] * plain(data["strain"])
        return found

    def conditions(self, name: str, data: Data, names: Sequence[str]) -> list[ConstraintCondition]:
        """One, of positions: ε_mode − strain"""

        def residual(state: MachineState) -> Vec:
            own = state.constraints[name]
            a, b, given = end(own, "a", state), end(own, "b", state), own.get("strain", 0.0)
            wanted = asked(name, given, state.t) if callable(given) else given
            return counted(name, 1, self.positions(a, b, own) - Vec([wanted]))

        return [ConstraintCondition(name, self.rows, True, residual, ("length",))]


def _strain(a: MovingFrame, b: MovingFrame, data: Data) -> Scalar:
    """The strain of an element between two frames."""
    l0, mode, shear = data["length"], MODES.index(data["mode"]), data.get("shear", (0.0, 0.0))
    line = chord(a.R, b.R, b.o - a.o, l0, data.get("measure", MEASURES[0]) == "sine")
    if not data.get("second_order", True):
        return line.strains[mode]
    found = with_second_order(line.strains, second_order(l0, *shear))
    return found[mode] if line.sine else HigherOrder(line.strains, l0, *shear).added(found)[mode]
