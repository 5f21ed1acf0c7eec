"""A study, a value: what is run, what differs from run to run, what is kept. `study_runner` runs it."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

import polhode
from polhode.ensemble.companions import SHARE, check_share
from polhode.ensemble.distributions import Distribution, Grid, distribution
from polhode.ensemble.measures import Measure
from polhode.ensemble.option_table import ONE_RUN, STUDY_RUN_OPTIONS
from polhode.ensemble.study_options import BatchKeywords, batch_options, described_options
from polhode.errors import InputError, message, warn_caller
from polhode.model import Model
from polhode.model.user_kinds import user_kinds
from polhode.simulation.option_table import check_keywords
from polhode.simulation.run_options import RunOptions

STUDY_SAMPLES = 101
"""Samples of each run of a study that says nothing of them."""


@dataclass(frozen=True)
class Stop:
    """Where a run ends before its time: a zero of an expression or a function of (t, q, v, numbers).

    direction  1: upwards, −1: downwards, 0: both
    """

    when: Any
    direction: int = 0

    def __post_init__(self) -> None:
        """Check."""
        if self.direction not in (-1, 0, 1):
            raise InputError(message("sweep, stop", "no such direction", repr(self.direction), "1, -1 or 0"))


@dataclass(frozen=True, init=False)
class Study:
    """Many runs of one model.

    samples    by name, or by several names split by commas, what is drawn; see `parameters`
    runs       how many; None: as many as the grids have combinations
    derived    by name, an expression of what is drawn (and of the model's own numbers), or a function of arrays by name
    q, v       the start, where nothing of it is drawn; None: the model's
    tau        as in `simulate`, or a function of (t, q, v, numbers by name), or expressions by joint
    outputs    by name, expressions or functions of (t, q, v, numbers), sampled along with the state
    stop       by name, what ends a run before its time
    measures   by name, numbers of each run
    keep       what of the state is kept: "q", "v", "q.hinge", …
    accompanied  the share of runs, drawn by the seed, whose error is estimated by a companion run; all others are
               unchecked
    text       of the study's file, `source`;  model_text: of the model's
    run_options  of each run, a RunOptions; or its options as keywords, where `times` are its `samples`
    """

    name: str
    model: Model
    samples: Mapping[str, Distribution]
    runs: int
    seed: int = 0
    design: str = "random"
    derived: Mapping[str, Any] = field(default_factory=dict)
    q: Any = None
    v: Any = None
    run_options: RunOptions = field(default_factory=RunOptions)
    tau: Any = None
    outputs: Mapping[str, Any] = field(default_factory=dict)
    stop: Mapping[str, Stop] = field(default_factory=dict)
    measures: Mapping[str, Measure] = field(default_factory=dict)
    keep: tuple[str, ...] = ("q", "v")
    accompanied: float = SHARE
    text: str = ""
    model_text: str = ""
    source: str = ""

    runner: ClassVar[Any] = None
    """The class that makes the study ready to run, where a subclass has its own; None: `StudyRunner`."""

    def __init__(
        self,
        name: str,
        model: Model,
        samples: Mapping[str, Distribution],
        runs: int,
        seed: int = 0,
        design: str = "random",
        **others: Any,
    ) -> None:
        """A study of the fields above; options of its runs may stand among the keywords."""
        known = {x.name: x for x in fields(self)}
        check_keywords("Study", (*known, *STUDY_RUN_OPTIONS, *ONE_RUN), others)
        options = {key: value for key, value in others.items() if key not in known}
        given = {**others, "name": name, "model": model, "samples": samples, "runs": runs, "seed": seed}
        given |= {"design": design, "run_options": batch_options(others.get("run_options"), options)}
        for key, own in known.items():
            default = own.default_factory() if callable(own.default_factory) else own.default
            object.__setattr__(self, key, given.get(key, default))
        object.__setattr__(self, "accompanied", check_share(self.accompanied))

    @property
    def duration(self) -> Any:
        """Time that each run covers, s, from `run_options`; None: as the model's start says."""
        return self.run_options.duration

    @property
    def step(self) -> Any:
        """Size of equal steps, s, from `run_options`; None: steps under control of `tolerance`."""
        return self.run_options.step

    @property
    def method(self) -> Any:
        """Method of integration by its name, from `run_options`."""
        return self.run_options.method

    @property
    def tolerance(self) -> Any:
        """Tolerance of controlled steps, from `run_options`."""
        return self.run_options.tolerance

    @property
    def every(self) -> Any:
        """Equal steps from one sample to the next, from `run_options`."""
        return self.run_options.every

    @property
    def times(self) -> Any:
        """Samples of each run, from `run_options.samples`: how many, or their times, s."""
        return self.run_options.samples

    @property
    def norm(self) -> Any:
        """What keeps quaternions at unit length, from `run_options`: "state" or "none"."""
        return self.run_options.norm

    def fleet(self) -> Any:
        """`ph.StudyRunner(study)`, by the name it had before."""
        warn_caller("study.fleet() is now ph.StudyRunner(study)", DeprecationWarning)
        return (self.runner or polhode.StudyRunner)(self)

    @property
    def description(self) -> dict[str, Any]:
        """What the study is, as plain data: two of the same description are the same study."""
        found: dict[str, Any] = {name: getattr(self, name) for name in ("name", "runs", "seed", "design")}
        if self.accompanied != SHARE:
            found["accompanied"] = self.accompanied
        found["keep"] = list(self.keep)
        found |= described_options(self.run_options)
        if self.run_options.events:
            found["events"] = value_text(self.run_options.events)
        found["samples"] = {name: repr(value) for name, value in self.samples.items()}
        for name in ("derived", "outputs", "stop", "measures"):
            found[name] = {key: value_text(value) for key, value in getattr(self, name).items()}
        found["tau"], found["start"] = value_text(self.tau), [value_text(self.q), value_text(self.v)]
        found["model"] = value_text(self.model)
        if kinds := user_kinds(self.model):
            found["kinds"] = {kind.__qualname__: _methods(kind) for kind in kinds}
        return found

    @property
    def identity(self) -> str:
        """A digest of the description."""
        text = json.dumps({**self.description, "polhode": polhode.__version__}, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


class StudyKeywords(BatchKeywords, total=False):
    """Keywords of `ph.sweep` that its `Study` is made of."""

    name: str
    runs: int | None
    seed: int
    design: str
    derived: Mapping[str, Any]
    q: Any
    v: Any
    tau: Any
    outputs: Mapping[str, Any]
    stop: Mapping[str, Stop]
    measures: Mapping[str, Measure]
    keep: Sequence[str]
    accompanied: float


STUDY_DEFAULTS: dict[str, Any] = {
    name: STUDY_RUN_OPTIONS[name].default if name in STUDY_RUN_OPTIONS else getattr(Study, name, None)
    for name in StudyKeywords.__annotations__
}
"""The defaults of these keywords; None: nothing, or chosen by the study."""


def study(model: Model, samples: Mapping[str, Any], *, runs: int | None = None, **options: Any) -> Study:
    """A study made of keywords, its samples checked; see `Study`."""
    if not isinstance(model, Model):
        fix = "Read it first: ph.load('double-pendulum')."
        raise InputError(message("sweep, model", "not a model", repr(model)[:60], "a Model", fix))
    if not isinstance(samples, Mapping) or not samples:
        found = repr(samples)[:60]
        raise InputError(message("sweep, samples", "nothing to vary", found, "distributions by name"))
    for name in samples:
        if not isinstance(name, str):
            raise InputError(message("sweep, samples", "not a name", repr(name)[:60], "text, as 'bodies.arm.mass'"))
    given = {name: distribution(f"sweep, parameter '{name}'", value) for name, value in samples.items()}
    options = {name: value for name, value in options.items() if value is not None}
    if isinstance(options.get("keep"), str):
        options["keep"] = (options["keep"],)
    keep = options.get("keep", ("q", "v"))
    if not isinstance(keep, (list, tuple)) or not all(isinstance(name, str) for name in keep):
        raise InputError(message("sweep, keep", "not names", repr(keep)[:60], "names, as ['q', 'v.hinge']"))
    options["keep"] = tuple(keep)
    return Study(options.pop("name", model.name), model, given, _runs(runs, given), **options)


def _runs(runs: Any, samples: Mapping[str, Distribution]) -> int:
    """How many runs, or an error."""
    grids = {name: len(x.rows) for name, x in samples.items() if isinstance(x, Grid)}
    whole = math.prod(grids.values())
    if runs is None:
        if len(grids) < len(samples):
            drawn = next(name for name in samples if name not in grids)
            fix = "Say how many: runs=1000."
            raise InputError(message("sweep, runs", "not given", f"'{drawn}' is drawn", "a number of runs", fix))
        return whole
    if isinstance(runs, bool) or not isinstance(runs, (int, np.integer)) or runs < 1:
        raise InputError(message("sweep, runs", "not a number of runs", repr(runs), "1 or more"))
    if grids and runs % whole:
        found, sizes = str(runs), " × ".join(map(str, grids.values()))
        fix = f"Leave it out for one run of each combination, or give a multiple of {whole}."
        raise InputError(message("sweep, runs", "does not fit the grids", found, f"{sizes} = {whole}", fix))
    return int(runs)


def value_text(value: Any) -> str:
    """A text that identifies a value; of a function, one of its code, its closure and the globals it reads."""
    if isinstance(value, Stop):
        return f"Stop({value_text(value.when)}, {value.direction})"
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:16]}"
    if is_dataclass(value) and not isinstance(value, type):
        inner = ", ".join(f"{x.name}={value_text(getattr(value, x.name))}" for x in fields(value))
        return f"{type(value).__name__}({inner})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {value_text(x)}' for key, x in value.items())}}}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(value_text, value))})"
    if getattr(value, "__code__", None) is None:
        return value if isinstance(value, str) else repr(value)
    return f"function {value.__qualname__} {hashlib.sha256(_code(value).encode()).hexdigest()[:16]}"


