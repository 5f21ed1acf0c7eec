"""A summary of the constraints over a run: rank, degrees of freedom, redundant rows, singular configurations."""

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from xarray import Dataset

NEAR = 0.05
"""A smallest singular value, in parts of its median over the run, below which a configuration counts as singular."""

SMALL = 1e-3
"""A smallest singular value that counts as singular whatever the median is; rows are scaled to their natural sizes."""


SHOWN = 8
"""Rows and passages that a text lists one by one."""


class Passage(NamedTuple):
    """A singular configuration that was reached or approached: when, and the smallest singular value seen there."""

    time: float
    value: float


@dataclass(frozen=True)
class Constrained:
    """The constraints over a run."""

    rows: int
    rank: tuple[int, int]
    """Smallest and largest rank over the run."""
    degrees_of_freedom: tuple[int, int]
    idle: tuple[str, ...]
    """Rows whose multipliers are zero: the motion meets them without a force."""
    redundant: tuple[str, ...]
    """Rows that share their forces with others, most of the time."""
    passages: tuple[Passage, ...]
    weakest: float
    """The smallest singular value over the run."""
    moved: dict[str, float] = field(default_factory=dict)
    """Residuals of the given start, where it was moved to meet the constraints."""
    singular_positions: int = 0
    """Singular positions that the run passed, between samples too."""
    ended: bool = True
    """Whether the run came to its end."""

    def facts(self) -> dict[str, Any]:
        """The summary as plain data, for JSON."""
        known = vars(self) | {"passages": [passage._asdict() for passage in self.passages]}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in known.items()}

    def __str__(self) -> str:
        free = "degree of freedom" if self.degrees_of_freedom == (1, 1) else "degrees of freedom"
        lines = [f"constraints  {self.rows} rows, rank {_span(self.rank)}; {_span(self.degrees_of_freedom)} {free}"]
        if self.moved:
            missed = ", ".join(f"{name} ({value:.3g})" for name, value in list(self.moved.items())[:SHOWN])
            missed += f" … {len(self.moved) - SHOWN} more" if len(self.moved) > SHOWN else ""
            lines.append(f"  the start was moved, since it missed: {missed}")
        told = {"hold by themselves": self.idle, "redundant, forces not determined one by one": self.redundant}
        lines += [f"  {what}: {', '.join(names)}" for what, names in told.items() if names]
        for time, value in self.passages[:SHOWN]:
            lines.append(f"  near a singular configuration at t = {time:.6g} s: smallest singular value {value:.2g}")
        if len(self.passages) > SHOWN:
            lines.append(f"  … {len(self.passages) - SHOWN} more")
        if not self.passages:
            lines.append(f"  smallest singular value {self.weakest:.2g}{self._approached}")
        return "\n".join(lines)

    @property
    def _approached(self) -> str:
        """What follows from samples none of which is near a singular configuration."""
        if n := self.singular_positions:
            return f" at the samples; {n} singular position{'s' * (n > 1)} between them"
        return ": no singular configuration was approached" if self.ended else " at the samples"


def _span(ends: tuple[int, int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def constrained(run: "Dataset") -> Constrained | None:
    """The summary of a run's constraints; None where the run holds nothing about them."""
    if not {"rank", "determined", "smallest_singular_value"} <= set(run.data_vars):
        return None
    time, weakest = run["time"].values, run["smallest_singular_value"].values
    good = np.isfinite(weakest)
    if not np.any(good):
        return None
    names, idle = [str(x) for x in run["constraint"].values], json.loads(run.attrs.get("idle_constraints") or "[]")
    shared = np.mean(run["determined"].values[good] == 0, axis=0) > 0.5
    rank, freedoms = (run[name].values[good].astype(int) for name in ("rank", "degrees_of_freedom"))
    return Constrained(
        rows=len(names),
        rank=(int(rank.min()), int(rank.max())),
        degrees_of_freedom=(int(freedoms.min()), int(freedoms.max())),
        idle=tuple(idle),
        redundant=tuple(name for name, yes in zip(names, shared, strict=True) if yes and name not in idle),
        passages=tuple(passages(time[good], weakest[good])),
        weakest=float(weakest[good].min()),
        moved=json.loads(run.attrs.get("start_moved") or "{}"),
        singular_positions=len(json.loads(run.attrs.get("singular_positions") or "[]")),
        ended=run.attrs.get("status", "finished") != "failed",
    )


def passages(time: np.ndarray, weakest: np.ndarray) -> list[Passage]:
    """Where the smallest singular value dips: the lowest sample of every stretch that counts as singular."""
    low = np.concatenate([[False], (weakest < NEAR * np.median(weakest)) | (weakest < SMALL), [False]])
    edges = np.flatnonzero(np.diff(low.astype(int)))
    found = [start + int(np.argmin(weakest[start:stop])) for start, stop in edges.reshape(-1, 2)]
    return [Passage(float(time[k]), float(weakest[k])) for k in found]
