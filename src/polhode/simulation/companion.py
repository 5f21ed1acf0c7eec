"""The companion of a run: a second run of other steps, which parts from the first where the first has erred.

Equal steps: the companion's are shorter by a factor between 2 and 4 and end, between two samples, at none of the
first. Where nothing but the state decides the motion, a coarse companion of twice the step comes before it: if the run
is good by that, no other is needed. Controlled steps: a hundredth of the tolerance; where rounding allows no smaller
tolerance, another method.
How much of a run is accompanied follows from counted work, never from a clock: a verdict is the same on every machine.
"""

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from polhode.integrate.methods import METHODS
from polhode.integrate.sundials import SUNDIALS
from polhode.kernel.beside import Beside
from polhode.kernel.work_threads import processors
from polhode.model import WORLD, Model, make_tree
from polhode.model.per_model_cache import once_each
from polhode.result.error_estimate import Difference, ErrorEstimate
from polhode.simulation.extinguished import UNRESOLVED, Extinguished, Oscillation, Sample
from polhode.simulation.inputs import Sampled
from polhode.simulation.run_loop import RunLoop
from polhode.simulation.run_records import Samples, joined
from polhode.simulation.scenario import Scenario
from polhode.simulation.step_times.companion_steps import FLOOR, LOOKS, companion_tolerance
from polhode.simulation.stepper import Stepper

WORK = 1e10
"""Operations of a companion, counted as in `operations`, up to which a run is accompanied whole: a few seconds."""

STAGES = {"explicit": 12, "Lie group": 12, "extrapolation": 28, "structure-preserving": 60, "implicit": 60}
"""Accelerations of a step by the family of its method, about; those of implicit steps are of their iterations."""

FILL = 10.0
"""How many times the operations of each constraint by itself an elimination with many zeros takes, at most, about."""

CALL = 1e6
"""Operations that a call of a sampled controller counts as."""

IN_PYTHON = 300
"""How much slower a step is whose functions run in Python, about."""

StepProgress = Callable[[float, float, int], None]
"""Called with the part of a run, or of its companion, that is done, the time reached and the steps taken."""

Arrays = Mapping[str, np.ndarray]
"""Samples by name: time, q, v."""

COMPARED = ("time", "q", "v")

FACTOR = 2.0
"""The estimated error over the distance of the two runs: a companion that errs by at most half as much as the run, as
one of half the step does from order one on, is at least half the run's error away from it."""

COARSE_ORDERS = range(2, 5)
"""Orders of methods whose runs have a coarse companion. Of twice the step it errs by 2^order times as much as the run
and is 3 … 15 times the run's error away from it: the distance bounds the error, and is not too far from it."""

HOPELESS = 100.0
"""How far above the threshold `turning_error` has to be for a coarse companion to be left out: over machines, methods
and steps it was from a tenth to a hundred times the distance of the coarse companion."""


def other_method(scenario: Scenario) -> str:
    """A method of other steps than a controlled run's own, for a tolerance that cannot be tightened."""
    name = scenario.method
    if name in SUNDIALS:
        return "cvode" if name != "cvode" else "cvode-bdf"
    turns = any(joint.kind.turns_freely for joint in scenario.model.joints)
    if name == "dop853":
        return "rkmk-dop853" if turns else "dopri54"
    return "dop853"


def coarse_companion_of(scenario: Scenario) -> Scenario | None:
    """The scenario of a companion with steps of twice the size or somewhat more, which costs half as much as the run.

    None where it could miss something, or would tell little: a run that is to be verified whole, with functions of
    users, with sensitivities, by a method of another order, that damps, or with samples at every step.
    """
    options, method = scenario.options, METHODS.get(scenario.method)
    if not options.fixed or options.verify or options.form or options.sensitivities:
        return None
    if not method or method.damps or method.order not in COARSE_ORDERS or not scenario.is_autonomous:
        return None
    found = scenario.beside(options, role="coarse companion")
    return found if found.segments else None


def turning_error(order: int, h: float, fastest: float, duration: float) -> float:
    """The error of a turn of so many rad/s, after so many seconds of steps h by a method of this order, about.

    A step leaves out (hω)^(order+1)/(order+1)!, the first term of the exponential that the method does not have.
    """
    return (h * fastest) ** order * fastest * duration / math.factorial(order + 1)


