"""What the bodies of a USD look like: shapes that are drawn, or collision shapes where there are no others."""

from collections.abc import Iterator

from polhode.errors import ModelError
from polhode.formats.placement import FramePose, moved, turn_from_z
from polhode.formats.remarks import Remarks
from polhode.formats.usd.masses import dimensions
from polhode.formats.usd.stage import COLLISION, Prim, Stage
from polhode.formats.visuals import Visual, drawn_ones
from polhode.scalar import vec
from polhode.spatial import Z

AXES = (vec(1.0, 0.0, 0.0), vec(0.0, 1.0, 0.0), Z)


def body_shapes(stage: Stage, body: Prim, shapes: list[Prim], remarks: Remarks) -> list[Visual]:
    """The shapes of a body that are drawn; those that are no shapes of ours are noted."""
    visual, collision = list[Visual](), list[Visual]()
    home = body.pose(stage.meters).at.inverse()
    for shape in shapes:
        if shape.values.get("visibility") == "invisible" and not shape.has(COLLISION):
            continue
        into = collision if shape.has(COLLISION) else visual
        if shape.kind in ("Mesh", "Plane"):
            into.append(Visual("mesh", (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)))
            continue
        try:
            into += _drawn(stage, shape, home.then(shape.pose(stage.meters).at))
        except ModelError:  # a shape that is only drawn: sheared, moving, of no size
            remarks.not_used(f"{shape.kind} as it looks")
    return drawn_ones(visual, collision)


def _drawn(stage: Stage, shape: Prim, at: FramePose) -> Iterator[Visual]:
    if shape.kind not in ("Cube", "Sphere", "Cylinder", "Capsule"):
        shape.fail("not drawn", shape.kind, "another shape")
    a, b, c = dimensions(stage, shape)
    if shape.kind == "Cube":
        yield Visual("box", (a, b, c), tuple(at.position), tuple(at.orientation))
    elif shape.kind == "Sphere":
        yield Visual("sphere", (a,), tuple(at.position), tuple(at.orientation))
    else:
        axis = AXES[int(c)]
        upright = at.then(FramePose(orientation=turn_from_z(axis)))
        yield Visual("cylinder", (a, b), tuple(upright.position), tuple(upright.orientation))
        for end in (-b / 2, b / 2) if shape.kind == "Capsule" else ():
            ball = at.then(moved(end * axis))
            yield Visual("sphere", (a,), tuple(ball.position), tuple(ball.orientation))
