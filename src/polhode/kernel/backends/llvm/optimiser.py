"""A process that optimises kernels: LLVM at its usual level, where nobody waits for it.

It reads kernels from its input (a line of JSON, then bitcode), stores the object code of each in the cache and writes
it to its output. It ends with its input: a kernel in hand when its user's process ends is finished and stored, so that
the next process finds it; nothing else outlives that process. Another thread would not do: llvmlite lets one thread at
a time into LLVM, and a process that ends must not wait for it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, NamedTuple

from polhode.kernel.backends.llvm.object_parts import divided, joined
from polhode.kernel.backends.llvm.target_machine import machine
from polhode.kernel.cache import CachedKernel, release, save

NICE = 10
"""How much less of a processor that others want it gets, on the scale of `nice`."""

START = "import sys; sys.path[:0] = sys.argv[1:]; from polhode.kernel.backends.llvm.optimiser import serve; serve()"


class UnoptimisedKernel(NamedTuple):
    """A kernel to be optimised.

    name   its name in the cache; "": it is not kept there
    cache  $POLHODE_CACHE where it was made; None where there was none
    facts  what is stored beside its object code
    """

    name: str
    cache: str | None
    facts: dict[str, Any]
    bitcode: bytes


class OptimiserError(Exception):
    """The process that optimises kernels could not be started, ended too soon, or refused a kernel."""


def object_code(bitcode: bytes, level: int) -> bytes:
    """The object code of modules that were verified before."""
    import llvmlite.binding as llvm

    by = machine(level)
    return joined([by.emit_object(llvm.parse_bitcode(part, llvm.create_context())) for part in divided(bitcode)])


class Optimiser:
    """The process, for the one that asks it."""

    def __init__(self) -> None:
        import llvmlite

        found = [str(Path(__file__).resolve().parents[4]), str(Path(llvmlite.__path__[0]).parent)]
        command = [sys.executable, "-c", START, *dict.fromkeys(found)]
        pipe, session = subprocess.PIPE, hasattr(os, "setsid")  # a session of its own: Ctrl-C is not meant for it
        try:
            self._process = subprocess.Popen(
                command, bufsize=0, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=session
            )
        except OSError as error:
            raise OptimiserError(f"no process for it: {error}") from error

    def optimised(self, asked: UnoptimisedKernel) -> bytes:
        """The object code of a kernel."""
        given, told = self._process.stdin, self._process.stdout
        assert given is not None
        assert told is not None
        try:
            _write(given, asked._asdict(), asked.bitcode)
            answer, image = _read(told)
        except (OSError, ValueError) as error:
            raise OptimiserError(f"its process ended ({self._process.poll()})") from error
        if "error" in answer:
            raise OptimiserError(answer["error"])
        return image

    def end(self) -> None:
        """Ask nothing more of it: it ends with its input, when it has finished what it has in hand."""
        self._let_go()
        self._process.wait()

    def leave(self) -> None:
        """The same, in a process that does not wait for it: one that ends, or one that was forked."""
        self._let_go()
        self._process.returncode = 0

    def _let_go(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


def _write(file: IO[bytes], head: dict[str, Any], body: bytes) -> None:
    """A line that tells of the body, and the body."""
    head = {name: value for name, value in head.items() if name != "bitcode"} | {"size": len(body)}
    left = memoryview(json.dumps(head).encode() + b"\n" + body)
    while left:
        left = left[file.write(left) :]
    file.flush()


def _read(file: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """What `_write` wrote; a ValueError where the file ends before."""
    line = file.readline()
    if not line.endswith(b"\n"):
        raise ValueError("the end")
    head, body = json.loads(line), bytearray()
    while len(body) < head["size"]:
        more = file.read(head["size"] - len(body))
        if not more:
            raise ValueError("the end")
        body += more
    return head, bytes(body)


def serve() -> None:
    """Optimise kernels until the input ends: the whole program of the process."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    given, told = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            head, bitcode = _read(given)
        except ValueError:
            return
        try:
            answer, image = {}, _stored(UnoptimisedKernel(head["name"], head["cache"], head["facts"], bitcode))
        except RuntimeError as error:
            answer, image = {"error": f"LLVM: {error}"}, b""
        try:
            _write(told, answer, image)
        except OSError:  # nobody there any more
            return


def _stored(asked: UnoptimisedKernel) -> bytes:
    """The object code of a kernel, which then is in the cache."""
    try:
        image = object_code(asked.bitcode, asked.facts["level"])
        if asked.name:
            save(asked.name, CachedKernel(asked.facts, image), asked.cache, make=False)
        return image
    finally:
        release(asked.name, asked.cache)