def is_hopeless(coarse: Scenario, fastest: float, threshold: float) -> bool:
    """Whether a coarse companion would not find a run good: then the finer one is taken at once, to save the time.

    fastest  the largest velocity of the run's samples
    """
    order, h = METHODS[coarse.method].order, max(segment.h for segment in coarse.segments)
    return not turning_error(order, h, fastest, coarse.duration) <= HOPELESS * threshold


def companion_of(scenario: Scenario) -> tuple[Scenario, str]:
    """The scenario of the companion run, and how it differs, in words."""
    options = scenario.options
    if options.fixed:
        found = scenario.beside(options)
        return found, _steps_in_words(found)
    if options.tolerance >= FLOOR:
        tolerance = companion_tolerance(
            options.tolerance, options.accuracy, constrained=bool(scenario.model.constraints)
        )
        other, how = options.changed(tolerance=tolerance), f"tolerance {tolerance:.3g}"
    else:
        method = other_method(scenario)
        other, how = options.changed(method=method), f"method {method}"
    return scenario.beside(other, LOOKS), how


def _steps_in_words(scenario: Scenario) -> str:
    return f"steps of {max(segment.h for segment in scenario.segments):.3g} s"


@once_each
def operations(model: Model) -> float:
    """Operations of one acceleration of a model, about: in proportion to the bodies of a tree, cubic in the velocities
    that constraints couple: all, or those of each, where loops are many and short."""
    tree, sizes = make_tree(model), list[int]()
    for constraint in model.constraints:
        ends = [] if constraint.kind.of_coordinates else constraint.kind.bodies(constraint.data)
        above = {j for body in ends if body != WORLD for j in tree.ancestors[tree.of_body[body]]}
        sizes.append(6 + (sum(len(tree.elements[j].v) for j in above) if ends else model.nv))
    dense = (model.nv + 6 * len(sizes)) ** 3 / 3 if sizes else 0.0
    coupled = min(dense, FILL * sum(size**3 / 3 for size in sizes))
    return 100.0 + 200.0 * len(model.bodies) + 2.0 * model.nv**2 + coupled


def counted_work(scenario: Scenario, other: Scenario, first: Stepper) -> float:
    """Operations of a companion run, from the steps that the run took."""
    options, ending = scenario.options, first.ending
    if options.fixed:
        steps = float(sum(segment.counts[-1] for segment in other.segments if len(segment.counts)))
    else:
        order = METHODS[scenario.method].order if scenario.method in METHODS else 5
        tightened = options.tolerance / other.options.tolerance
        steps = (ending.accepted + ending.rejected) * tightened ** (1 / order)
        steps = max(steps, scenario.duration / other.longest)
    return work_of_steps(steps, other, first)


def work_of_steps(steps: float, scenario: Scenario, first: Stepper) -> float:
    """Operations of so many steps of a scenario, about, of whose machine a run is known."""
    family = METHODS[scenario.method].family if scenario.method in METHODS else "implicit"
    slow = IN_PYTHON if isinstance(first, RunLoop) and first.compiled.in_python else 1
    calls = scenario.duration / scenario.tau.period if isinstance(scenario.tau, Sampled) else 0.0
    return steps * STAGES[family] * slow * operations(scenario.model) + calls * CALL


def keeps_state(first: Stepper) -> str:
    """Why a run cannot be repeated: its sampled controller, called again, gives other forces; "" if it can."""
    if not isinstance(first, RunLoop):
        return ""
    tau = first.compiled.spec.tau
    for t, q, v, level in first.controller_calls if isinstance(tau, Sampled) else ():
        try:
            again = np.array(tau.function(t, q.copy(), v.copy()), dtype=float)
        except Exception:
            again = np.full_like(level, np.nan)
        if not np.array_equal(again, level):
            return f"the controller gives other forces when it is asked again at t = {t:.6g}: it keeps a state"
    return ""


