"""MJCF's equality constraints, kept as data."""

from collections.abc import Iterator
from typing import Any

from polhode.formats.mjspec import placement
from polhode.model import WORLD, Constraint


def constraints(spec: Any) -> Iterator[Constraint]:
    """The equality constraints of a spec, as "mujoco-" and MuJoCo's names for their kinds: not yet ours.

    joint    joint − its start = Σ polycoef[k] (source − its start)^k; without a source, joint − its start = polycoef[0]
    connect  the point `anchor` of body1 stays on body2 where it is at the start; or the origins of two sites meet
    weld     body2 stays in body1 as `relpose` says (None: as at the start); or the frames of two sites agree
    """
    for k, equality in enumerate(spec.equalities):
        kind = equality.type.name.removeprefix("mjEQ_").lower()
        data = _data(spec, equality, kind)
        yield Constraint(equality.name or f"{kind}_{k}", f"mujoco-{kind}", {**data, "active": bool(equality.active)})


def _data(spec: Any, equality: Any, kind: str) -> dict[str, Any]:
    numbers = [float(x) for x in equality.data]
    if kind == "joint":
        return {"joint": equality.name1, "source": equality.name2 or None, "polycoef": tuple(numbers[:5])}
    if kind not in ("connect", "weld"):
        return {"name1": equality.name1, "name2": equality.name2 or None, "data": tuple(numbers)}
    torque = {"torquescale": numbers[10]} if kind == "weld" else {}
    if equality.objtype.name == "mjOBJ_SITE":
        return {**_site(spec, equality.name1, 1), **_site(spec, equality.name2, 2), **torque}
    ends = {"body1": equality.name1, "body2": equality.name2 or WORLD}
    if kind == "connect":
        return {**ends, "anchor": tuple(numbers[:3])}
    relpose = tuple(numbers[3:10]) if any(numbers[6:10]) else None
    return {**ends, "anchor": tuple(numbers[:3]), "relpose": relpose, **torque}


def _site(spec: Any, name: str, number: int) -> dict[str, Any]:
    """A site as a frame in its body."""
    site = spec.site(name)
    if site is None:
        return {f"site{number}": name}
    at = placement(site)
    return {
        f"site{number}": name,
        f"body{number}": site.parent.name or WORLD,
        f"position{number}": tuple(at.position),
        f"orientation{number}": tuple(at.orientation),
    }
