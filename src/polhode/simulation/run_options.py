"""`RunOptions`: every option of a run, checked once; made from keywords, a study file or the command line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypedDict

import numpy as np

from polhode.check.joint_damping import fastest_damped
from polhode.constrain.constraint_policy import DEFAULT, ConstraintPolicy, constraint_policy_of
from polhode.errors import InputError, did_you_mean, message
from polhode.integrate.constrained import CONSTRAINED_METHODS
from polhode.integrate.methods import ADAPTIVE, method_named
from polhode.integrate.sundials import SUNDIALS
from polhode.model import Model
from polhode.model.forces.refused import refuse_normal_forces, refuse_state_inertia
from polhode.model.per_model_cache import once_each
from polhode.result.dataset import VARIABLES
from polhode.scalar import Array, a_list, as_array, flag, real_number
from polhode.simulation.by_form import form_names
from polhode.simulation.inputs import Sampled, is_held_input
from polhode.simulation.option_table import (
    DAMPED_METHOD,
    DAMPED_RATE,
    DAMPED_STEP,
    DURATION,
    METHOD,
    RUN_OPTIONS,
    STIFF_METHOD,
)
from polhode.simulation.run_records import Event, listed
from polhode.simulation.work_limits import a_limit, check_samples, check_steps, quotient

ROUNDING = 1e-14
"""Times that differ by less than this part of the duration are the same."""

TIGHTEST = 1e-14
"""The smallest tolerance that doubles can promise."""

NORMS = ("state", "none")
"""What keeps quaternions at unit length in methods that add: they are brought back after every step, or nothing."""


class MotionKeywords(TypedDict, total=False):
    """Keywords of `ph.record`, beside those that may be given by position; see `RunOptions`."""

    samples: int | Array | None
    every: int | None
    events: Sequence[Event]
    norm: str
    engine: str
    rank_tolerance: float
    constraints: str
    baumgarte: Sequence[float] | None
    move_start: bool
    limits: bool
    verify: bool | None
    accuracy: float | None
    specialise: bool | None
    max_steps: float
    max_bytes: float


class RunKeywords(MotionKeywords, total=False):
    """Keywords of `ph.simulate`, beside those that may be given by position; see `RunOptions`."""

    form: str | None
    sensitivities: Sequence[str]
    keep: Sequence[str] | None


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Every option of a run, checked; an invalid option is an InputError."""

    duration: float | None = RUN_OPTIONS["duration"].default
    step: float | None = RUN_OPTIONS["step"].default
    method: str | None = RUN_OPTIONS["method"].default
    tolerance: float = RUN_OPTIONS["tolerance"].default
    samples: int | Array | None = RUN_OPTIONS["samples"].default
    every: int | None = RUN_OPTIONS["every"].default
    events: Sequence[Event] = RUN_OPTIONS["events"].default
    norm: str = RUN_OPTIONS["norm"].default
    form: str | None = RUN_OPTIONS["form"].default
    engine: str = RUN_OPTIONS["engine"].default
    rank_tolerance: float = RUN_OPTIONS["rank_tolerance"].default
    constraints: str = RUN_OPTIONS["constraints"].default
    baumgarte: Sequence[float] | None = RUN_OPTIONS["baumgarte"].default
    move_start: bool = RUN_OPTIONS["move_start"].default
    limits: bool = RUN_OPTIONS["limits"].default
    verify: bool | None = RUN_OPTIONS["verify"].default
    accuracy: float | None = RUN_OPTIONS["accuracy"].default
    sensitivities: Sequence[str] = RUN_OPTIONS["sensitivities"].default
    specialise: bool | None = RUN_OPTIONS["specialise"].default
    keep: Sequence[str] | None = RUN_OPTIONS["keep"].default
    max_steps: float = RUN_OPTIONS["max_steps"].default
    max_bytes: float = RUN_OPTIONS["max_bytes"].default

    def __post_init__(self) -> None:
        """Check every option by itself, then those that exclude each other."""
        for name, check in CHECKS.items():
            object.__setattr__(self, name, check(getattr(self, name)))
        if self.form is not None:
            self._check_form()
            object.__setattr__(self, "method", "rk4")
        elif self.norm not in NORMS:
            fix = "For steps on the group itself take a Lie-group method: rkmk4, cf4, rkmk-dop853."
            expected = " or ".join(map(repr, NORMS))
            raise InputError(message("simulate, norm", "no such policy", repr(self.norm), expected, fix))
        policy = self.policy  # checks engine, rank_tolerance, constraints, baumgarte
        if self.baumgarte is not None:
            object.__setattr__(self, "baumgarte", policy.baumgarte)
        if self.every is not None and (self.step is None or self.samples is not None):
            _check_every(self.every, False)

    def __hash__(self) -> int:
        """A hash of all options, found once: what is kept of a model is looked up by its options in every run."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple([getattr(self, name) for name in self.__dataclass_fields__]))

    def __getstate__(self) -> dict[str, Any]:
        """All but the hash, which is another one in another process."""
        return {name: value for name, value in vars(self).items() if name != "_hash"}

    @cached_property
    def policy(self) -> ConstraintPolicy:
        """The constraint policy: engine, rank tolerance, stabilisation."""
        return constraint_policy_of("simulate", self.engine, self.rank_tolerance, self.constraints, self.baumgarte)

    def changed(self, **changes: Any) -> "RunOptions":
        """The options with some changes that are known to be valid, and do not concern the constraint policy."""
        found = object.__new__(RunOptions)
        given = {name: getattr(self, name) for name in self.__dataclass_fields__}
        vars(found).update(given | changes, policy=self.policy)
        return found

    @property
    def fixed(self) -> bool:
        """Whether all steps are equal; else they are under control of their error."""
        return self.step is not None

    @property
    def is_plain(self) -> bool:
        """Whether what follows from them may be kept: there are no events, and no times of samples in a tuple."""
        return not self.events and not isinstance(self.samples, tuple)

    def _check_form(self) -> None:
        """Refuse what a run by a form does not take."""
        if self.step is None or self.method not in (None, "rk4"):
            found = f"method {self.method!r}, step {self.step!r}"
            expected = "step=…, method 'rk4'"
            raise InputError(message("simulate, form", "a form runs by RK4 with equal steps", found, expected))
        if self.events or self.sensitivities:
            found = "events" if self.events else "sensitivities"
            raise InputError(message("simulate, form", "not with a form", found, "neither events nor sensitivities"))

    def for_model(self, model: Model, tau: Any = None) -> "RunOptions":
        """The options with the duration and the method of a run of a model, checked against it and its inputs."""
        if tau is None and self.is_plain:
            return _without_inputs(model, self)
        return self._for_model(model, tau)

    def _for_model(self, model: Model, tau: Any) -> "RunOptions":
        start = model.start
        duration = self.duration if self.duration is not None else start.duration if start else None
        duration = _seconds("duration")(DURATION if duration is None else duration)
        method = self._constrained_method(model) or (start.method if start else None) or self._usual(model)
        if method in SUNDIALS:
            self._check_sundials(method, tau, model)
        elif not method_named(method).adaptive and self.step is None:
            fix = f"Give step=…, or take a method that controls its own: {', '.join(ADAPTIVE)}."
            raise InputError(message("simulate, step", f"'{method}' takes equal steps", "no step", "its size", fix))
        if model.constraints:
            self._check_keeping(method)
        own = self.policy.keeping in CONSTRAINED_METHODS or self.policy.engine == "absolute"
        if own or (method not in SUNDIALS and method_named(method).meets_constraints):
            fix = "Take another method, engine='fundamental' and constraints='project'."
            refuse_state_inertia(f"simulate, method '{method}'", model.forces, fix)
            refuse_normal_forces(f"simulate, method '{method}'", model.forces, "Take another method.")
        found = self.changed(duration=duration, method=method)
        found._check_work(model, tau)
        found.times  # noqa: B018 - checks that samples lie within the duration
        return found

    def _usual(self, model: Model) -> str:
        """The method of a run of a model by these options, where none is named."""
        return usual_method(model, self.policy.engine, self.step)

    def _constrained_method(self, model: Model) -> str | None:
        """The method asked for; policies that bring their own methods choose or refuse it."""
        where, keeping = "simulate, constraints", self.policy.keeping
        if keeping != "project" and not model.constraints:
            found = f"{keeping!r} for model '{model.name}'"
            raise InputError(message(where, "the model has no constraints", found, "a model with constraints=[…]"))
        if keeping not in CONSTRAINED_METHODS:
            return self.method
        if self.sensitivities:
            fix = "Take constraints='project'."
            raise InputError(message(where, "no derivatives of such a run", repr(keeping), "'project'", fix))
        known = CONSTRAINED_METHODS[keeping]
        if self.method is not None and self.method not in known:
            what = f"{keeping!r} is a matter of its method"
            raise InputError(message(where, what, repr(self.method), " or ".join(known)))
        return next(iter(known)) if self.method is None else self.method

    def _check_keeping(self, method: str) -> None:
        """Refuse a method whose steps meet constraints by themselves under a policy that lets them drift."""
        meets = method not in SUNDIALS and method_named(method).meets_constraints
        if meets and self.policy.keeping in ("baumgarte", "none"):
            what = f"'{method}' has multipliers of its own, which leave nothing to drift"
            fix = "Take constraints='project', or method='implicit-midpoint'."
            raise InputError(message("simulate, constraints", what, repr(self.policy.keeping), "'project'", fix))

    def _check_sundials(self, method: str, tau: Any, model: Model) -> None:
        """Refuse what a run by SUNDIALS does not take."""
        asked = {"step=…": self.fixed, "events": self.events, "sensitivities": self.sensitivities}
        asked["a sampled controller or a table that holds"] = is_held_input(tau)
        asked["force elements with discrete states"] = any(force.sampled or force.modes for force in model.forces)
        for what, given in asked.items():
            if given:
                fix = "Take a method of ph.methods."
                raise InputError(message(f"simulate, method '{method}'", "not with SUNDIALS", what, "none", fix))

    def _check_work(self, model: Model, tau: Any) -> None:
        """Refuse a run of more steps or more bytes than its limits."""
        assert self.duration is not None
        steps = quotient(self.duration, self.step) if self.step is not None else 0.0
        calls = quotient(self.duration, tau.period) if isinstance(tau, Sampled) else 0.0
        check_steps("simulate, step", steps, self.max_steps)
        check_steps("simulate, tau, period", calls, self.max_steps)
        count = int(self.samples) if is_whole(self.samples) else 0  # type: ignore[arg-type]
        kept = steps / self.every if self.every else float(min(max(count, 0), 10**300))
        check_samples("simulate, samples", kept, model, self.max_bytes, calls)

    @cached_property
    def times(self) -> np.ndarray | None:
        """The times of the samples, from 0 to the duration; None where none were given."""
        if self.samples is None:
            return None
        assert self.duration is not None
        found = sample_times(self.samples, self.duration)
        found.flags.writeable = False  # several runs may have them
        return found


PLAIN = frozenset((type(None), bool, int, float, str))
"""The types of values that never change."""


def checked_options(**given: Any) -> RunOptions:
    """The RunOptions of keywords; those of plain values are checked once, and found again."""
    return _known(**given) if PLAIN.issuperset(map(type, given.values())) else RunOptions(**given)


@lru_cache(maxsize=64, typed=True)
def _known(**given: Any) -> RunOptions:
    return RunOptions(**given)


@once_each
def _without_inputs(model: Model, options: RunOptions) -> RunOptions:
    """The options of a run without inputs and events."""
    return options._for_model(model, None)


def usual_method(model: Model, engine: str = DEFAULT, step: float | None = None) -> str:
    """The method of a run of a model, where nobody names one.

    engine  of its constraints: in absolute coordinates no joint is damped
    step    the size of equal steps, s; None: steps under control of their error
    """
    if any(force.is_stiff for force in model.forces):
        return STIFF_METHOD
    most = DAMPED_STEP / step if step else DAMPED_RATE
    return DAMPED_METHOD if engine != "absolute" and fastest_damped(model).rate > most else METHOD


def sample_times(samples: Any, duration: float) -> np.ndarray:
    """Times of samples from 0 to the duration (n,): a number of them evenly spaced, or those given."""
    if is_whole(samples):
        if samples < 2:
            raise InputError(message("simulate, samples", "too few", repr(samples), "2 or more: start and end"))
        times = np.linspace(0.0, duration, int(samples))
        times[-1] = duration
        return times
    times = as_array("simulate, samples", samples, ())
    near = ROUNDING * duration
    if times.ndim != 1 or not len(times) or not -near <= times.min() <= times.max() <= duration + near:
        raise InputError(message("simulate, samples", "out of range", repr(samples)[:60], f"times in 0 … {duration:g}"))
    inner = times[(times > near) & (times < duration - near)]  # start and end are samples themselves
    return np.unique(np.concatenate([[0.0], inner, [duration]]))


# checks of single options: what is given in, what the record holds out


def is_whole(value: Any) -> bool:
    """Whether it is a whole number."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _seconds(name: str, more: str = "") -> Callable[[Any], float]:
    return lambda value: real_number(f"simulate, {name}", value, f"seconds above 0{more}", 0.0)


