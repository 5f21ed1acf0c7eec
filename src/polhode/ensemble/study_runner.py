"""A study made ready: the numbers of every run, and the runs themselves, some at a time.

Any runs can be asked for, in any order, by anyone: run i has the same numbers and the same bits.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from polhode.check.given_start import start_of
from polhode.check.joint_limits import beyond_limits, has_limits, moved_within, too_far, with_limits
from polhode.ensemble.check_names import check_study_names
from polhode.ensemble.companions import (
    ACCOMPANIED,
    CONDITIONS,
    DAMPED,
    NO,
    YES,
    DampingWatch,
    SampleWatch,
    accompanied,
    errors,
    lowered,
)
from polhode.ensemble.measures import VERDICTS, energy_drift, named, thresholds, verdicts
from polhode.ensemble.parameter_values import ParameterValues
from polhode.ensemble.parameters import START, StudyParameters, impossible
from polhode.ensemble.study import STUDY_SAMPLES, Study, is_text, value_text
from polhode.ensemble.study_options import check_batch
from polhode.ensemble.user_functions import UserFunctions
from polhode.errors import InputError, PolhodeError, message
from polhode.result.checks import SHRUNK
from polhode.result.labels import coordinate_units, dof_units
from polhode.result.symmetry import conserved
from polhode.scalar import Vec
from polhode.simulation import step_state
from polhode.simulation.batch.batch_records import (
    FAILED,
    KINETIC,
    POTENTIAL,
    BatchSamples,
    BatchSpec,
    SampleTimes,
    controlled_steps,
    equal_steps,
)
from polhode.simulation.batch.batch_run import BatchRun
from polhode.simulation.batch.single_runs import SingleRuns, why_single
from polhode.simulation.companion import companion_of
from polhode.simulation.run_loop import spec_of
from polhode.simulation.scenario import Scenario
from polhode.simulation.step_times.segments import unsplit_note

STATUS = {
    "pending": 0, "finished": 1, "stopped": 2, "not finite": 3, "step too small": 4, "refused": 5, "quarantined": 6,
    "failed": 7,
}  # fmt: skip
"""How a run ended. Refused: no real machine has its numbers. Quarantined: running it raised an error. Failed: of a run
that was followed by itself, a fault of another kind."""

LANES = 8
"""Companions are computed in multiples of this, the last one again: runs beyond whole lanes go one by one, each of them
in the time of all lanes together."""

_ENDED = {step_state.GOING: 1, step_state.EVENT: 2, step_state.NOT_FINITE: 3, step_state.TOO_SMALL: 4, FAILED: 7}


class StudyArray(NamedTuple):
    """An array over runs: the axes after `run` and their lengths, its NumPy type, its attributes in a Dataset."""

    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    kind: str
    attrs: dict[str, Any]


def _array(axes: tuple[str, ...] = (), sizes: tuple[int, ...] = (), unit: str = "", note: str = "") -> StudyArray:
    """An array of doubles."""
    return StudyArray(axes, sizes, "f8", {key: x for key, x in (("units", unit), ("long_name", note)) if x})


def _codes(note: str, codes: Mapping[str, int]) -> StudyArray:
    """An array of small numbers that stand for words."""
    meanings = " ".join(key.replace(" ", "_") for key in codes)
    attrs = {"long_name": note, "flag_values": list(codes.values()), "flag_meanings": meanings}
    return StudyArray((), (), "i1", attrs)


class RunBlock(NamedTuple):
    """Runs first … last − 1: their arrays by name, and the reasons of those that were not run or failed, by run."""

    first: int
    last: int
    arrays: dict[str, np.ndarray]
    reasons: dict[int, str]


class StudyRunner:
    """A study, checked and ready to run."""

    def __init__(self, study: Study) -> None:
        """Check everything that can be wrong before anything is computed."""
        if study.run_options.limits and has_limits(study.model):
            study = replace(study, model=with_limits(study.model))
        self.study, self.model = study, study.model
        check_study_names(study)
        self.parameters = StudyParameters(study.model)
        options = replace(study.run_options, max_steps=math.inf)  # a sweep counts those of all runs
        self.scenario = Scenario.of(study.model, study.q, study.v, None, options)
        check_batch({"method": self.scenario.method})  # it may be that of the model's start
        self.start = start_of(study.model, study.q, study.v)
        drawn = ParameterValues(study, self.parameters)
        self.drawn, self.values = drawn.columns, drawn.values
        """The numbers that differ from run to run: which they are, and a function that gives them."""
        self.columns = tuple(column.name for column in self.drawn)
        self.functions = UserFunctions(study, self.parameters, self.drawn)
        self.functions.check_names()
        self.timing = self._timing()
        self.batch = BatchRun(self._batch_spec(self.scenario))
        self.single = why_single(self.model)
        """Why runs are followed one by one, and not side by side; "": they are not."""
        self.lanes: BatchRun | SingleRuns = SingleRuns(self.batch, self.scenario) if self.single else self.batch
        """Who computes runs on this processor."""
        self._kept = {part: self._kept_of(part) for part in START}
        self._check_measures()
        self.values(0, 1)
        self._try_outputs()

    # what is run

    def _timing(self) -> SampleTimes:
        duration, options = self.scenario.duration, self.scenario.options
        if options.step is None:
            times = options.times if options.times is not None else np.linspace(0, duration, STUDY_SAMPLES)
            return controlled_steps(times.tolist(), options.tolerance)
        steps = round(duration / options.step)
        every = min(options.every or max(1, -(-steps // (STUDY_SAMPLES - 1))), max(steps, 1))
        return equal_steps(duration, options.step, every if options.times is None else options.times)

    @property
    def unsplit(self) -> str:
        """That breaks of inputs and forces are too many to end equal steps at them; "": they are not."""
        count = self.batch.unsplit(self.timing)
        return unsplit_note(count, self.timing.h) if count else ""

    @cached_property
    def _companion(self) -> tuple[BatchRun, SampleTimes]:
        """Who computes companions, and their times and steps: by the rule of a run by itself."""
        other = companion_of(self.scenario)[0]
        batch = self.batch if other.method == self.scenario.method else BatchRun(self._batch_spec(other))
        tolerance = 0.0 if self.timing.h else other.options.tolerance
        return batch, replace(self.timing, tolerance=tolerance, is_companion=True)

    def _batch_spec(self, scenario: Scenario) -> BatchSpec:
        study, run = self.study, replace(spec_of(scenario), work=())  # lanes keep no account of energy
        numbers = tuple(column.name for column in self.drawn if column.of == "model")
        free = tuple(column.name for column in self.drawn if column.of == "functions" or column.is_input)
        watched: dict[str, Any] = {
            name: self.functions.function(f"stop '{name}'", x.when) for name, x in study.stop.items()
        }
        stops = tuple(step_state.Crossing(watched[name], stop.direction, name) for name, stop in study.stop.items())
        given = {"tau": self.functions.forces(), "switching": None}  # switches of the state end no step of a batch
        run = replace(run, **given, crossings=(*stops, *run.crossings))
        outputs: dict[str, Any] = {}
        for name, rule in study.outputs.items():
            outputs[name] = self.functions.function(f"output '{name}'", rule)
        if self._conserves:
            outputs |= {"kinetic_energy": KINETIC, "potential_energy": POTENTIAL}
        rules = (study.tau, *study.outputs.values(), *study.stop.values(), *study.run_options.events)
        # a kernel is kept on disk only where texts say all: what a function reads may change under it
        identity = repr((self.columns, [value_text(x) for x in rules])) if all(map(is_text, rules)) else ""
        return BatchSpec(run, numbers, free, outputs, identity)

    @property
    def _stops(self) -> list[str]:
        """What may end a run before its time, by name: the study's stops, then the events of its run options."""
        return [crossing.name for crossing in self.batch.spec.run.crossings]

    @cached_property
    def _conserves(self) -> bool:
        """Whether every run conserves energy: no input acts, and no number that is drawn can make the model lose it."""
        is_driven = self.study.tau is not None or any(column.is_input for column in self.drawn)
        driven = [joint.name for joint in self.model.joints] if is_driven else []
        varied = [column.name for column in self.drawn if column.of == "model"]
        return conserved(self.model, driven, varied).energy

    def _try_outputs(self) -> None:
        """Evaluate every output once, at the start, so that a mistake is reported before the runs."""
        q, v, p = (Vec(x[0].tolist()) for x in self.starts(0, 1))
        own = dict(zip(self.batch.names, p, strict=True))
        for name, rule in self.study.outputs.items():
            where = f"sweep, output '{name}'"
            try:
                found = float(self.functions.function(f"output '{name}'", rule)(0.0, q, v, own))
            except PolhodeError:
                raise
            except Exception as error:
                raise InputError(
                    message(where, "failed at the start", f"{type(error).__name__}: {error}", "a number")
                ) from error
            if not np.isfinite(found):
                raise InputError(message(where, "not finite at the start", str(found), "a number"))

    # what is kept

    def _kept_of(self, part: str) -> list[int]:
        """The places of q or of v that are kept."""
        names = self.parameters.starts[part]
        if part in self.study.keep:
            return list(range(len(names)))
        known = [f"{p}.{x}" for p, own in self.parameters.starts.items() for x in own]
        for name in self.study.keep:
            if name not in (*START, *known):
                expected = "q, v, " + ", ".join(known[:6])
                raise InputError(message("sweep, keep", "no such part of the state", repr(name), expected))
        return [k for k, name in enumerate(names) if f"{part}.{name}" in self.study.keep]

    def _check_measures(self) -> None:
        for name, measure in self.study.measures.items():
            known = [f"{p}.{x}" for p, own in self.parameters.starts.items() for x in own] + list(self.study.outputs)
            if measure.of not in known:
                raise InputError(
                    message(f"sweep, measure '{name}'", "of nothing known", repr(measure.of), ", ".join(known[:8]))
                )

    @cached_property
    def arrays(self) -> dict[str, StudyArray]:
        """Every array over runs, by name."""
        names, time = self.parameters.starts, len(self.timing.times)
        found = {"sample": _array(("parameter",), (len(self.columns),), note="the numbers of each run")}
        for part, axis in (("q", "coordinate"), ("v", "dof")):
            if self._kept[part]:
                found[part] = _array(("time", axis), (time, len(self._kept[part])))
            whole = len(self._kept[part]) == len(names[part])
            ends = (axis if whole else f"{axis}_end",)
            found[f"{part}_end"] = _array(ends, (len(names[part]),), note="where each run ended")
        for name in self.study.outputs:
            found[name] = _array(("time",), (time,))
        for name in self.study.measures:
            found[name] = _array()
        found["status"] = _codes("how each run ended", STATUS)
        found["verdict"] = _codes("how good each run is", VERDICTS)
        found["end_time"] = _array(unit="s", note="the time that each run reached")
        found["steps"] = _array(unit="1", note="steps taken")
        note = "estimated error of each run, in parts of 1 + the largest value so far; NaN: not accompanied"
        found["error_estimate"] = _array(unit="1", note=note)
        found["accompanied"] = _codes("whether each run was accompanied, and what that leaves open", ACCOMPANIED)
        if self._stops:
            note = "which of the stops ended the run; -1: none"
            found["event"] = StudyArray((), (), "i1", {"long_name": note, "stops": self._stops})
        if self._conserves:
            found["energy_drift"] = _array(unit="1", note="of the energy's scale")
        return found

    @property
    def attributes(self) -> dict[str, Any]:
        """What made the study, as attributes of its Dataset: its description and text, the model's."""
        study = self.study
        return {
            "title": study.name, "model_name": study.model.name, "runs": study.runs, "seed": study.seed,
            "study": json.dumps(study.description), "study_text": study.text, "model_text": study.model_text,
            "identity": study.identity, "measures": list(study.measures), "outputs": list(study.outputs),
            "units": json.dumps(self._units), **({"single_runs": self.single} if self.single else {}),
        }  # fmt: skip

    @property
    def _units(self) -> dict[str, Any]:
        """Units of the kept q and v, in their order, and of the measures that have one, by name."""
        whole = {"q": coordinate_units(self.model), "v": dof_units(self.model)}
        known = {f"{p}.{x}": unit for p in whole for x, unit in zip(self.parameters.starts[p], whole[p], strict=False)}
        found: dict[str, Any] = {p: [whole[p][k] for k in self._kept[p]] for p in whole}
        for name, measure in self.study.measures.items():
            found[name] = "s" if measure.kind == "settle" else known.get(measure.of, "")
        return found

    @cached_property
    def coordinates(self) -> dict[str, Any]:
        """The coordinates of the arrays' axes, but for `run`."""
        names = self.parameters.starts
        return {
            "time": self.timing.times, "parameter": list(self.columns),
            "coordinate": [names["q"][k] for k in self._kept["q"]], "dof": [names["v"][k] for k in self._kept["v"]],
            "coordinate_end": names["q"], "dof_end": names["v"],
        }  # fmt: skip

    # running

    def run(
        self, first: int, last: int, threads: int = 1, batch: Any = None, skip: Mapping[int, str] | None = None
    ) -> RunBlock:
        """The arrays of runs first … last − 1.

        batch  who computes them, as `BatchRun.run`: `lanes` unless given, or a GPU
        skip   runs that are not to be run, and why, by their number
        """
        values = self.values(first, last)
        refused = impossible(self.model, self.columns, values)
        skipped = {k - first: why for k, why in (skip or {}).items() if first <= k < last}
        numbers = values.copy()
        numbers[sorted({**refused, **skipped})] = self._harmless
        given = self._given(numbers)
        for k in np.flatnonzero(self.batch.violated(*given)).tolist():
            refused[k] = "the start violates the constraints"
        refused |= self._outside(given[0])
        bad, batch = sorted({**refused, **skipped}), batch or self.lanes
        if bad:
            numbers[bad] = self._harmless
            given = self._given(numbers)
        block = batch.run(*given, self.timing, threads)
        found = self._arrays(block, values)
        error, how, drift = np.full(len(values), np.nan), np.full(len(values), NO, "i1"), found.get("energy_drift")
        chosen = np.setdiff1d(accompanied(self.study.seed, self.study.accompanied, first, last), bad)
        if len(chosen):
            other, timing = self._companion
            whole = chosen if self.single else np.pad(chosen, (0, -len(chosen) % LANES), mode="edge")
            second = batch.beside(other).run(*(x[whole] for x in given), timing, threads)
            second = BatchSamples(*(x[: len(chosen)] for x in second))
            runs = BatchSamples(*(x[chosen] for x in block))
            error[chosen], how[chosen] = errors(self.model, runs, second), self._left_open(runs)
            if drift is not None:
                shrinks = self._energy_drift(second) <= SHRUNK * drift[chosen]
                drift = drift.copy()
                drift[chosen[shrinks]] = 0.0  # it comes from the steps, whose error is judged by itself
        options = self.scenario.options
        good = thresholds(block.v, block.accepted, None if options.fixed else options.tolerance, options.accuracy)
        found["error_estimate"], found["accompanied"] = error, how
        found["verdict"] = lowered(verdicts(found["status"] <= STATUS["stopped"], good, error, drift), how)
        found["status"][bad], found["verdict"][bad] = STATUS["refused"], VERDICTS["failed"]
        found["status"][sorted(skipped)] = STATUS["quarantined"]
        for name, array in self.arrays.items():
            if array.kind == "f8" and name != "sample" and bad:
                found[name] = found[name].copy()
                found[name][bad] = np.nan
        told = np.flatnonzero(block.reason != "").tolist() if self.single else []  # runs side by side give none
        ended = {k: block.reason[k] for k in told if k not in bad}
        return RunBlock(first, last, found, {first + k: why for k, why in {**ended, **refused, **skipped}.items()})

    def _left_open(self, runs: BatchSamples) -> np.ndarray:
        """What the estimated errors of accompanied runs leave open, as in ACCOMPANIED."""
        found = self._watch.found(self.timing.times, runs)
        has_conditions = not self.single and bool(self.batch.switching(self.timing.whole).jumps)
        found = np.where((found == YES) & has_conditions, CONDITIONS, found)
        return np.where((found == YES) & self._damping.found(self.timing.times, runs), DAMPED, found)

    @cached_property
    def _damping(self) -> DampingWatch:
        return DampingWatch(self.batch, self.timing.h)

    @cached_property
    def _watch(self) -> SampleWatch:
        return SampleWatch(self.batch)

    @cached_property
    def _harmless(self) -> np.ndarray:
        """Numbers that any run can be made with, in place of bad ones: the model's own."""
        start = {"q": self.scenario.q, "v": self.scenario.v}
        found = np.zeros(len(self.drawn))
        for k, column in enumerate(self.drawn):
            if column.of in start:
                found[k] = start[column.of][column.place]
            elif column.of == "model":
                found[k] = self.parameters.numbers[column.name]
        return found

    def starts(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v and the kernel's own numbers of runs first … last − 1; those no machine could have are the model's."""
        values = self.values(first, last).copy()
        values[list(impossible(self.model, self.columns, values))] = self._harmless
        return self._given(values)

    def _given(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q (n, nq) and v (n, nv) at the start, and the kernel's own numbers p (n, P)."""
        given, own = {"q": self.start[0], "v": self.start[1], "p": self.batch.defaults}, self._parts
        rows = {part: np.broadcast_to(x, (len(values), len(x))) for part, x in given.items()}
        q, v, p = (x.copy() if part in own else x for part, x in rows.items())
        start = {"q": q, "v": v}
        places = {name: k for k, name in enumerate(self.batch.names)}
        for k, column in enumerate(self.drawn):
            if column.of in start:
                start[column.of][:, column.place] = values[:, k]
            else:
                p[:, places[self.batch.place(column.name)]] = values[:, k]
        if self.scenario.options.move_start:
            q, v = self.batch.moved(moved_within(self.model, q) if self._has_limits else q, v, p)
        return q, v, p

    @cached_property
    def _parts(self) -> set[str]:
        """What differs from run to run: "q" and "v" of the start, "p", the kernel's own numbers."""
        return {column.of if column.of in START else "p" for column in self.drawn}

    @property
    def _has_limits(self) -> bool:
        return self.study.run_options.limits and has_limits(self.model)

    def _outside(self, q: np.ndarray) -> dict[int, str]:
        """The runs whose start q (n, nq) is outside the limits of a joint, and why they are refused."""
        if not self._has_limits:
            return {}
        alike = "q" not in self._parts and not self.scenario.options.move_start
        far = too_far(self.model, beyond_limits(self.model, q[:1] if alike else q))
        far = np.broadcast_to(far, q.shape) if far.any() or not alike else far
        names = self.parameters.starts["q"]
        which = {k: names[int(np.argmax(far[k]))] for k in np.flatnonzero(np.any(far, axis=1)).tolist()}
        return {k: f"the start of '{name}' is outside the limits of its joint" for k, name in which.items()}

    def _energy_drift(self, block: BatchSamples) -> np.ndarray:
        """The drift of the energy of each run, of its scale."""
        places = [self.batch.outputs.index(name) for name in ("kinetic_energy", "potential_energy")]
        return energy_drift(*(block.outputs[:, :, k] for k in places))

    def _arrays(self, block: BatchSamples, values: np.ndarray) -> dict[str, np.ndarray]:
        study, names = self.study, self.parameters.starts
        found: dict[str, np.ndarray] = {"sample": values, "q_end": block.q_end, "v_end": block.v_end}
        for part, states in (("q", block.q), ("v", block.v)):
            if self._kept[part]:
                whole = len(self._kept[part]) == states.shape[2]
                found[part] = states if whole else states[:, :, self._kept[part]]
        series = {name: block.outputs[:, :, k] for k, name in enumerate(self.batch.outputs)}
        found |= {name: series[name] for name in study.outputs}
        for part, states in (("q", block.q), ("v", block.v)):
            series |= {f"{part}.{name}": states[:, :, k] for k, name in enumerate(names[part])}
        found |= named(study.measures, series, self.timing.times)
        ends = {f"{part}.{name}": found[f"{part}_end"][:, k] for part in START for k, name in enumerate(names[part])}
        for name, measure in study.measures.items():  # a run that was stopped ends between two samples
            if measure.kind == "final" and measure.of in ends:
                found[name] = np.where(block.status == step_state.EVENT, ends[measure.of], found[name])
        status = np.zeros(len(values), dtype=np.int8)
        for code, ended in _ENDED.items():
            status[block.status == code] = ended
        found["status"], found["end_time"], found["steps"] = status, block.end, block.accepted
        if self._stops:
            found["event"] = block.event.astype(np.int8)
        if self._conserves:
            found["energy_drift"] = self._energy_drift(block)
        return found


def runner_of(study: Study) -> StudyRunner:
    """A study made ready to run."""
    return (study.runner or StudyRunner)(study)


def failing_runs(
    attempt: Callable[[int, int], BaseException | None], first: int, last: int, fault: BaseException
) -> dict[int, str]:
    """The runs of first … last − 1 that fail by themselves, and why, found by halving.

    attempt  tries some runs: what they raised, or None
    fault    what all of them together raised
    """
    if last - first == 1:
        return {first: f"{type(fault).__name__}: {fault}".splitlines()[0][:200]}
    found: dict[int, str] = {}
    middle = (first + last) // 2
    for a, b in ((first, middle), (middle, last)):  # one after the other: who dies takes along what waits beside it
        inner = attempt(a, b)
        if inner is not None:
            found |= failing_runs(attempt, a, b, inner)
    return found
