"""The devices that compute the runs of a study: this processor, a GPU, or several."""

from dataclasses import dataclass
from typing import Any

from polhode.ensemble.gpu import GpuBatchRun, GpuBatchRuns
from polhode.ensemble.study_runner import StudyRunner
from polhode.errors import CompileError, InputError, message
from polhode.kernel.backends.cuda import cupy

DEVICES, PRECISIONS = ("cpu", "cuda", "auto"), ("double", "single")


@dataclass(frozen=True)
class Device:
    """A device that computes batches of runs.

    batch      has `run` as `BatchRun` has it; None: that of the runner itself
    most_runs  runs that it takes together; 0: any number
    note       what a user should know, "" for nothing
    count      GPUs that compute batches side by side
    """

    name: str
    batch: Any = None
    most_runs: int = 0
    note: str = ""
    count: int = 1


def device_named(name: str, precision: str, runner: StudyRunner) -> Device:
    """The device of a name, or an error that says why there is none; "auto" takes what there is.

    "cuda" is every GPU that CUDA shows, "cuda:1" one of them, "cuda:0,2" two.
    """
    kind, _, listed = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind not in DEVICES or (listed and kind != "cuda") or name.endswith(":"):
        expected = f'{", ".join(DEVICES)}, or numbers of GPUs as in "cuda:0" and "cuda:0,1"'
        raise InputError(message("sweep, device", "no such device", repr(name), expected))
    if precision not in PRECISIONS:
        raise InputError(message("sweep, precision", "no such precision", repr(precision), " or ".join(PRECISIONS)))
    if precision == "single" and kind == "cpu":
        fix = 'Lanes of this processor are double; single is for a GPU, device="cuda".'
        raise InputError(message("sweep, precision", "contradictory options", "single on the cpu", "double", fix))
    if kind == "cpu":
        return Device("cpu")
    if runner.single:
        if kind == "auto":
            return Device("cpu", note=f"no GPU is used, the processor follows runs one by one: {runner.single}")
        fix = 'Take device="cpu", which follows such runs one by one, or an element without events.'
        raise InputError(message("sweep, device", "not on a GPU", runner.single, "no events of force elements", fix))
    try:
        numbers = _gpus(listed)
    except CompileError as fault:
        if kind == "cuda":
            raise
        return Device("cpu", note=f"no GPU is used, the processor runs: {str(fault).splitlines()[1].strip()}")
    first = GpuBatchRun(runner.batch, precision, numbers[0])
    batch = first if len(numbers) == 1 else GpuBatchRuns(first, numbers)
    return Device(batch.name, batch, batch.most_runs(runner.timing), count=len(numbers))


def _gpus(listed: str) -> list[int]:
    """The numbers of GPUs in a text such as "0,1"; all of them where it is empty."""
    count = cupy().cuda.runtime.getDeviceCount()
    if not listed:
        return list(range(count))
    numbers = [int(part) if part.strip().isdecimal() else -1 for part in listed.split(",")]
    if not all(0 <= number < count for number in numbers):
        expected = "0" if count == 1 else f"numbers from 0 to {count - 1}"
        raise InputError(message("sweep, device", "no such GPU", repr(f"cuda:{listed}"), f"{expected}, with commas"))
    return numbers
