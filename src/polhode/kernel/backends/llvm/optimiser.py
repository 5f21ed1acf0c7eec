"""A process that optimises kernels: LLVM at its usual level, where nobody waits for it.

It is asked by a line of JSON, then bitcode, or a graph of which nobody wrote the text yet; it stores the object code of
each kernel in the cache and answers with it (`optimiser_process.py`). It ends with its input: a kernel in hand when its
user's process ends is finished and stored, so that the next process finds it. Another thread would not do: llvmlite
lets one thread at a time into LLVM, and a process that ends must not wait for it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, NamedTuple

from polhode.kernel.backends.llvm.object_parts import divided, joined
from polhode.kernel.backends.llvm.target_machine import machine
from polhode.kernel.cache import CachedKernel

START = """
import sys
sys.path[:0] = sys.argv[2:]
from polhode.kernel.backends.llvm import optimiser_process
getattr(optimiser_process, sys.argv[1])()
"""


class UnoptimisedKernel(NamedTuple):
    """A kernel to be optimised.

    name      its name in the cache; "": it is not kept there
    cache     $POLHODE_CACHE where it was made; None where there was none
    facts     what is stored beside its object code; of a graph how it is to be compiled
    body      its bitcode; or its graph (`graph_bytes.py`)
    is_graph  which of these
    """

    name: str
    cache: str | None
    facts: dict[str, Any]
    body: bytes
    is_graph: bool = False


class EndedError(ValueError):
    """A file ended before a message did.

    head  what was told of the message; None: not even that
    """

    def __init__(self, head: dict[str, Any] | None = None) -> None:
        super().__init__("the end")
        self.head = head


class OptimiserError(Exception):
    """The process that optimises kernels could not be started, ended too soon, or refused a kernel."""


def object_code(bitcode: bytes, level: int) -> bytes:
    """The object code of modules that were verified before."""
    import llvmlite.binding as llvm

    by = machine(level)
    return joined([by.emit_object(llvm.parse_bitcode(part, llvm.create_context())) for part in divided(bitcode)])


def started(function: str, answers: bool = True) -> "subprocess.Popen[bytes]":
    """A process that runs a function of `optimiser_process.py`.

    answers  whether somebody reads what it writes
    """
    import llvmlite

    found = [str(Path(__file__).resolve().parents[4]), str(Path(llvmlite.__path__[0]).parent)]
    command = [sys.executable, "-c", START, function, *dict.fromkeys(found)]
    told, session = subprocess.PIPE if answers else subprocess.DEVNULL, hasattr(os, "setsid")
    try:  # a session of its own: Ctrl-C is not meant for it
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=told,
            stderr=subprocess.DEVNULL,
            start_new_session=session,
        )
    except OSError as error:
        raise OptimiserError(f"no process for it: {error}") from error


class Optimiser:
    """The process, for the one that asks it."""

    def __init__(self) -> None:
        self._process = started("serve")
        self.is_asked = False
        """Whether it is, or is about to be, told what to optimise: then it ends the claim."""

    def optimised(self, asked: UnoptimisedKernel) -> CachedKernel:
        """A kernel with its object code, without bitcode."""
        given, told = self._process.stdin, self._process.stdout
        assert given is not None
        assert told is not None
        self.is_asked = True
        try:
            write_message(given, asked._asdict(), asked.body)
            answer, image = read_message(told)
        except (OSError, ValueError) as error:
            raise OptimiserError(f"its process ended ({self._process.poll()})") from error
        finally:
            self.is_asked = False
        if "error" in answer:
            raise OptimiserError(answer["error"])
        return CachedKernel(answer["facts"], image)

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


def write_message(file: IO[bytes], head: dict[str, Any], body: bytes) -> None:
    """A line that tells of the body, and the body."""
    head = {name: value for name, value in head.items() if name != "body"} | {"size": len(body)}
    left = memoryview(json.dumps(head).encode() + b"\n" + body)
    while left:
        left = left[file.write(left) :]
    file.flush()


def read_message(file: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """What `write_message` wrote; an EndedError where the file ends before."""
    line = file.readline()
    if not line.endswith(b"\n"):
        raise EndedError
    head, body = json.loads(line), bytearray()
    while len(body) < head["size"]:
        more = file.read(head["size"] - len(body))
        if not more:
            raise EndedError(head)
        body += more
    return head, bytes(body)
