"""A study on a cluster of dask.distributed: a task computes a chunk, writes it, and writes its receipt.

A task is idempotent: where the receipt of its chunk fits the files, it hands that back. A worker that dies costs
its unfinished chunk; runs that always fail are found by halving, and left out with the reason.
"""

import socket
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from polhode.ensemble.on_disk.store import StudyStore
from polhode.ensemble.study import Study
from polhode.ensemble.study_runner import StudyRunner, failing_runs, runner_of
from polhode.errors import InputError, PolhodeError, escaped, message

RETRIES = 2
"""Retries of a task, before its runs are searched for those that fail."""

PATIENCE = 5.0
"""Seconds for a scheduler to answer."""

GREETING = 65536
"""Largest size of Dask's greeting in bytes; it has some hundreds."""

AHEAD = 4
"""Tasks submitted ahead for each worker, so that none waits for the next one."""


def client_of(scheduler: Any) -> Any:
    """A client of a scheduler's address, or the client itself; an InputError where there is none."""
    try:
        from distributed import Client
    except ImportError:
        fix = "Install it with: pip install 'polhode[ensemble]'."
        raise InputError(
            message("sweep, scheduler", "no cluster", "no package distributed", "dask.distributed", fix)
        ) from None
    if isinstance(scheduler, Client):
        return scheduler
    if not isinstance(scheduler, str):
        raise InputError(message("sweep, scheduler", "not a scheduler", repr(scheduler)[:60], "a Client, or tcp://…"))
    found: list[Any] = []

    def connect() -> None:
        try:
            _greeted(scheduler)
            found.append(Client(scheduler, timeout=f"{PATIENCE}s", set_as_default=False))
        except Exception as fault:
            found.append(fault)

    thread = threading.Thread(target=connect, daemon=True)  # whoever never answers keeps nobody waiting
    thread.start()
    thread.join(2 * PATIENCE)
    answer = found[0] if found else TimeoutError(f"no answer within {2 * PATIENCE:g} s")
    if not isinstance(answer, BaseException):
        return answer
    fix = "Start one with: dask scheduler; and workers with: dask worker ADDRESS"
    told = escaped(f"{scheduler}: {answer}"[:200])
    raise InputError(message("sweep, scheduler", "cannot be reached", told, "tcp://host:8786", fix))


def _greeted(address: str) -> None:
    """Raise a ConnectionError unless what listens at a plain address greets as Dask does, in some hundred bytes.

    Dask itself takes what any server sends for the length of a message, and waits for it or asks for as much memory.
    """
    kind, split, rest = address.partition("://")
    if split and kind != "tcp":
        return
    host, _, port = (rest if split else address).rpartition(":")
    if not port.isdecimal() or not host:
        return
    with socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE) as line:
        line.settimeout(PATIENCE / 2)
        heard = b""
        try:
            while len(heard) < 8 + GREETING and (piece := line.recv(4096)):
                heard += piece
                if len(heard) >= 8 and len(heard) >= 8 + int.from_bytes(heard[:8], "little"):
                    break
        except TimeoutError:
            pass
    if len(heard) < 8 or int.from_bytes(heard[:8], "little") > GREETING or b"compression" not in heard:
        raise ConnectionError(
            "something answers there, but it is not a Dask scheduler" if heard else "no greeting came"
        )


_made: dict[str, StudyRunner] = {}
"""The runner of the last study, by the study's identity: a worker compiles a study once."""


def _runner(study: Study) -> StudyRunner:
    key = f"{type(study).__qualname__} {study.identity}"
    if key not in _made:
        _made.clear()
        _made[key] = runner_of(study)
    return _made[key]


def task(study: Study, folder: str, number: int, skip: Mapping[int, str]) -> dict[str, Any]:
    """The receipt of a chunk, computed and written on a worker unless it is there already."""
    store = StudyStore(folder)
    found = None if skip else store.receipt(number)
    if found:
        return found
    begin = time.monotonic()
    block = _runner(study).run(*store.bounds(number), skip=skip)
    return store.write(number, block, {"seconds": time.monotonic() - begin, "device": _worker()})


def attempt(study: Study, first: int, last: int) -> int:
    """The number of runs, after a worker has run them: whether they can be run at all."""
    _runner(study).run(first, last)
    return last - first


def _worker() -> str:
    from distributed import get_worker

    try:
        return f"worker {get_worker().name}"
    except ValueError:
        return "worker"


def run_on_cluster(
    client: Any,
    study: Study,
    store: StudyStore,
    pending: Sequence[int],
    count: Callable[[Mapping[str, Any], str], None],
) -> None:
    """Run all pending chunks; `count` is called with each receipt."""
    from distributed import as_completed

    # the study goes with every task: what is scattered is lost with the last worker that holds it
    folder = str(store.folder.resolve())
    left = list(reversed(pending))
    numbers: dict[Any, int] = {}
    tried: dict[int, int] = {}

    def more() -> list[Any]:
        """The next tasks, a few for each worker at a time."""
        room = max(1, AHEAD * max(1, len(client.scheduler_info(n_workers=-1)["workers"]))) - len(numbers)
        new = []
        while left and room > 0:
            new.append(submit(left.pop(), {}))
            room -= 1
        return new

    def try_runs(first: int, last: int) -> BaseException | None:
        return _fault(client.submit(attempt, study, first, last, pure=False))

    def submit(number: int, skip: Mapping[int, str]) -> Any:
        future = client.submit(task, study, folder, number, skip, pure=False, retries=RETRIES)
        numbers[future] = number
        return future

    waiting = as_completed(more())
    for future in waiting:
        number = numbers.pop(future)
        fault = _fault(future)
        receipt = store.receipt(number) if fault else future.result()
        if receipt:  # written, though perhaps its worker died before it could tell
            count(receipt, receipt["device"])
        else:
            assert fault is not None
            if isinstance(fault, (OSError, PolhodeError)) and not isinstance(fault, InputError):
                raise fault
            tried[number] = tried.get(number, 0) + 1
            if tried[number] > RETRIES:
                raise PolhodeError(message(f"sweep, chunk {number}", "cannot be run", str(fault)[:200], "a receipt"))
            alone = failing_runs(try_runs, *store.bounds(number), fault)
            waiting.add(submit(number, alone))
        for new in more():
            waiting.add(new)


def _fault(future: Any) -> BaseException | None:
    """Why a task failed; None if its result is here."""
    try:
        future.result()
    except (Exception, CancelledError) as fault:
        return fault
    return None
