"""The names of a study: those of its outputs and measures become arrays, folders of a store and parts of a summary.

A name that would stand for two things, or that no file system holds, is refused before anything is computed.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from polhode.ensemble.measures import Measure
from polhode.ensemble.study import Study
from polhode.errors import InputError, check_name, escaped, message

ARRAYS = ("sample", "q", "v", "q_end", "v_end", "status", "verdict", "end_time", "steps", "event", "energy_drift",
          "error_estimate", "accompanied")  # fmt: skip
AXES = ("run", "time", "parameter", "coordinate", "dof", "coordinate_end", "dof_end", "quantile", "so_far")
ENERGIES = ("kinetic_energy", "potential_energy")
"""Names that a study has itself."""

OVER_TIME = ("mean", "deviation", "low", "high", "quantile")
OF_RUNS = (*OVER_TIME, "error", "count", "so_far", "so_far_error")
"""What a summary adds to the names of arrays over time, and of numbers of each run."""

ZARR = ("zarr.json", "c", ".zarray", ".zattrs", ".zgroup", ".zmetadata")
"""Files and folders of Zarr itself."""

DEVICES = {"con", "prn", "aux", "nul", *(f"{x}{k}" for x in ("com", "lpt") for k in range(1, 10))}
FORBIDDEN = '/\\:*?"<>|'
"""Names that no file may have on some systems, and characters that none may have there."""

LONGEST = 200
"""Bytes that a file name may have, in UTF-8: a few less than the 255 that systems allow."""


def check_study_names(study: Study) -> None:
    """Refuse names of a study that cannot stand beside each other in a store; and what is not named at all."""
    check_name("sweep, study", "study", study.name, InputError)
    for kind in ("derived", "outputs", "stop", "measures"):
        given: Any = getattr(study, kind)
        if not isinstance(given, Mapping):
            raise InputError(message(f"sweep, {kind}", "not by name", repr(given)[:60], "{name: …}"))
        for name in given:
            check_name("sweep", {"outputs": "output", "measures": "measure"}.get(kind, kind), name, InputError)
    for name, measure in study.measures.items():
        if not isinstance(measure, Measure):
            found = repr(measure)[:60]
            raise InputError(message(f"sweep, measure '{name}'", "not a measure", found, "ph.Measure('max', 'height')"))
    for event in study.run_options.events:
        if event.name in study.stop:
            raise InputError(message(f"sweep, event '{event.name}'", "a name that is taken", "a stop", "another name"))
    _check_files(study)
    _check_apart(study)


def _check_files(study: Study) -> None:
    """Refuse names of outputs and measures that cannot be folders of a store."""
    for kind, name in _own(study):
        where, shown = f"sweep, {kind} '{escaped(name)}'", f"'{escaped(name)}'"
        bad = next((c for c in name if c in FORBIDDEN), "")
        what = ""
        if bad:
            what = f"'{bad}' cannot be in the name of a file"
        elif name.startswith((".", "__")) or name.endswith((".", " ")) or name.startswith(" "):
            what = "begins or ends as no array can"
        elif len(name.encode()) > LONGEST:
            what = f"too long for the name of a file: {len(name.encode())} bytes"
        elif _folded(name) in ZARR or _folded(name).partition(".")[0] in DEVICES:
            what = "a name that Zarr or a system keeps for itself"
        if what:
            expected = f"letters, digits, '_', '-', at most {LONGEST} bytes"
            raise InputError(message(where, what, shown, expected, "Give it another name."))


def _check_apart(study: Study) -> None:
    """Refuse names that two things share, in a store or in a summary; case does not count, as on some file systems."""
    taken = {_folded(name): "the study's own" for name in (*ARRAYS, *AXES, *ENERGIES)}
    parts = {_folded(f"{name}_{part}"): f"part of the summary of '{name}'" for name in ("q", "v") for part in OVER_TIME}
    parts |= {_folded(f"{name}_{part}"): f"part of the summary of '{name}'" for name in ("end_time", "energy_drift") for part in OF_RUNS}  # noqa: E501  # fmt: skip
    states = ("q.", "v.")
    for kind, name in _own(study):
        where, key = f"sweep, {kind} '{name}'", _folded(name)
        fix = "Give it another name."
        if name.startswith(states):
            raise InputError(message(where, "the name of a part of the state", repr(name), "a name of its own", fix))
        if key in taken:
            raise InputError(message(where, "a name that is taken", repr(name), f"another: it is {taken[key]}", fix))
        taken[key] = (
            f"that of another {'output' if kind == 'measure' else 'output or measure'}, or differs in case alone"
        )
        for part in OF_RUNS if kind == "measure" else OVER_TIME:
            whole = _folded(f"{name}_{part}")
            if whole in parts:
                found = f"'{name}_{part}' of the summary"
                raise InputError(message(where, "a name that is taken", found, f"another: it is {parts[whole]}", fix))
            parts[whole] = f"part of the summary of '{name}'"


def _own(study: Study) -> Iterator[tuple[str, str]]:
    yield from (("output", name) for name in study.outputs)
    yield from (("measure", name) for name in study.measures)


def _folded(name: str) -> str:
    """A name as a file system compares it that ignores case and normalises Unicode."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