def _methods(kind: type) -> dict[str, str]:
    """The code and the values of a class."""
    inner = {name: getattr(x, "fget", None) or getattr(x, "__func__", x) for name, x in vars(kind).items()}
    return {name: value_text(x) for name, x in inner.items() if not name.startswith("__")}


def _code(function: Any, depth: int = 3) -> str:
    """Code, closure, defaults and globals of a function, as text."""
    code = function.__code__
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    read = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    parts = [code.co_code.hex(), repr(_plain(code.co_consts)), repr(code.co_names), value_text(function.__defaults__)]
    for x in (*held, *read):
        if getattr(x, "__code__", None) is not None:
            parts.append(_code(x, depth - 1) if depth else x.__qualname__)
        elif not isinstance(x, (type, ModuleType)):
            parts.append(value_text(x))
    return "\n".join(parts)


def _plain(constants: tuple) -> list[str]:
    """The constants of a function's code; of inner functions their code, not their address."""
    return [x.co_code.hex() if hasattr(x, "co_code") else repr(x) for x in constants]


def is_text(value: Any) -> bool:
    """Whether the text of a value identifies it fully: nothing in it is a function."""
    if isinstance(value, Stop):
        return is_text(value.when)
    if is_dataclass(value) and not isinstance(value, type):
        return all(is_text(getattr(value, x.name)) for x in fields(value))
    if isinstance(value, Mapping):
        return all(map(is_text, value.values()))
    if isinstance(value, (tuple, list)):
        return all(map(is_text, value))
    return not callable(value)
