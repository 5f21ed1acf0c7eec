"""The devices that compute the runs of a study: this processor, or a GPU."""

from dataclasses import dataclass
from typing import Any

from polhode.ensemble.gpu import GpuBatchRun
from polhode.ensemble.study_runner import StudyRunner
from polhode.errors import CompileError, InputError, message

DEVICES, PRECISIONS = ("cpu", "cuda", "auto"), ("double", "single")


@dataclass(frozen=True)
class Device:
    """A device that computes batches of runs.

    batch      has `run` as `BatchRun` has it; None: that of the runner itself
    most_runs  runs that it takes together; 0: any number
    note       what a user should know, "" for nothing
    """

    name: str
    batch: Any = None
    most_runs: int = 0
    note: str = ""


def device_named(name: str, precision: str, runner: StudyRunner) -> Device:
    """The device of a name, or an error that says why there is none; "auto" takes what there is."""
    if name not in DEVICES:
        raise InputError(message("sweep, device", "no such device", repr(name), ", ".join(DEVICES)))
    if precision not in PRECISIONS:
        raise InputError(message("sweep, precision", "no such precision", repr(precision), " or ".join(PRECISIONS)))
    if precision == "single" and name == "cpu":
        fix = 'Lanes of this processor are double; single is for a GPU, device="cuda".'
        raise InputError(message("sweep, precision", "contradictory options", "single on the cpu", "double", fix))
    if name == "cpu":
        return Device("cpu")
    if runner.single:
        if name == "auto":
            return Device("cpu", note=f"no GPU is used, the processor follows runs one by one: {runner.single}")
        fix = 'Take device="cpu", which follows such runs one by one, or an element without events.'
        raise InputError(message("sweep, device", "not on a GPU", runner.single, "no events of force elements", fix))
    try:
        batch = GpuBatchRun(runner.batch, precision)
    except CompileError as fault:
        if name == "cuda":
            raise
        return Device("cpu", note=f"no GPU is used, the processor runs: {str(fault).splitlines()[1].strip()}")
    return Device(batch.name, batch, batch.most_runs(runner.timing))
