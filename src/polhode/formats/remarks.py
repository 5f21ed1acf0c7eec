"""Remarks of a loader on a file: one warning for each kind of finding, when the file is read."""

import math
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from polhode.errors import ModelError, escaped, message, warn_caller
from polhode.formats.xml_guard import XmlElement
from polhode.model import Body

ORDINARY = "finite ones, neither so large nor so small that their squares leave the range of numbers"


ACTUATORS = "actuators ({n}): they act only through an input (tau)"
"""What a model says of the actuators of its file; n: how many."""


class Remarks:
    """Collects findings while a file is read; `warn` tells them, one warning a kind.

    What would change the motion is for `Model.ignored` too.
    """

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.massless: list[str] = []
        self.unphysical: list[str] = []
        self.unused: Counter[str] = Counter()
        self.meshes: dict[str, str] = {}
        self.lighter: list[str] = []
        self.crossed: list[str] = []
        self.told: dict[str, list[str]] = {}
        self._ignored: Counter[str] = Counter()

    def limits(self, place: str, name: str, lower: float, upper: float) -> tuple[float, float]:
        """The limits of a joint, as numbers of the file; a lower one above the upper one is noted, and is no limit."""
        if lower <= upper:
            return lower, upper
        self.crossed.append(f"'{escaped(name)}' ({escaped(place)}): lower {lower:g}, upper {upper:g}")
        return -math.inf, math.inf

    def body(self, place: str, name: str, mass: float, inertia: Any, center: Any) -> Body:
        """A body as the file has it; a fault of its numbers is noted, not repaired.

        place  file and line, for errors
        """
        body, faulty = body_as_it_is(place, name, mass, inertia, center)
        if faulty and mass == 0:
            self.without_mass(name)
        elif faulty:
            moments = ", ".join(f"{m:.4g}" for m in np.linalg.eigvalsh(body.inertia_matrix()))
            self.unphysical.append(
                f"'{escaped(name)}' ({escaped(place)}): mass {mass:.4g} kg, principal moments {moments} kg m²"
            )
        return body

    def without_mass(self, name: str) -> None:
        """Note a body without mass."""
        self.massless.append(f"'{escaped(name)}'")

    def not_used(self, name: str, times: int = 1) -> None:
        """Note a property of the file that the model does not keep."""
        self.unused[escaped(name)] += times

    def note_unused(self, root: XmlElement, used: Mapping[str, frozenset[str]]) -> None:
        """Note every element and attribute below `root` that is not in the table tag → attributes.

        What stands inside an unused element is part of it.
        """
        waiting = [root]
        while waiting:
            node = waiting.pop()
            known = used.get(node.tag)
            if known is None:
                self.not_used(node.tag)
                continue
            for name in node.attributes:
                if name not in known and not name.startswith("xmlns"):
                    self.not_used(f"{node.tag}.{name}")
            waiting += node.children

    def ignore(self, phrase: str, times: int = 1) -> None:
        """Note something of the file that would change the motion, and is no part of the model; {n}: how often."""
        self._ignored[phrase] += times

    def note_ignored(self, root: XmlElement, phrases: Mapping[str, str]) -> None:
        """Note every element (by its tag) and attribute other than 0 (by tag.attribute) that a table has."""
        for node in root.walk():
            if node.tag in phrases:
                self.ignore(phrases[node.tag])
            for name, value in node.attributes.items():
                if f"{node.tag}.{name}" in phrases and any(map(_other_than_zero, value.split())):
                    self.ignore(phrases[f"{node.tag}.{name}"])

    @property
    def ignored(self) -> tuple[str, ...]:
        """What would change the motion, and is no part of the model: a phrase each."""
        found = [phrase.replace("{n}", str(count)) for phrase, count in self._ignored.items() if count]
        return (*found, *([f"the mass of meshes not read: {', '.join(self.lighter)}"] if self.lighter else []))

    def tell(self, finding: str, name: str) -> None:
        """Note something of a body or joint that its user should know; names of one finding are told together."""
        self.told.setdefault(finding, []).append(f"'{escaped(name)}'")

    def mesh(self, name: str, reason: str) -> None:
        """Note a mesh file that is not read."""
        self.meshes[escaped(name)] = reason

    def warn(self) -> None:
        """Warn of everything noted."""
        for text in self._texts():
            warn_caller(text)

    def _texts(self) -> list[str]:
        texts, shown = [], escaped(self.shown)
        if self.massless:
            texts.append(f"{shown}: kept without mass: {', '.join(self.massless)}.")
        if self.unphysical:
            head = f"{shown}: inertias that no real body has, kept as they are:"
            texts.append("\n  ".join([head, *self.unphysical]))
        if self.unused:
            names = [f"{name} ({count})" for name, count in sorted(self.unused.items())]
            texts.append(f"{shown}: not used: {', '.join(names)}.")
        if self.meshes:
            reasons = sorted(set(self.meshes.values()))
            groups = [f"{why}: {', '.join(n for n, r in self.meshes.items() if r == why)}" for why in reasons]
            texts.append(f"{shown}: meshes not read. " + "; ".join(groups) + ".")
        if self.lighter:
            texts.append(f"{shown}: without the mass of meshes not read: {', '.join(self.lighter)}.")
        if self.crossed:
            head = f"{shown}: lower limits above upper ones, taken as no limits:"
            texts.append("\n  ".join([head, *self.crossed]))
        texts += [f"{shown}: {finding}: {', '.join(names)}." for finding, names in self.told.items()]
        return texts


def _other_than_zero(word: str) -> bool:
    try:
        return float(word) != 0
    except ValueError:
        return True


def body_as_it_is(place: str, name: str, mass: float, inertia: Any, center: Any) -> tuple[Body, bool]:
    """A body with the numbers of a file, and whether no real body has them."""
    with located(place), warnings.catch_warnings(record=True) as faults:
        warnings.simplefilter("always")
        body = Body(name, mass, inertia, center, physical=False)
    return (body, True) if faults else (Body(name, mass, inertia, center), False)


def massless(name: str) -> Body:
    """A body between two joints, nothing but a frame."""
    return body_as_it_is("", name, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))[0]


class located:
    """Puts a file and line before the ModelErrors raised inside, unless they have theirs.

    Numbers that arithmetic cannot cope with (quaternions of 1e-320, infinite angles) become such an error.
    """

    def __init__(self, place: str, begins: str = "") -> None:
        """begins: how errors begin that have theirs; unless given, with the file."""
        self.place, self.begins = place, begins or re.split(r":\d+", place)[0] + ":"

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, ModelError):
            if self.place and not str(error).startswith(self.begins):
                raise ModelError(f"{self.place}, {error}") from None
        elif isinstance(error, ArithmeticError) or type(error) is ValueError or isinstance(error, LinAlgError):
            raise ModelError(message(self.place, "numbers without a result", str(error), ORDINARY)) from None
