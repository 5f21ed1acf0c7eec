"""MJCF's equality constraints as ours: exact where MuJoCo's are soft.

connect  a point of each body, or the origins of two sites, stay together: "spherical"
weld     two bodies, or two sites, keep their relative pose: "weld"
joint    a joint follows another by a polynomial: "mimic"; without another it stays: "prescribed"
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from polhode.errors import ModelError, did_you_mean, message
from polhode.formats.mjcf.spec import Parsed, as_vec, fresh, placement
from polhode.formats.placement import FramePose, moved, turned
from polhode.formats.remarks import Remarks, located
from polhode.model import WORLD, Constraint
from polhode.model.constraints.constraint import check_data


def constraints(
    parsed: Parsed, poses: Mapping[str, FramePose], starts: Mapping[str, float], remarks: Remarks
) -> Iterator[Constraint]:
    """The equality constraints of a spec that are active; others are noted.

    poses   of the bodies, by our names, at the start
    starts  the coordinates of joints of one axis in MuJoCo's qpos0, where its references are
    """
    equalities = list(parsed.spec.equalities)
    taken = {equality.name for equality in equalities}
    sites = {site.name: site for site in parsed.spec.sites} if equalities else {}
    for k, equality in enumerate(equalities):
        kind = equality.type.name.removeprefix("mjEQ_").lower()
        if not equality.active or kind not in ("connect", "weld", "joint"):
            remarks.not_used(f"equality.{kind}" + ("" if equality.active else " that is not active"))
            if equality.active:
                remarks.ignore(f"equality constraints of kind {kind} ({{n}})")
            continue
        name = equality.name or fresh(f"{kind}_{k}", taken)
        with located(f"{parsed.place(equality)}, equality '{name}'"):
            if kind == "joint":
                constraint = _following(name, equality, starts)
            else:
                constraint = _holding(name, kind, equality, sites, poses)
            check_data(constraint)
        yield constraint


def _known(key: str, name: str, known: Mapping[str, Any], expected: str) -> Any:
    """What a name stands for."""
    if name in known:
        return known[name]
    raise ModelError(message(key, "unknown", repr(name), expected, did_you_mean(name, known)))


def _following(name: str, equality: Any, starts: Mapping[str, float]) -> Constraint:
    """y − y₀ = Σ aₖ (x − x₀)ᵏ, its coefficients expanded about x = 0."""
    follower, source, shifted = equality.name1, equality.name2, [float(x) for x in equality.data[:5]]
    start = _known("joint1", follower, starts, "a joint of one axis")
    if not source:
        return Constraint(name, "prescribed", {"joint": follower, "value": start + shifted[0]})
    c = _expanded(shifted, _known("joint2", source, starts, "a joint of one axis"))
    c[0] += start
    ends = {"joint": follower, "source": source}
    if any(c[2:]):
        return Constraint(name, "mimic", {**ends, "polynomial": tuple(c)})
    return Constraint(name, "mimic", {**ends, "multiplier": c[1], "offset": c[0]})


def _expanded(a: Sequence[float], x0: float) -> list[float]:
    """The coefficients of Σ aₖ (x − x₀)ᵏ in powers of x."""
    found = np.polynomial.Polynomial(a)(np.polynomial.Polynomial([-x0, 1.0])) if x0 else np.polynomial.Polynomial(a)
    return [float(x) for x in np.pad(found.coef, (0, len(a) - len(found.coef)))]


def _holding(
    name: str, kind: str, equality: Any, sites: Mapping[str, Any], poses: Mapping[str, FramePose]
) -> Constraint:
    """A point or a pose of one body in another."""
    if equality.objtype.name == "mjOBJ_SITE":
        (body_1, first), (body_2, second) = (
            _site(_known(key, site, sites, "a site"))
            for key, site in (("site1", equality.name1), ("site2", equality.name2))
        )
    else:
        body_1, body_2 = equality.name1, equality.name2 or WORLD
        numbers = [float(x) for x in equality.data]
        one, two = _known("body1", body_1, poses, "a body"), _known("body2", body_2, poses, "a body")
        first, second = _ends(kind, numbers, one.inverse().then(two))
    if body_2 == WORLD:  # the reaction is that on body b
        (body_1, first), (body_2, second) = (body_2, second), (body_1, first)
    data: dict[str, Any] = {"body_b": body_2} if body_1 == WORLD else {"body_a": body_1, "body_b": body_2}
    data |= {"position_a": tuple(first.position), "position_b": tuple(second.position)}
    if kind == "weld":
        data |= {"orientation_a": tuple(first.orientation), "orientation_b": tuple(second.orientation)}
    return Constraint(name, "weld" if kind == "weld" else "spherical", data)


def _ends(kind: str, numbers: Sequence[float], between: FramePose) -> tuple[FramePose, FramePose]:
    """The frames on two bodies.

    between  body 2 in body 1 at the start
    """
    if kind == "connect":  # the anchor is a point of body 1
        anchor = moved(numbers[:3])
        return anchor, moved(between.inverse().then(anchor).position)
    anchor = moved(numbers[:3])  # a point of body 2
    if any(numbers[6:10]):
        return FramePose(as_vec(numbers[3:6]), turned(numbers[6:10]).orientation), anchor
    return FramePose(between.then(anchor).position, between.orientation), FramePose(anchor.position)


def _site(site: Any) -> tuple[str, FramePose]:
    """The body of a site, and where the site is in it."""
    return site.parent.name or WORLD, placement(site)
