"""One run: its stepper, the samples so far, and the graded Dataset of them."""

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.check.constraint_monitor import JOINTS, ConstraintMonitor
from polhode.check.contacts import ContactMonitor, Pull, pull_notes
from polhode.check.joint_damping import fastest_damped
from polhode.check.modal_limits import ModalLimits, watches_modes
from polhode.check.singular_positions import position_checks, read
from polhode.errors import InputError, message, warn_caller
from polhode.formats.yaml_text import kept_text
from polhode.integrate.sundials import SUNDIALS
from polhode.kernel.ahead import made_ahead
from polhode.model import Model
from polhode.model.per_model_cache import once_each
from polhode.result.checks import Residual, Steps, good_up_to, grade, needs_energies
from polhode.result.dataset import VARIABLES, DatasetFrame, Extra, Facts, Trajectory, completed, dataset
from polhode.result.deferred import DeferredGroup
from polhode.result.error_estimate import ErrorEstimate
from polhode.result.symmetry import Conserved, conserved
from polhode.result.verdict import IGNORED, UNCHECKED, Check, Grade, notes
from polhode.simulation import sundials_run
from polhode.simulation.by_form import form_run
from polhode.simulation.companion import (
    FACTOR,
    WORK,
    Companion,
    CompanionBeside,
    coarse_companion_of,
    counted_work,
    is_hopeless,
    operations,
)
from polhode.simulation.condition import DIRECTIONS, Neighbours
from polhode.simulation.derivatives import replayed_steps, sensitivity
from polhode.simulation.observer import Observer, observer_of, with_sections
from polhode.simulation.option_table import DAMPED_METHOD, STIFF_METHOD
from polhode.simulation.run_loop import RunLoop
from polhode.simulation.run_options import usual_method
from polhode.simulation.run_records import Samples, joined
from polhode.simulation.scenario import Scenario
from polhode.simulation.stepper import Stepper
from polhode.simulation.within_steps.watched_path import States
from polhode.system.identity import identity_text

if TYPE_CHECKING:
    import xarray as xr

USUAL = tuple(name for name in VARIABLES if name not in JOINTS)
"""The variables of a Dataset, unless others are asked for."""

WORTH_A_THREAD = 5e-3
"""Seconds that a run yet takes from which on its companion is begun beside it: a thread costs a tenth of a
millisecond. How long that is, is believed after as many seconds, or where a run before told it."""

LARGE = 10_000
"""Operations of an acceleration from which on the pace of the first block is believed: steps of such runs take longer
than all else, and the second block often goes to the end."""

Progress = Callable[[float, float], None]
"""Called with the part of the run that is done, and the time reached."""


def stepper_of(scenario: Scenario, warn: bool = True, like: Stepper | None = None) -> Stepper:
    """The stepper of a scenario: a published form, SUNDIALS, or the run loop.

    like  the stepper of a run of which this is the companion
    """
    if scenario.options.form:
        return form_run.FormRun(scenario)
    if scenario.method in SUNDIALS:
        return sundials_run.SundialsRun(scenario)
    return RunLoop(scenario, warn, like if isinstance(like, RunLoop) else None)


