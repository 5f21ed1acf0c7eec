"""The options of a run: defaults, explanations, and how the command line writes them. Nothing heavy is imported here.

`RunOptions` checks them; `ph.simulate`, `ph.record`, `ph.gradient`, `ph.sweep` and `polhode run` read them here.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from textwrap import indent
from typing import Any, NamedTuple, TypeVar

from polhode.errors import did_you_mean

Function = TypeVar("Function", bound=Callable[..., Any])

DURATION = 10.0
"""Seconds of a run, where neither the call nor the model's start says any."""

METHOD = "dop853"
"""The method of a run, where neither the call nor the model's start names one."""

STIFF_METHOD = "radau"
"""The same of a model with beams: L-stable, so that steps need not resolve how beams ring."""

DAMPED_METHOD, DAMPED_RATE = "seulex", 1000.0
"""The same of a model with a joint whose velocity its damping takes away faster than this, 1/s: explicit methods take
steps of 6 over that rate at most. Of the robots of example-robot-data those beyond it take 0.15 to 1.04 of the time
(four finish that did not), those between 300 and it 0.7 to 1.1."""

DAMPED_STEP = 3.0
"""The same of equal steps, in parts of such a time: half of what explicit steps stay stable with."""

RUN_SAMPLES = 1001
"""Samples of a run that says nothing else, its start and its end among them."""

MAX_BYTES_ON_DISK = 2**36
"""Bytes of a run's samples on disk (`ph.record`, `polhode run`), unless `max_bytes` says otherwise."""


class Flag(NamedTuple):
    """An option on the command line.

    help     one line, without its default
    kind     "seconds", "number", "whole", "text", "address", "pair" (two numbers), "switch" (yes), "choice" (yes or no)
    default  its default in words; "": the value of the option
    """

    help: str
    kind: str = "text"
    default: str = ""


class Option(NamedTuple):
    """An option of a run: its default, its explanation in docstrings, and its command-line form if it has one."""

    default: Any
    help: str
    flag: Flag | None = None


RUN_OPTIONS: dict[str, Option] = {
    "duration": Option(
        None,
        "seconds to follow; the model's start unless given, else 10 s",
        Flag("Time to follow.", "seconds", "the model's, else 10 s"),
    ),
    "step": Option(
        None,
        "equal steps of this size, s; None: steps under control of the tolerance",
        Flag("Equal steps of this size.", "seconds", "controlled steps"),
    ),
    "method": Option(
        None,
        'a name of ph.methods; "dop853" unless the model\'s start says another, "radau" of models with beams,\n'
        '"seulex" of those with a joint that is damped faster than 1,000/s, of equal steps 3/step; or a solver of\n'
        'SUNDIALS: "cvode", "cvode-bdf", "ida" (pip install scikit-sundae)',
        Flag(
            "Method of integration.",
            "text",
            "the model's, else dop853; with beams radau, with joints damped hard seulex",
        ),
    ),
    "tolerance": Option(
        1e-9,
        "of every step, relative and absolute, down to 1e-14",
        Flag("Of every controlled step.", "number"),
    ),
    "samples": Option(
        None,
        "how many, or their times; 1001 unless given; with equal steps, of those that end at a sample",
        Flag("How many samples are kept.", "whole", "about 1001"),
    ),
    "every": Option(
        None,
        "with equal steps: a sample every so many",
        Flag("With --step: keep every so many steps.", "whole"),
    ),
    "events": Option((), "zeros to watch for, see Event"),
    "norm": Option(
        "state",
        '"state": quaternions are brought back to unit length after each step; "none": they are left alone',
        Flag("Quaternions: state (unit after each step) or none."),
    ),
    "form": Option(
        None,
        "a name of ph.forms: one body runs in the form's own variables, by RK4 with equal steps (step=…); norm may\n"
        'be "p" too; the multiplier and its prediction are in the Dataset. Machines: every body in (p, ṗ), joints\n'
        "held in accelerations alone, under gravity; `quaternion_norm`, `joint_residual` tell how well",
    ),
    "engine": Option(
        "fundamental",
        'how constraints are met: "fundamental" (Udwadia\'s equation), "multipliers", "null-space", or "absolute"\n'
        "(Euler parameters of every body, joints as constraints too)",
        Flag("Constraints: fundamental, multipliers, null-space, absolute."),
    ),
    "rank_tolerance": Option(
        1e-10,
        "remainder of a constraint row after elimination, relative to its natural size; below it the row counts as\n"
        "dependent",
        Flag("Of dependent rows of constraints.", "number"),
    ),
    "constraints": Option(
        "project",
        'what keeps them: "project" (positions and velocities, after each step), "baumgarte", "ggl" (index 2, by\n'
        'radau2, radau3), "index-3" (positions alone, by generalized-alpha), "none"',
        Flag("What keeps them: project, baumgarte, ggl, index-3, none."),
    ),
    "baumgarte": Option(
        None,
        "(α, β), 1/s: violations obey φ̈ + 2α φ̇ + β² φ = 0; (5, 5) unless given",
        Flag("With --constraints baumgarte, 1/s.", "pair", "5,5"),
    ),
    "move_start": Option(
        False,
        "True: a start that violates constraints or limits is moved to the nearest that does not, and its violations\n"
        'are in `run.attrs["start_moved"]`; else it is refused',
        Flag("Move a start that violates constraints or limits to the nearest that does not.", "switch"),
    ),
    "limits": Option(
        True,
        "True: limits of joints act, as the stops of ph.with_limits(model); False: they do not, and the grade says\n"
        "which were passed",
        Flag("Limits of joints act, or do not.", "choice", "they act"),
    ),
    "verify": Option(
        None,
        "None: the error is estimated by a companion run of other steps, as far as its counted work allows; True: at\n"
        "every sample, whatever it costs; False: not at all, and the run is unchecked",
        Flag("Estimate the error at every sample, or not at all.", "choice", "as far as its work allows"),
    ),
    "accuracy": Option(
        None,
        "error up to which the run is good, in parts of its scale; 1e-6 for equal steps unless given, for controlled\n"
        "ones condition × steps × tolerance",
        Flag("Error up to which the run is good, in parts of its scale.", "number", "1e-6 with --step"),
    ),
    "sensitivities": Option(
        (),
        'paths of numbers ("bodies.arm.mass", "gravity", a Parameter\'s name), "start.q", "start.v", "tau":\n'
        "derivatives by them of q (along the velocities) and v, times fixed: `sensitivity_q`, `sensitivity_v`",
    ),
    "specialise": Option(
        None,
        "True: kernels with the numbers of the model folded in, compiled for this model alone; False: kernels that\n"
        "take them as inputs, and serve all models of its structure; None: True, but for models by `with_numbers`",
    ),
    "keep": Option(
        None,
        'names of the variables that the Dataset holds, as ["q", "total_energy"]; all unless given, but for\n'
        '"joint_force" and "joint_torque", the loads that every joint carries',
    ),
    "max_steps": Option(
        1e9,  # minutes for one body, hours for a machine
        "a run of more equal steps is refused; one that takes, or at its pace would take, more controlled steps\n"
        "ends as failed",
        Flag("Refuse a run of more steps.", "number", "1e9"),
    ),
    "max_bytes": Option(
        2**30,
        "a run whose samples would take more memory (`record`: more space on disk) is refused",
        Flag("Refuse a run whose samples take more.", "number", "6.9e10"),
    ),
}
"""Every option of a run, in the order of its documentation."""

