"""The numbers of every run: drawn, walked on grids, or derived from the others."""

from collections.abc import Mapping

import numpy as np

from polhode.ensemble.design import Design, cells
from polhode.ensemble.distributions import Grid
from polhode.ensemble.parameters import StudyColumn, StudyParameters
from polhode.ensemble.study import Study
from polhode.ensemble.user_functions import evaluated
from polhode.errors import InputError, message

TOGETHER = 1024
"""Runs whose numbers are drawn together; always the same blocks, so that no bit depends on which runs are asked for."""


class ParameterValues:
    """The numbers that differ from run to run: which, and their values."""

    def __init__(self, study: Study, parameters: StudyParameters) -> None:
        """Check the names."""
        self.study, self.parameters = study, parameters
        self._slots = self._sampled()
        self.columns = self._columns()
        """The numbers that differ."""
        self.grids = [len(x.rows) for x in study.samples.values() if isinstance(x, Grid)]
        self.design = Design(study.design, study.seed, study.runs, sum(x.uniforms for x in study.samples.values()))

    def _sampled(self) -> list[list[list[StudyColumn]]]:
        """For each entry of the samples, for each name in it, the columns it fills."""
        found, seen = [], dict[str, str]()
        for key, given in self.study.samples.items():
            names = [name.strip() for name in key.split(",")]
            if "t" in names:
                fix = "In expressions t is the time; give it another name."
                raise InputError(message("sweep, parameter 't'", "the name of the time", repr(key), "another", fix))
            shared = len(names) > 1 and given.width == len(names) > 1
            slots = [self.parameters.columns(name, 1 if shared else given.width) for name in names]
            for column in (c.name for slot in slots for c in slot):
                if column in seen:
                    where = f"sweep, parameter '{column}'"
                    raise InputError(message(where, "given twice", f"in '{seen[column]}' and '{key}'", "once"))
                seen[column] = key
            found.append(slots)
        return found

    def _columns(self) -> tuple[StudyColumn, ...]:
        sampled = [c for slots in self._slots for slot in slots for c in slot]
        for name in self.study.derived:
            (column,) = self.parameters.columns(name, 1)
            if column in sampled:
                raise InputError(message(f"sweep, derived '{name}'", "drawn as well", "both", "one of them"))
            sampled.append(column)
        return tuple(sampled)

    def values(self, first: int, last: int) -> np.ndarray:
        """The numbers (n, columns) of runs first … last − 1."""
        begin, end = first // TOGETHER * TOGETHER, min(-(-last // TOGETHER) * TOGETHER, self.study.runs)
        uniforms, places = self.design.uniforms(begin, end), cells(self.grids, begin, end)
        blocks = [slice(k, k + TOGETHER) for k in range(0, end - begin, TOGETHER)]
        return np.concatenate([self._block(uniforms[few], places[few]) for few in blocks])[first - begin : last - begin]

    def _block(self, uniforms: np.ndarray, places: np.ndarray) -> np.ndarray:
        """The numbers of one block of n runs: uniforms (n, axes), the places on each grid (n, grids)."""
        n = len(uniforms)
        found: dict[str, np.ndarray] = {}
        axis = grid = 0
        for given, slots in zip(self.study.samples.values(), self._slots, strict=True):
            if isinstance(given, Grid):
                drawn = np.array(given.rows)[places[:, grid]]
                grid += 1
            else:
                with np.errstate(all="ignore"):  # what is not finite is told of each run
                    drawn = given.values(np.ascontiguousarray(uniforms[:, axis : axis + given.uniforms]))
                drawn = drawn.reshape(n, given.width)
                axis += given.uniforms
            shared = len(slots) > 1 and given.width == len(slots) > 1
            for k, slot in enumerate(slots):
                for j, column in enumerate(slot):
                    found[column.name] = drawn[:, k if shared else j]
        for name in self.study.derived:
            found[self.parameters.columns(name, 1)[0].name] = self._derived(name, found, n)
        return np.stack([found[column.name] for column in self.columns], axis=1)

    def _derived(self, name: str, found: Mapping[str, np.ndarray], n: int) -> np.ndarray:
        rule, where = self.study.derived[name], f"sweep, derived '{name}'"
        names = {**self.parameters.numbers, **found}
        with np.errstate(all="ignore"):
            value = rule(names) if callable(rule) else evaluated(where, rule, names)
        array = np.asarray(value, dtype=float)
        if array.shape not in ((), (n,)):
            raise InputError(message(where, "wrong shape", str(array.shape), f"({n},): one for each run"))
        return np.broadcast_to(array, n)
