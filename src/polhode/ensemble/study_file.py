"""Study files: YAML → Study, with the line of everything that is wrong.

study: swinging under uncertainty
model: double-pendulum                # a bundled name, or a file beside this one
runs: 1000
seed: 7
duration: 5
step: 0.001
method: rk4
parameters:
  bodies.upper.mass: {normal: [1, 0.1]}
  start.q.hinge: {uniform: [-pi, pi]}
measures:
  highest: {max: q.hinge}
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from polhode.ensemble.distributions import Distribution, Grid, Listed, LogUniform, Normal, Rotations, Uniform
from polhode.ensemble.measures import KINDS, Measure
from polhode.ensemble.option_table import ONE_RUN, RUN_FLAGS
from polhode.ensemble.study import Stop, Study, study
from polhode.errors import InputError, PolhodeError, did_you_mean, message
from polhode.formats.document import Document, Path_, read_document, read_text
from polhode.formats.expression import Fault, evaluate_with_unit, unit_fault
from polhode.formats.library import text_of
from polhode.formats.load import load
from polhode.formats.overrides import path_parts
from polhode.model.units import UnitNumber
from polhode.simulation.inputs import PD

KINDS_OF_OPTIONS = {name: flag.kind for name, flag in RUN_FLAGS.items()}
NUMBERS = (
    "runs", "seed", "accompanied",
    *(name for name, kind in KINDS_OF_OPTIONS.items() if kind in ("seconds", "number", "whole")),
)  # fmt: skip
WORDS = ("study", "model", "design", *(name for name, kind in KINDS_OF_OPTIONS.items() if kind == "text"))
SWITCHES, PAIRS = (
    tuple(name for name, kind in KINDS_OF_OPTIONS.items() if kind in wanted)
    for wanted in (("switch", "choice"), ("pair",))
)
"""Keys by the kind of their values; those of run options are of the kind that they have on the command line."""

RULES = ("derived", "outputs")
KEYS = (*WORDS, *NUMBERS, *SWITCHES, *PAIRS, *RULES, "parameters", "start", "input", "stop", "measures", "keep")

WHOLE = ("runs", "seed", *(name for name, kind in KINDS_OF_OPTIONS.items() if kind == "whole"))

MOST_POINTS = 1_000_000
"""Points of a grid that are written as from, to and count."""


def load_study(path: str | Path, **other: Any) -> Study:
    """The study of a file; `other` values (runs, seed) stand in for those of the file."""
    place = Path(path)
    if not place.is_file():
        raise InputError(message(f"study '{path}'", "no such file", "nothing", "a study file, in YAML"))
    return replace(study_of(read_text(place), str(path), place.parent, **other), source=str(place.resolve()))


def study_of(text: str, where: str = "study", folder: Path = Path(), **other: Any) -> Study:
    """The study of a text; files that it names are looked for in `folder`."""
    reader = _StudyFileReader(read_document(text, where))
    return reader.study(text, folder, {name: x for name, x in other.items() if x is not None})


class _StudyFileReader:
    """One study file being read."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.data = document.data
        self.model: Any = None
        if not isinstance(self.data, dict):
            raise self.fault((), "not a study", type(self.data).__name__, "keys: study, model, parameters, …")
        for key in self.data:
            if key not in (*KEYS, *ONE_RUN):
                fix = did_you_mean(key, KEYS)
                raise self.fault((key,), "an unknown key", repr(key), ", ".join(KEYS), fix)
        for key in ("model", "parameters"):
            if key not in self.data:
                raise self.fault((), f"no {key}", "nothing", f"{key}: …")

    def fault(self, path: Path_, what: str, found: str, expected: str, fix: str = "") -> InputError:
        """An error at a value."""
        return InputError(message(self.document.place(path), what, found, expected, fix))

    def study(self, text: str, folder: Path, other: Mapping[str, Any]) -> Study:
        data = self.data
        source = str(data["model"])
        beside = folder / source
        model = self.model = load(beside if beside.is_file() else source)
        options: dict[str, Any] = {name: self._number((name,)) for name in NUMBERS if name in data and name != "times"}
        options |= {name: self._word(name) for name in WORDS if name in data and name not in ("study", "model")}
        options |= {name: self._switch(name) for name in SWITCHES if name in data}
        options |= {name: self.pair((name,)) for name in PAIRS if name in data}
        if "times" in data:
            options["times"] = (self._numbers if isinstance(data["times"], list) else self._number)(("times",))
        options |= {name: data[name] for name in ONE_RUN if name in data}  # refused, with what to do
        options["name"] = self._word("study") if "study" in data else model.name
        samples = {name: self._distribution(("parameters", name)) for name in self._mapping(("parameters",))}
        for name in RULES:
            options[name] = {key: self._rule((name, key)) for key in self._mapping((name,))}
        options["stop"] = {key: self._stop(("stop", key)) for key in self._mapping(("stop",))}
        options["measures"] = {key: self._measure(("measures", key)) for key in self._mapping(("measures",))}
        if "keep" in data:
            options["keep"] = self._words(("keep",))
        if "input" in data:
            options["tau"] = self._input()
        for part in self._mapping(("start",)):
            if part not in ("q", "v"):
                raise self.fault(("start", part), "an unknown key", repr(part), "q, v")
            options[part] = self._numbers(("start", part))
        found = study(model, samples, **(options | dict(other)))
        return replace(found, text=text, model_text=text_of(beside if beside.is_file() else source))

    # values

    def _at(self, path: Path_) -> Any:
        found = self.data
        for key in path:
            found = found[key]
        return found

    def _mapping(self, path: Path_) -> dict[str, Any]:
        if path[0] not in self.data:
            return {}
        found = self._at(path)
        if not isinstance(found, dict):
            raise self.fault(path, "not a mapping", repr(found)[:60], "names and values")
        return found

    def _word(self, name: str) -> str:
        if not isinstance(self.data[name], str):
            raise self.fault((name,), "not a word", repr(self.data[name])[:60], "text")
        return self.data[name]

    def _switch(self, name: str) -> bool:
        if not isinstance(self.data[name], bool):
            raise self.fault((name,), "not a switch", repr(self.data[name])[:60], "true or false")
        return self.data[name]

    def _words(self, path: Path_) -> tuple[str, ...]:
        found = self._at(path)
        found = [found] if isinstance(found, str) else found
        if not isinstance(found, list) or not all(isinstance(x, str) for x in found):
            raise self.fault(path, "not names", repr(found)[:60], "a list of names, as [q, v.hinge]")
        return tuple(found)

    def _number(self, path: Path_) -> Any:
        value = self._at(path)
        if isinstance(value, str):
            try:
                value = evaluate_with_unit(value, {})
                if isinstance(value, UnitNumber):
                    self._check_unit(path, value)
            except Fault as fault:
                raise self.fault(path, fault.what, fault.found, fault.expected, fault.fix) from None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.fault(path, "not a number", repr(value)[:60], "a number")
        if not math.isfinite(value):
            raise self.fault(path, "not finite", repr(value), "a finite number")
        if path[-1] in WHOLE:
            if value != int(value):
                raise self.fault(path, "not a whole number", repr(value), "a whole number")
            return int(value)
        return float(value)

    def _check_unit(self, path: Path_, number: UnitNumber) -> None:
        """Raise a Fault where a unit is of another dimension than the number has."""
        parts: Path_ = path
        if path[-1] == "spread":
            parts = ("angle",)
        elif path[0] == "parameters" and path[-1] != "count":
            places = [part for part in path[3:] if isinstance(part, int)]
            parts = (*path_parts(self.model, str(path[1])), *places[1:])
        elif KINDS_OF_OPTIONS.get(str(path[0])) == "seconds" or path[0] == "times":
            parts = ("duration",)
        elif path[0] != "start":
            raise Fault("a unit", repr(number.text), "a number without one")
        if fault := unit_fault(self.model, parts, number):
            raise fault

    def _numbers(self, path: Path_, sizes: tuple[int, ...] = ()) -> list[Any]:
        value = self._at(path)
        if not isinstance(value, list) or (sizes and len(value) not in sizes):
            expected = f"{' or '.join(map(str, sizes))} numbers" if sizes else "a list of numbers"
            raise self.fault(
                path, "wrong size" if isinstance(value, list) else "not a list", repr(value)[:60], expected
            )
        return [
            self._numbers((*path, k)) if isinstance(x, list) else self._number((*path, k)) for k, x in enumerate(value)
        ]

    def _rule(self, path: Path_) -> str:
        value = self._at(path)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise self.fault(path, "not an expression", repr(value)[:60], "text, as 2*bodies.arm.mass")
        return str(value)

    # parts

    def _distribution(self, path: Path_) -> Distribution:
        value = self._at(path)
        value = {value: None} if isinstance(value, str) else value
        if not isinstance(value, dict) or len(value) != 1:
            raise self.fault(path, "not a distribution", repr(value)[:60], "one of " + ", ".join(DISTRIBUTIONS))
        (kind,) = value
        if kind not in DISTRIBUTIONS:
            raise self.fault((*path, kind), "no such distribution", repr(kind), ", ".join(DISTRIBUTIONS))
        try:
            return DISTRIBUTIONS[kind](self, (*path, kind), value[kind])
        except PolhodeError as error:
            if str(error).startswith(self.document.where):
                raise
            raise InputError(f"{self.document.place(path)}: {error}") from None

    def pair(self, path: Path_) -> list[float]:
        """Two numbers."""
        return self._numbers(path, (2,))

    def rows(self, path: Path_) -> tuple[Any, ...]:
        """Numbers, or rows of them."""
        return tuple(self._numbers(path))

    def grid(self, path: Path_, value: Any) -> Grid:
        """Numbers, or from … to … in so many."""
        if not isinstance(value, dict):
            return Grid(self.rows(path))
        if set(value) != {"from", "to", "count"}:
            raise self.fault(path, "not a grid", ", ".join(map(str, value)), "from, to and count; or a list")
        first, last, count = (self._number((*path, key)) for key in ("from", "to", "count"))
        if not 1 <= count <= MOST_POINTS or count != int(count):
            expected = f"a whole number, 1 to {MOST_POINTS:,}"
            raise self.fault((*path, "count"), "not a number of points", repr(count), expected)
        if not math.isfinite(last - first):
            raise self.fault(path, "too wide", f"{first:g} to {last:g}", "a difference that is finite")
        return Grid(tuple(np.linspace(first, last, int(count)).tolist()))

    def rotations(self, path: Path_, value: Any) -> Rotations:
        """Uniform, or with a spread about a mean."""
        if value is None:
            return Rotations()
        if not isinstance(value, dict) or not set(value) <= {"spread", "mean"}:
            raise self.fault(path, "not rotations", repr(value)[:60], "nothing, or spread and mean")
        given: dict[str, Any] = {"spread": self._number((*path, "spread"))} if "spread" in value else {}
        if "mean" in value:
            given["mean"] = tuple(self._numbers((*path, "mean"), (4,)))
        return Rotations(**given)

    def _stop(self, path: Path_) -> Stop:
        value = self._at(path)
        if isinstance(value, str):
            return Stop(value)
        if not isinstance(value, dict) or not {"when"} <= set(value) <= {"when", "direction"}:
            raise self.fault(path, "not a stop", repr(value)[:60], "an expression, or when and direction")
        direction = self._number((*path, "direction")) if "direction" in value else 0
        if direction not in (-1, 0, 1):
            raise self.fault((*path, "direction"), "no such direction", repr(direction), "1, -1 or 0")
        return Stop(self._rule((*path, "when")), int(direction))

    def _measure(self, path: Path_) -> Measure:
        value = self._at(path)
        kinds = [key for key in value if key in KINDS] if isinstance(value, dict) else []
        if len(kinds) != 1 or not set(value) <= {*kinds, "target", "band"}:
            raise self.fault(path, "not a measure", repr(value)[:60], f"one of {', '.join(KINDS)}, as {{max: q.hinge}}")
        more = {key: self._number((*path, key)) for key in ("target", "band") if key in value}
        return Measure(kinds[0], str(value[kinds[0]]), **more)

    def _input(self) -> Any:
        """Forces by joint, as numbers or expressions; or a PD controller."""
        value = self._mapping(("input",))
        if set(value) <= {"pd"} and value:
            gains = self._mapping(("input", "pd"))
            for key in gains:
                if key not in ("stiffness", "damping", "target", "speed"):
                    raise self.fault(
                        ("input", "pd", key), "an unknown key", repr(key), "stiffness, damping, target, speed"
                    )
            read: dict[str, Any] = {}
            for key, x in gains.items():
                path = ("input", "pd", key)
                read[key] = self._numbers(path) if isinstance(x, list) else self._number(path)
            if not {"stiffness", "damping"} <= set(read):
                raise self.fault(("input", "pd"), "gains missing", ", ".join(read) or "none", "stiffness and damping")
            return PD(**read)
        return {name: self._rule(("input", name)) for name in value}


Reading = Callable[[_StudyFileReader, Path_, Any], Distribution]

DISTRIBUTIONS: dict[str, Reading] = {
    "normal": lambda reader, path, _: Normal(*reader.pair(path)),
    "uniform": lambda reader, path, _: Uniform(*reader.pair(path)),
    "log-uniform": lambda reader, path, _: LogUniform(*reader.pair(path)),
    "rotations": lambda reader, path, value: reader.rotations(path, value),
    "listed": lambda reader, path, _: Listed(reader.rows(path)),
    "grid": lambda reader, path, value: reader.grid(path, value),
}
"""What may stand behind a parameter."""