def paired(parts: Iterable[Arrays], blocks: Iterable[Samples], count: int) -> Iterator[tuple[Arrays, Arrays]]:
    """The first samples of a run, given in parts, with those of another that comes in blocks; count: at most so many.

    Ends with the shorter of the two.
    """
    source, waiting, done = iter(blocks), list[tuple[np.ndarray, ...]](), 0
    for part in parts:
        need, known = min(len(part["time"]), count - done), sum(len(one[0]) for one in waiting)
        while known < need and (block := next(source, None)):
            waiting.append((block.time, block.q, block.v))
            known += len(block.time)
        if not waiting or need <= 0:
            break
        found = waiting[0] if len(waiting) == 1 else tuple(map(np.concatenate, zip(*waiting, strict=True)))
        n = min(need, known)
        waiting, done = [tuple(x[n:] for x in found)] if known > n else [], done + n
        yield {name: part[name][:n] for name in COMPARED}, dict(zip(COMPARED, (x[:n] for x in found), strict=True))
        if n < need:
            break


class CompanionBeside:
    """The companion of a run, followed by a thread of its own while the run goes on; `end` has to be called at last.

    What it computes does not depend on that. Only for runs under control of their error, whose companions know nothing
    of how the run went, and of which all is compiled.
    """

    def __init__(self, scenario: Scenario, make: Callable[[Scenario], Stepper]) -> None:
        self.scenario, self.how = companion_of(scenario)
        self.stepper = make(self.scenario)
        self.blocks = Beside(self.stepper, lambda block: block.nbytes)

    @staticmethod
    def serves(scenario: Scenario, first: Stepper) -> bool:
        """Whether the companion of a run may be begun before the run has ended, and there is a processor for it."""
        options = scenario.options
        if options.verify is False or options.fixed or options.sensitivities or options.tolerance < FLOOR:
            return False
        is_ours = isinstance(first, RunLoop) and bool(first.compiled.key) and not first.compiled.element_events
        is_free = threading.current_thread() is threading.main_thread() and processors() > 1
        return is_ours and scenario.is_autonomous and is_free

    def end(self) -> None:
        """Follow it no further."""
        self.blocks.end()


