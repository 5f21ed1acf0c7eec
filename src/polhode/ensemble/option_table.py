"""The options of a sweep: defaults, explanations, and how the command line writes them. No heavy import.

Those of its runs are the options of a run, `RUN_OPTIONS`, but for what `REFUSALS` lists.
"""

from typing import NamedTuple

from polhode.simulation.option_table import RUN_OPTIONS, Flag, Option

SWEEP_OPTIONS: dict[str, Option] = {
    "out": Option(None, "a folder for the results, which are then read lazily; None: in memory"),
    "resume": Option(
        False,
        "resume the study in `out`",
        Flag("Go on with a study that was cut off, or whose files are damaged.", "switch"),
    ),
    "force": Option(False, "discard the study in `out`", Flag("Discard the study that is there.", "switch")),
    "threads": Option(
        None,
        "None: as many as there are processors",
        Flag("Threads of this process.", "whole", "all processors"),
    ),
    "device": Option(
        "cpu",
        '"cpu"; "cuda", all GPUs; "cuda:1" or "cuda:0,1", those of these numbers; or "auto": GPUs where there are any',
        Flag("cpu; cuda, or cuda:0,1 by number; or auto: GPUs where there are any."),
    ),
    "precision": Option("double", '"double", or "single" on a GPU', Flag("double; or single, on a GPU.")),
    "scheduler": Option(
        None,
        "a dask.distributed Client, or the address of a scheduler; needs `out`, which all workers see",
        Flag("A Dask scheduler; its workers see the folder.", "address"),
    ),
    "chunk": Option(
        None,
        "runs that are computed and written together; about half a second of them unless given",
        Flag("Runs computed and written together.", "whole", "about 0.5 s"),
    ),
    "report": Option(
        True,
        "with `out`: write summary.nc and report.html beside the runs",
        Flag("Write summary.nc and report.html.", "choice"),
    ),
    "max_runs": Option(1e9, "a study of more runs is refused", Flag("Refuse a study of more runs.", "number")),
    "max_steps": Option(
        1e12,
        "a study of more equal steps, of all runs together, is refused",
        Flag("… of more equal steps in all.", "number"),
    ),
    "max_bytes": Option(
        1e12, "a study that keeps more, in memory or on disk, is refused", Flag("… that keeps more.", "number")
    ),
    "max_memory": Option(
        2e9,
        "a study that holds more at a time is refused: samples of the runs under way, and all results without `out`",
        Flag("… that holds more bytes at a time.", "number"),
    ),
}
"""Every option of a sweep, in the order of its documentation; those of its runs are in STUDY_RUN_OPTIONS."""

OF_ALL_RUNS = ("keep", "max_steps", "max_bytes")
"""Options of a run that a study or a sweep has of its own, for all runs together."""

RENAMED = {"samples": "times"}
"""Options of a run that have another name in a study, whose samples are what is drawn."""


class Refusal(NamedTuple):
    """An option of a run that runs side by side cannot have.

    values  those of its values that are refused; "": all but its default
    why     one clause, for the message
    """

    option: str
    values: str
    why: str


REFUSALS = (
    Refusal("form", "", "a published form steps one machine in variables of its own"),
    Refusal("method", "SUNDIALS", "SUNDIALS steps one run at a time"),
    Refusal("events", "those that do not end the run", "a run in a batch ends at its first event"),
    Refusal("verify", "", "the error is estimated by a second run of the same numbers"),
    Refusal("specialise", "", "the numbers that are drawn are inputs of its kernels, all others are folded"),
    Refusal("sensitivities", "", "derivatives repeat the steps of one run"),
)
"""What a sweep refuses of the options of a run: the one list."""

ONE_RUN = tuple(refusal.option for refusal in REFUSALS if not refusal.values)
"""The options that only single runs have."""

MEANINGS = {
    "method": 'a name of ph.methods; "dop853" unless the model\'s start says another',
    "samples": "how many samples, or their times; 101 unless given; with equal steps, times that end a step",
    "events": "where a run ends before its time, see Event; as `stop`, with functions of (t, q, v)",
    "move_start": "True: starts off the constraints or outside limits are moved to the nearest that are not; else\n"
    "their runs are refused",
}
"""Explanations of options that are narrower in a study than in a single run."""


def _of_study(name: str, option: Option) -> Option:
    """An option of a run as a study has it; on the command line, what is not given is as the study file says."""
    flag = option.flag and option.flag._replace(default="the study's")
    return Option(option.default, MEANINGS.get(name, option.help), flag)


STUDY_RUN_OPTIONS: dict[str, Option] = {
    RENAMED.get(name, name): _of_study(name, option)
    for name, option in RUN_OPTIONS.items()
    if name not in (*OF_ALL_RUNS, *ONE_RUN)
}
"""Every option of the runs of a study, by its name there."""

FLAGS = {name: option.flag for name, option in SWEEP_OPTIONS.items() if option.flag}
RUN_FLAGS = {name: option.flag for name, option in STUDY_RUN_OPTIONS.items() if option.flag}
"""The options of a sweep, and of its runs, that the command line has."""
