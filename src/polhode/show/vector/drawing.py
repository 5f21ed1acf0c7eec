"""A picture of things in space before it has a size: areas from back to front, visible lines, names."""

from dataclasses import dataclass

from polhode.show.vector.canvas import TextRun
from polhode.show.vector.geometry import Array, Cylinder, SpaceCurve, View


@dataclass(frozen=True)
class Area:
    """A closed outline to be filled: curves or rows of points, one after the other."""

    style: str
    edges: tuple[SpaceCurve | Array, ...]


@dataclass(frozen=True)
class Stroke:
    """Visible pieces of a line. Heads, one for each piece: at its end (1), its start (−1), both (2), none (0)."""

    style: str
    pieces: tuple[SpaceCurve | Array, ...]
    heads: tuple[int, ...] = ()


@dataclass(frozen=True)
class Note:
    """A name, the points of space it may stand at, and for each the way on the page it would best go."""

    runs: tuple[TextRun, ...]
    style: str
    at: tuple[Array, ...]
    ways: tuple[Array, ...]
    small: bool = False


@dataclass(frozen=True)
class Layer:
    """What is painted together, and what is named there."""

    id: str
    items: tuple[Area | Stroke, ...]
    title: str = ""
    notes: tuple[Note, ...] = ()
    centre: Array | None = None
    """A mass centre, marked by its sign."""


@dataclass(frozen=True)
class Drawing:
    """Everything, seen from one side."""

    view: View
    layers: tuple[Layer, ...]
    solids: tuple[Cylinder, ...] = ()
