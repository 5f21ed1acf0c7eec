"""The options of a sweep: defaults, explanations, and how the command line writes them. No heavy import."""

from polhode.simulation.option_table import Flag, Option

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
        '"cpu", "cuda", or "auto": a GPU where there is one',
        Flag("cpu, cuda, or auto: a GPU where there is one."),
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
"""Every option of a sweep, in the order of its documentation; those of its runs are in `Study`."""

FLAGS = {name: option.flag for name, option in SWEEP_OPTIONS.items() if option.flag}
"""The options of a sweep that the command line has."""
