"""The arguments of the physics: a tree, its state, and what acts on it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from polhode.model import Tree
from polhode.scalar import Vec, vec


class Arguments(NamedTuple):
    """The arguments of one call, on scalars."""

    tree: Tree
    q: Vec = vec()
    v: Vec = vec()
    vd: Vec = vec()
    tau: Vec = vec()
    q1: Vec = vec()
    point: Vec = vec()
    load: Vec = vec()
    """A force and a couple."""
    qdot: Vec = vec()
    multipliers: Vec = vec()
    """Of the rows of constraints."""
    factors: Vec = vec()
    """Of the masses of bodies, in their order."""
    part: Any = 0.0
    """How far between two configurations."""
    restitution: Any = 0.0
    damping: Any = 0.0
    """Of the rows of constraints."""
    t: Any = 0.0
    ahead: Any = 0.0
    """After how long the velocities are those by which the damping of joints acts; 0: as they are."""
    wrench: Mapping[str, tuple[Vec, Vec]] = {}
    rolled: bool = False
    """Whether the passes over the tree become loops of the compiled code: for large trees."""
    normals: Mapping[str, Any] | None = None
    """The normal forces of joints by name, N, where they are known; None: they follow from the motion of a tree."""