class Companion:
    """The companion of a run that has ended: it gives the estimated error of the run's samples.

    make     the stepper of a scenario
    samples  how many the run has
    whole    whether every sample is accompanied, whatever it costs
    coarse   the scenario of a coarse companion, to be taken first; None: the one of finer steps
    begun    the companion of finer steps, where it was begun while the run went on
    """

    def __init__(
        self,
        scenario: Scenario,
        first: Stepper,
        make: Callable[[Scenario], Stepper],
        samples: int,
        whole: bool,
        coarse: Scenario | None = None,
        begun: "CompanionBeside | None" = None,
    ) -> None:
        self.first, self.make, self.samples, self.count = first, make, samples, samples
        if coarse:
            other, self.how = coarse, _steps_in_words(coarse)
        else:
            other, self.how = (begun.scenario, begun.how) if begun else companion_of(scenario)
        self.is_coarse = coarse is not None
        self.why = keeps_state(first)
        """Why not every sample is accompanied."""
        if self.why:
            self.count = 0
        elif not whole and (work := counted_work(scenario, other, first)) > WORK:
            self.count = int(samples * WORK / work)
            self.why = (
                f"a companion of the whole run counts {work:.2g} operations, above {WORK:g}; verify=True takes it"
            )
        self.scenario, self._of = other, scenario
        self._begun = begun if not coarse and self.count > 1 else None
        self.stepper = self._begun.stepper if self._begun else make(other) if self.count > 1 else None
        self.difference = Difference(scenario.model)
        self.extinguished = Extinguished(scenario, first.driven, self.count, first.ending.largest)

    def estimates(
        self, parts: Iterable[Arrays], kept: list[Samples] | None = None, checking: StepProgress | None = None
    ) -> Iterator[np.ndarray]:
        """The estimated errors of the samples that are accompanied, part by part.

        kept      gets the companion's samples
        checking  called as the companion goes on
        """
        done = 0
        for a, b in paired(self.extinguished.watched(parts), self._blocks(checking, kept), self.count):
            yield self._compared(a, b)
            done += len(a["time"])
        if self._begun:
            self._begun.end()
        if done < self.count and not self.why and self.stepper:
            ending = self.stepper.ending
            self.why = f"there its companion ended ({ending.status}: {ending.reason})"

    def arrays(self) -> Iterator[dict[str, np.ndarray]]:
        """The companion's samples by name, block by block, run once more."""
        for block in self.make(self.scenario):
            yield {name: getattr(block, name) for name in ("time", "q", "v", "step_size")}

    def _blocks(self, checking: StepProgress | None, kept: list[Samples] | None) -> Iterator[Samples]:
        """Blocks of the companion's samples; Ctrl-C ends them."""
        if self.stepper is None:
            return
        try:
            for block in self._begun.blocks if self._begun else self.stepper:
                if checking:
                    t = self.stepper.position.t
                    checking(t / self.scenario.duration, t, self.stepper.ending.accepted)
                if kept is not None:
                    kept.append(block)
                yield block
        except KeyboardInterrupt:
            self.why = "interrupted by its user"

    def _compared(self, a: Arrays, b: Arrays) -> np.ndarray:
        """The estimated errors at the samples of one part; infinite where one of the runs has gone on or ended."""
        factor = 1.0 if self.is_coarse else FACTOR
        found = factor * self.difference(a, b)
        late = abs(a["time"] - b["time"])
        if not late.any():
            return found
        ended = self.stepper is not None and self.stepper.ending.status == self.first.ending.status == "stopped"
        found[late > 0] = np.maximum(found, factor * late / (1 + a["time"]))[late > 0] if ended else np.inf
        return found

    def estimate(self, time: np.ndarray, values: np.ndarray) -> ErrorEstimate:
        """The estimate of the run; values: of the first samples, those that were accompanied.

        What both runs extinguish, and should not, counts as an error too.
        """
        time, how = time[: len(values)], self.how
        lost, apart = self._lost(time)
        values = np.maximum(values, apart)
        if lost:
            values = np.maximum(values, np.max([np.where(time >= t, one.at(time), 0.0) for t, one in lost], axis=0))
            fastest = max(one.eigenvalue.imag for _, one in lost)
            how = f"{how}; both extinguish oscillations that last, of {fastest:.3g} rad/s"
        return ErrorEstimate(time, values, len(values) == self.samples, how, self.why, self.is_coarse)

    def _lost(self, time: np.ndarray) -> tuple[list[tuple[float, Oscillation]], np.ndarray]:
        """The oscillations that steps extinguish, each from a time on, and errors of the samples (n,) found with that.

        Under control of the error, where anything switches, a run by steps that resolve what is missed tells what of it
        the machine has ended by itself, and how far the samples up to there are from its own.
        """
        missed, errors, of = self.extinguished.missed(), np.zeros(len(time)), self._of
        if of.options.fixed or (of.is_autonomous and not of.switching.surfaces):
            return missed, errors
        lost, left = [], WORK
        for since in sorted({t for t, _ in missed}):
            here = [one for t, one in missed if t == since]
            count = int(np.searchsorted(time, since, "right"))
            other = of.beside(of.options, at_most=UNRESOLVED / max(one.eigenvalue.imag for one in here))
            left -= work_of_steps(since / other.at_most, other, self.first)
            found = self._resolved(other, since, count) if left >= 0 else None
            if found is not None:
                sample, apart = found
                errors[:count] = np.maximum(errors[:count], apart)
                here = [one for one in here if self.extinguished.remains(one, since, sample)]
            lost += [(since, one) for one in here]
        return lost, errors

    def _resolved(self, other: Scenario, until: float, count: int) -> tuple[Sample, np.ndarray] | None:
        """The last of the first samples of a run by shorter steps, and how far these are from the run's (count,); None
        where the steps do not get there or are interrupted by Ctrl-C."""
        try:
            run, found = (_first_samples(self.make(scenario), count) for scenario in (self._of, other))
        except KeyboardInterrupt:
            return None
        if run is None or found is None or not np.array_equal(run["time"], found["time"]):
            return None
        sample = Sample(until, found["q"][-1], found["v"][-1], found["tau"][-1] if "tau" in found else None)
        return sample, Difference(self._of.model)(run, found)


def _first_samples(blocks: Iterable[Samples], count: int) -> dict[str, np.ndarray] | None:
    """The first samples of a run by name; None where it ends before them."""
    found, known = list[Samples](), 0
    for block in blocks:
        found.append(block)
        known += len(block.time)
        if known >= count:
            return {name: values[:count] for name, values in joined(found).items()}
    return None