class Run:
    """One run: a scenario, its stepper, and the samples so far."""

    def __init__(self, scenario: Scenario, warn: bool = True) -> None:
        self.scenario, self.model, self.options = scenario, scenario.model, scenario.options
        self.stepper = stepper_of(scenario, warn)
        self.driven = self.stepper.driven
        keep = self.options.keep
        self.wanted = USUAL if keep is None else tuple(keep)
        """The variables that the Dataset is to hold."""
        self.kept: list[Samples] = []
        self._companion: CompanionBeside | None = None
        if isinstance(self.stepper, RunLoop) and self.stepper.watched and self._has_contacts:
            self.stepper.watched.seen = self._see_contacts

    def replayed(self, where: str) -> "replayed_steps.ReplayedRun":
        """The run whose steps derivatives replay, or an error."""
        if not isinstance(self.stepper, RunLoop):
            found, fix = f"method '{self.scenario.method}'", "Take a method of ph.methods, without form=."
            raise InputError(message(where, "no derivatives of such a run", found, "steps of our own", fix))
        return replayed_steps.replayed(self.stepper.compiled, self.scenario, where)

    def blocks(self, progress: Progress | None = None) -> Iterator[Samples]:
        """Run, block by block; Ctrl-C ends the run with the samples so far."""
        at = self.stepper.position
        try:
            for block in self.stepper:
                self.kept.append(block)
                if progress:
                    progress(at.t / self.scenario.duration, at.t)
                yield block
        except KeyboardInterrupt:
            self.kept.extend(self.stepper.reached())
            self.stepper.ending.interrupt(at.t)

    def follow(self, progress: Progress | None = None) -> None:
        """Run to the end; what takes long is accompanied meanwhile, by another thread, until `end`."""
        kernels, blocks, begin = self._kernels(), self.blocks(progress), time.perf_counter()
        with made_ahead(*kernels) if kernels else nullcontext():
            for _ in blocks:
                if self.accompany(begin):
                    break
        for _ in blocks:
            pass

    def accompany(self, begin: float) -> bool:
        """Begin the companion beside the run where the rest takes long enough; whether it was begun now.

        begin  when the run began, of `time.perf_counter`
        """
        run = self.stepper
        if self._companion or self.options.verify is False or not isinstance(run, RunLoop):
            return False
        if run.seconds_left < WORTH_A_THREAD:
            return False
        gone = time.perf_counter() - begin
        is_known = run.is_paced or gone > WORTH_A_THREAD or operations(self.model) > LARGE
        if not is_known or not CompanionBeside.serves(self.scenario, run):
            return False
        self._companion = CompanionBeside(self.scenario, self._beside)
        return True

    def end(self) -> None:
        """Follow nothing further that was begun beside the run."""
        if self._companion:
            self._companion.end()

    def _kernels(self) -> list[Callable[[], Any]]:
        """What asks for the kernels that a run to its end takes for certain and nobody made yet, one each; none of user
        functions."""
        repeated = self.scenario.repeated
        if (repeated and repeated.has_kernels) or not isinstance(self.stepper, RunLoop):
            return []
        if not self.stepper.compiled.key:
            return []
        observer = self._observer
        observed = [lambda: observer.kernel] if self.model.nv and not observer.is_made else []
        missing = [*self.stepper.compiled.kernels(), *observed]
        if repeated and not missing and repeated.compiled is self.stepper.compiled:
            repeated.has_kernels = True
        return missing

    def arrays(self) -> dict[str, np.ndarray]:
        """All samples so far, by name."""
        return joined(self.kept or [self.stepper.start()])

    def result(self, model_text: str = "", tangents: "sensitivity.Sensitivities | None" = None) -> "xr.Dataset":
        """The Dataset of the samples so far, graded; errors, of sensitivities too, are estimated by a companion run."""
        arrays, kept, later = self.arrays(), self.conserved(), list[DeferredGroup]()
        residuals = self.residuals([arrays])
        if identity_text(self.model):
            observed, later = self._judged_and_later(arrays, kept)
        else:  # user functions may change
            observed = self.observed(arrays)
        whole = completed(self.model, {**arrays, **observed})
        observed = whole.copy()
        for name in ("time", "q", "v"):
            del observed[name]
        samples: list[Samples] = []
        errors: dict[str, ErrorEstimate] = {}

        def estimate(companion: Companion) -> ErrorEstimate:
            samples.clear()
            parts = list(companion.estimates([arrays], samples))
            return companion.estimate(arrays["time"], np.concatenate(parts or [np.zeros(0)]))

        companion, error = self.estimated([arrays], len(arrays["time"]), estimate)
        if companion and error:
            observed["error_estimate"] = padded(error.values, len(arrays["time"]))
            if tangents:
                errors["sensitivities"] = self._error_of(tangents, companion, arrays)
        again = lambda: [self.whole(joined(samples), ())]  # noqa: E731
        found = self.graded([whole], error, residuals, again, self.not_accompanied, errors, lambda: [arrays], kept)
        return self.dataset_of(arrays, found, model_text, observed, later)

    def _error_of(
        self, tangents: "sensitivity.Sensitivities", companion: Companion, arrays: Mapping[str, np.ndarray]
    ) -> ErrorEstimate:
        """The estimated error of the sensitivities, where every sample of the run is accompanied."""
        time, loop = arrays["time"], companion.stepper
        if companion.count < len(time) or not isinstance(loop, RunLoop):
            return ErrorEstimate(time[:0], time[:0], False, companion.how, companion.why)
        replay = replayed_steps.replayed(loop.compiled, companion.scenario, "simulate")
        other = sensitivity.Sensitivities(replay, self.options.sensitivities)
        return ErrorEstimate(time, FACTOR * tangents.error(other, time, arrays["q"]), True, companion.how)

    @property
    def not_accompanied(self) -> str:
        """Why the error of the run is not estimated at all; "" where it is."""
        if self.stepper.ending.status == "interrupted":
            return "the run was interrupted"
        return "verify=False" if self.options.verify is False else ""

    def estimated(
        self, parts: Iterable[Mapping[str, np.ndarray]], samples: int, estimate: Callable[[Companion], ErrorEstimate]
    ) -> tuple[Companion | None, ErrorEstimate | None]:
        """The companion of the run, and the error of the run by it; None where that is not estimated.

        parts     the samples of the run, in parts
        samples   how many there are
        estimate  the error by a companion: asked for once more where a coarse one does not find the run good
        """
        if self.not_accompanied:
            return None, None
        given = self.scenario, self.stepper, self._beside, samples, self.options.verify is True
        finished = self.stepper.ending.status == "finished"
        if finished and (coarse := coarse_companion_of(self.scenario)):
            threshold = good_up_to(None, 1, 1.0, self.options.accuracy)
            fastest = max(float(np.max(abs(part["v"]), initial=0.0)) for part in parts)
            if not is_hopeless(coarse, fastest, threshold):
                companion = Companion(*given, coarse)
                error = estimate(companion)
                if len(error.values) == companion.count and error.worst <= threshold:
                    return companion, error
        companion = Companion(*given, None, self._companion)
        return companion, estimate(companion)

    def _beside(self, scenario: Scenario) -> Stepper:
        """The stepper of another run than this, of the same machine."""
        return stepper_of(scenario, warn=False, like=self.stepper)

    def residuals(self, parts: Iterable[Mapping[str, np.ndarray]]) -> dict[str, Residual]:
        """The violations of constraints at samples, of several parts of them the largest of each, for the grade."""
        if not self.driven.constrained:
            return {}
        missed = []
        for part in parts:
            time, q, v = part["time"], part["q"], part["v"]
            missed.append(self._monitor.violations(time, q, v).relative)
            if self._has_contacts:
                tau = self._inputs(part)
                self._contacts.see(time, q, v, np.zeros_like(v) if tau is None else tau)
        worst = missed[0] if len(missed) == 1 else np.array([np.max(abs(each), initial=0.0) for each in missed])
        return {
            "constraints": Residual(
                worst, note="violations in lengths of the machine or radians, their rates per second"
            )
        }

    def _see_contacts(self, looks: States) -> None:
        """Look at contacts between samples."""
        level = self.stepper.position.level
        tau = np.zeros_like(looks.v) if level is None else np.tile(level, (len(looks.t), 1))
        given = self.driven.forces(*looks)
        self._contacts.see(*looks, tau if given is None else given)

    def dataset_of(
        self,
        arrays: Mapping[str, np.ndarray],
        graded: Grade | None,
        model_text: str,
        observed: dict[str, np.ndarray] | None = None,
        later: Sequence[DeferredGroup] = (),
    ) -> "xr.Dataset":
        """The Dataset of some samples of the run.  later: groups of variables that are computed when they are read"""
        events = self.stepper.ending.events if self.stepper.watches_events else None
        extra = self.stepper.extras(arrays["q"], arrays["v"])
        found = self.observed(arrays) if observed is None else observed
        names = *found, *chain.from_iterable(group.kinds for group in later)
        frame = self.scenario.once(
            ("frame", *names, *extra), lambda: DatasetFrame(self.model, *self._labels(names, extra))
        )
        samples = arrays["time"], arrays["q"], arrays["v"]
        trajectory = Trajectory(*samples, found, extra, events=events, frame=frame, later=later)
        return dataset(self.model, trajectory, self.facts(graded, model_text))

    def _labels(
        self, found: Sequence[str], extra: Mapping[str, Extra]
    ) -> tuple[dict[str, Sequence[str]], dict[str, tuple[str, Sequence[str], str]]]:
        """The names along dimensions of variables that are not those of every model, and coordinates beside them."""
        named: dict[str, Sequence[str]] = {**self._monitor.labels} if self.driven.constrained else {}
        if not {*JOINTS}.isdisjoint(found) or any("joint" in x.dims for x in extra.values()):
            named["joint"] = tuple([joint.name for joint in self.model.joints])
        if "section_force" in found:
            named |= _section_labels(self.model)
        if "work_by_source" in found:
            named["work_source"] = tuple(self.scenario.work_sources)
        if "multiplier" not in found:
            return named, {}
        return named, {"multiplier_units": ("constraint", self._monitor.multiplier_units, "unit of this multiplier")}

    def whole(self, arrays: Mapping[str, np.ndarray], wanted: Sequence[str] | None = None) -> dict[str, np.ndarray]:
        """Samples with everything that is observed of them; wanted: of constraints, those variables alone."""
        return completed(self.model, {**arrays, **self.observed(arrays, wanted)})

    def graded(
        self,
        parts: Iterable[Mapping[str, np.ndarray]],
        error: ErrorEstimate | None = None,
        residuals: Mapping[str, Residual] | None = None,
        companion: Callable[[], Any] | None = None,
        unchecked: str = "",
        errors: Mapping[str, ErrorEstimate] | None = None,
        samples: Callable[[], Iterable[Mapping[str, np.ndarray]]] | None = None,
        kept: Conserved | None = None,
    ) -> Grade:
        """The grade of the run, from its samples in parts.

        samples  gives them once more, for the condition
        kept     what the motion should conserve, where it is known
        """
        ending = self.stepper.ending
        steps = Steps(ending.accepted, ending.rejected, ending.smallest, math.nan, ending.largest)
        if self._damps and self.scenario.work_sources:  # what its steps take out is in no account
            parts = ({name: x for name, x in part.items() if name != "work"} for part in parts)
        modal = ModalLimits(self.model)
        return grade(
            modal.seen(parts), self._tolerance, kept or self.conserved(), steps, self.model, residuals, error, None,
            ending.status, ending.reason, self.options.accuracy, companion, unchecked,
            [*self._constraint_checks(), *self._switch_checks()],
            errors, (lambda: self._growth(samples(), error)) if samples and error else None,
            lambda: self._remarks(modal.notes()),
        )  # fmt: skip

    def _remarks(self, limits: Sequence[str]) -> list[Check]:
        """Lines of the grade that judge nothing.  limits: notes on modal bodies, of which a user is warned too"""
        for note in limits:
            warn_caller(f"simulate: {note}.")
        begin, end = self.scenario.once("notes", lambda: self._notes)
        return [*begin, *notes({"modal bodies": limits}), *end] if limits else [*begin, *end]

    @property
    def _notes(self) -> tuple[list[Check], list[Check]]:
        """What a reader of the grade should know of the run beside what is measured: before notes on modal bodies, and
        after them."""
        slow = self.stepper.compiled.in_python if isinstance(self.stepper, RunLoop) else []
        elements = _element_notes(self.model, self.scenario.method, self.options.policy.engine, self.options.step)
        begin = notes({"corners and jumps": self.scenario.notes, "elements": elements})
        return begin, notes({"Python in the loop, slow": slow, IGNORED: self.ignored})

    def _growth(self, samples: Iterable[Mapping[str, np.ndarray]], error: ErrorEstimate) -> float:
        """How much small differences grow along the run, by as many runs beside it as a companion's work allows."""
        directions = int(min(DIRECTIONS, WORK / max(counted_work(self.scenario, self.scenario, self.stepper), 1.0)))
        ending = self.stepper.ending
        err, steps = ending.accepted * self.options.tolerance, ending.accepted + ending.rejected
        try:
            beside = Neighbours(self.scenario, self.driven.system, self._beside, err, steps, directions)
            return beside.growth(samples, error)
        except KeyboardInterrupt:  # of a run that has ended: its condition stays the one of its speed
            return 1.0

    @property
    def ignored(self) -> list[str]:
        """What the file of the model has that would change the motion: see `Model.ignored`."""
        end = "; none was given" if self.scenario.tau is None else ""
        return [f"{text}{end if text.startswith('actuators') else ''}" for text in self.model.ignored]

    def _constraint_checks(self) -> list[Check]:
        """Lines of the grade about singular positions, and about contacts that would have to pull."""
        if not self.driven.constrained:
            return []
        ending, found = self.stepper.ending, list[Check]()
        if ending.singular_count or ending.unseen:
            found += position_checks(read(ending.singular), ending.singular_count, ending.unseen)
        return [*found, *pull_notes(self._pulls)]

    def _switch_checks(self) -> list[Check]:
        """A line of the grade where sensitivities leave out that the time of a switch moves."""
        first = self.stepper.first_switch if isinstance(self.stepper, RunLoop) else None
        if not first or not self.options.sensitivities:
            return []
        note = f"not estimated from t = {first[0]:.6g} on, where {first[1]} switches: {replayed_steps.LEFT_OUT}"
        return [Check("error of sensitivities, later", None, None, None, "", UNCHECKED, note)]

    @property
    def _damps(self) -> bool:
        """Whether the method damps what its steps do not resolve."""
        return isinstance(self.stepper, RunLoop) and self.stepper.compiled.spec.method.damps

    @property
    def _tolerance(self) -> float | None:
        """The tolerance of controlled steps; None with equal steps."""
        return None if self.options.fixed else self.options.tolerance

    def conserved(self) -> Conserved:
        """The quantities that the motion should conserve."""
        still = self._touches_nothing
        return self.scenario.once(("conserved", still), lambda: self._conserved_if(still))

    def _conserved_if(self, touches_nothing: bool) -> Conserved:
        driven = [joint.name for joint in self.model.joints if joint.nv] if self.scenario.tau is not None else []
        resets = any(event.reset for event in self.options.events)
        model = _without_contacts(self.model) if touches_nothing else self.model
        found = conserved(model, driven) if driven or not identity_text(model) else _conserved(model)
        return Conserved(False, (), (), found.mass, found.length, "resets at events") if resets else found

    @property
    def _touches_nothing(self) -> bool:
        """Whether no stop and no backlash took part in the run."""
        if not isinstance(self.stepper, RunLoop) or self.stepper.ending.contacts:
            return False
        compiled = self.stepper.compiled
        if not (switching := compiled.spec.switching):
            return True
        found = compiled.surfaces(0.0, self.scenario.q, self.scenario.v)
        return all(g < 0 for g in found[len(switching.traced) :])

    @property
    def takes_numbers(self) -> bool:
        """Whether the compiled steps take the numbers of the model as inputs."""
        return isinstance(self.stepper, RunLoop) and self.stepper.compiled.inputs is not None

    def facts(self, graded: Grade | None, model_text: str) -> Facts:
        """Provenance of the run, and how it ended."""
        ending = self.stepper.ending
        return Facts(
            method=self.scenario.method,
            step=self.options.step,
            tolerance=self._tolerance,
            norm_policy=self.stepper.norm_policy,
            status=ending.status,
            reason=ending.reason,
            model_text=model_text,
            grade=graded,
            more={
                "steps_taken": ending.accepted,
                "steps_refused": ending.rejected,
                **self.scenario.once("facts", lambda: self._own_facts),
                **({"start_moved": json.dumps(self.scenario.moved)} if self.scenario.moved else {}),
                **({"ignored": json.dumps(self.ignored)} if self.model.ignored else {}),
                **self._constraint_facts,
            },
        )

    @property
    def _observer(self) -> Observer:
        return observer_of(self.model)

    @cached_property
    def _monitor(self) -> ConstraintMonitor:
        return ConstraintMonitor(self.driven.system)

    @cached_property
    def _contacts(self) -> ContactMonitor:
        return ContactMonitor(self.driven.system)

    @property
    def _has_contacts(self) -> bool:
        """Whether there are contacts that may have to pull."""
        return self.scenario.once("contacts", lambda: bool(self._contacts.rows))

    @property
    def _pulls(self) -> list[Pull]:
        return self._contacts.pulls if self._has_contacts else []

    @property
    def _own_facts(self) -> dict[str, str | None]:
        """The form, what numbers of the model are in compiled steps, its text."""
        numbers = "inputs" if self.takes_numbers else "folded"
        return {"form": self.options.form, "numbers": numbers, "model_yaml": kept_text(self.model)}

    @property
    def _constraint_facts(self) -> dict[str, str | float]:
        """Constraint policy, rows that are idle, violations of a start that was moved; nothing for a tree."""
        if not self.driven.constrained:
            return {}
        found = {**self.scenario.once("policy", lambda: self._policy_facts)}
        found["singular_positions"] = self.stepper.ending.singular
        if pulls := self._pulls:
            found["pulled_contacts"] = json.dumps([pull._asdict() for pull in pulls])
        return found

    @property
    def _policy_facts(self) -> dict[str, str | float]:
        policy = self.stepper.policy
        pull = policy.baumgarte
        return {
            "engine": policy.engine,
            "rank_tolerance": policy.rank_tolerance,
            "constraint_policy": f"baumgarte {pull[0]:g} {pull[1]:g}" if pull else policy.keeping,
            "idle_constraints": self._monitor.idle_text,
        }

    def observed(self, arrays: Mapping[str, np.ndarray], wanted: Sequence[str] | None = None) -> dict[str, np.ndarray]:
        """Poses, velocities, energies, momenta and inputs at samples."""
        found = self._observer(arrays["q"], arrays["v"]) | self._of_steps(arrays)
        wanted = self._wanted_of_constraints(wanted)
        return found | self._monitor(arrays, _forces(found, arrays), wanted) if wanted else found

    def _judged_and_later(
        self, arrays: Mapping[str, np.ndarray], kept: Conserved
    ) -> tuple[dict[str, np.ndarray], list[DeferredGroup]]:
        """The same: what the grade needs, and groups of what is computed when it is read.

        They are those of the samples as they are now: a Dataset may be written to before it is read.
        """
        found, later = self._of_steps(arrays), list[DeferredGroup]()
        wanted, observer = self._wanted_of_constraints(), self._observer
        is_judged = needs_energies(kept, found) or watches_modes(self.model)
        if is_judged:
            found |= observer(arrays["q"], arrays["v"])
        if is_judged and not wanted:
            return found, later
        samples = {name: arrays[name].copy() for name in ("time", "q", "v")}
        if not is_judged:
            later.append(DeferredGroup(partial(observer.whole, samples["q"], samples["v"]), observer.kinds))
        if wanted:
            more, groups = self._monitor.deferred(arrays, samples, _forces(found, arrays).copy(), wanted)
            found, later = found | more, later + groups
        return found, later

    def _of_steps(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Step sizes, work and inputs at samples."""
        found = {"step_size": arrays["step_size"]}
        if "work_by_source" in arrays:
            found["work_by_source"] = arrays["work_by_source"]
            found["work"] = np.sum(arrays["work_by_source"], axis=1)
        tau = self._inputs(arrays)
        return found if tau is None else found | {"tau": tau}

    def _wanted_of_constraints(self, wanted: Sequence[str] | None = None) -> Sequence[str]:
        """The names of variables that are asked for, of which the monitor of constraints gives some."""
        asked = self.wanted if wanted is None else wanted
        return asked if self.driven.constrained else [name for name in JOINTS if name in asked]

    def _inputs(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray | None:
        """Generalised forces of the inputs at samples; None where there are none."""
        tau = self.driven.forces(arrays["time"], arrays["q"], arrays["v"])
        return arrays.get("tau") if tau is None else tau


def _forces(found: Mapping[str, np.ndarray], arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The generalised forces of inputs at samples, those that were found; zeros where there are none."""
    return found["tau"] if "tau" in found else np.zeros(arrays["v"].shape)


@once_each
def _without_contacts(model: Model) -> Model:
    """The model without the elements that act only in contact."""
    others = tuple(force for force in model.forces if not force.gives_switching)
    return model if len(others) == len(model.forces) else replace(model, forces=others)


@once_each
def _section_labels(model: Model) -> dict[str, tuple[str, ...]]:
    """The names of the elements that have sections, and of what these bear."""
    beams = with_sections(model.forces)
    return {"beam_element": tuple([beam.name for beam in beams]), "section_load": tuple(beams[0].section_labels)}


@once_each
def _element_notes(model: Model, method: str, engine: str, step: float | None) -> list[str]:
    """What runs of a model by a method should say of its force elements, and of the damping of its joints."""
    usual = usual_method(model, engine, step)
    found = [note for force in model.forces for note in force.notes()]
    if method == STIFF_METHOD == usual:
        found.append(f"beams: '{STIFF_METHOD}' is the usual method; it damps what its steps do not resolve")
    if method == DAMPED_METHOD == usual:
        joint = fastest_damped(model)
        found.append(
            f"damping: '{DAMPED_METHOD}' is the usual method, since that of '{joint.name}' acts within "
            f"{1 / joint.rate:.2g} s"
        )
    return found


@once_each
def _conserved(model: Model) -> Conserved:
    """What a model without inputs conserves."""
    return conserved(model)


def padded(values: np.ndarray, n: int) -> np.ndarray:
    """Values (m,) of the first samples as those of all n: NaN for the others."""
    return values if len(values) == n else np.concatenate([values, np.full(n - len(values), np.nan)])