def _or_none(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else check(value)


def _tolerance(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)) or not TIGHTEST <= value < 1:
        raise InputError(message("simulate, tolerance", "out of range", repr(value), f"{TIGHTEST:g} to 1"))
    return float(value)


def _method(value: Any) -> str:
    return value if isinstance(value, str) and value in SUNDIALS else method_named(value).name


def _check_every(value: Any, fits: bool = True) -> int:
    if not fits or not is_whole(value) or value < 1:
        expected = "a whole number above 0, with equal steps (step=…) and without samples=…"
        raise InputError(message("simulate, every", "does not fit", repr(value), expected))
    return int(value)


def _samples(value: Any) -> Any:
    """A count, or times in a tuple."""
    found = int(value) if is_whole(value) else as_array("simulate, samples", value, ()).tolist()
    return tuple(found) if isinstance(found, list) else found


def _names(option: str) -> Callable[[Any], tuple[str, ...]]:
    def check(given: Any) -> tuple[str, ...]:
        names = a_list(f"simulate, {option}", given, f"a list of names, as {option}=['q']")
        for name in names:
            if not isinstance(name, str):
                raise InputError(message(f"simulate, {option}", "not a name", repr(name)[:60], "text"))
        return tuple(names)

    return check


def _variables(given: Any) -> tuple[str, ...]:
    names = _names("keep")(given)
    for name in names:
        if name not in VARIABLES:
            fix = did_you_mean(name, VARIABLES)
            raise InputError(message("simulate, keep", "no such variable", repr(name), ", ".join(VARIABLES), fix))
    return names


CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "keep": _or_none(_variables),
    "sensitivities": lambda given: _names("sensitivities")(() if given is None else given),
    "max_steps": lambda value: a_limit("simulate, max_steps", value),
    "max_bytes": lambda value: a_limit("simulate, max_bytes", value),
    "verify": lambda value: None if value is None else flag("simulate, verify", value),
    "accuracy": _or_none(lambda value: real_number("simulate, accuracy", value, "a part of the scale, above 0", 0.0)),
    "move_start": lambda value: flag("simulate, move_start", value),
    "limits": lambda value: flag("simulate, limits", value),
    "specialise": lambda value: None if value is None else flag("simulate, specialise", value),
    "form": _or_none(lambda name: form_names.form_named(name).name),
    "events": listed,
    "duration": _or_none(_seconds("duration")),
    "step": _or_none(_seconds("step", ", or None for steps under control of the tolerance")),
    "method": _or_none(_method),
    "tolerance": _tolerance,
    "every": _or_none(_check_every),
    "samples": _or_none(_samples),
}
"""The check of each option by itself, in the order in which faults are reported: the checked value, or an error."""