FLAGS = {name: option.flag for name, option in RUN_OPTIONS.items() if option.flag}
"""The options of a run that the command line has."""


def takes_options(
    table: Mapping[str, Option], keywords: type, defaults: Mapping[str, Any] | None = None
) -> Callable[[Function], Function]:
    """A decorator: every option in the signature and, for {options}, in the docstring of a function with **options.

    keywords  the TypedDict of **options; arguments of the function that are options are explained as well
    defaults  where they differ from those of the table
    """
    known = {name: option.default for name, option in table.items()} | dict(defaults or {})

    def decorated(function: Function) -> Function:
        signature, names = inspect.signature(function), keywords.__annotations__
        given = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        kind = inspect.Parameter.KEYWORD_ONLY
        ordered = sorted(names, key=list(known).index)
        more = [inspect.Parameter(name, kind, default=known[name], annotation=names[name]) for name in ordered]
        function.__signature__ = signature.replace(parameters=[*given, *more])  # type: ignore[attr-defined]
        shown = [name for name in table if name in signature.parameters or name in names]
        function.__doc__ = (function.__doc__ or "").replace("{options}", explained(table, shown))
        return function

    return decorated


def explained(table: Mapping[str, Option], names: Iterable[str]) -> str:
    """Options and what they mean, as lines of a docstring."""
    lines = (f"{name:14} {indent(table[name].help, ' ' * 19).strip()}" for name in names)
    return "\n    ".join(lines)


ARGUMENTS = ("duration", "step", "method", "tolerance")
"""Options that calls of a run have as arguments of their own."""

SYNONYMS = {
    "overwrite": "force",
    **dict.fromkeys(("dt", "timestep", "time_step"), "step"),
    **dict.fromkeys(("rtol", "atol", "tol"), "tolerance"),
    **dict.fromkeys(("t_end", "tf", "t_span", "time"), "duration"),
    **dict.fromkeys(("solver", "integrator"), "method"),
    **dict.fromkeys(("t_eval", "saveat"), "samples"),
    **dict.fromkeys(("n", "count", "n_runs"), "runs"),
}
"""Options by the words that other programs, and other calls of this one, have for them."""


def check_keywords(caller: str, known: Iterable[str], given: Iterable[str]) -> None:
    """Raise a TypeError for a keyword that a call does not take, with the one that is meant or the nearest."""
    names = known if isinstance(known, (tuple, dict)) else list(known)
    for name in given:
        if name not in names:
            fix = did_you_mean(name, names, synonyms=SYNONYMS)
            raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}. {fix}".strip())
