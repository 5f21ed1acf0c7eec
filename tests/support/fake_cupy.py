"""A stand-in for CuPy where there is no GPU: NumPy behind a wall, kernels compiled as C and run thread by thread.

It has what `polhode.kernel.backends.cuda` uses, and like CuPy it refuses to become an array of NumPy by itself.
"""

import ast
import atexit
import ctypes
import subprocess
import tempfile
import threading
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from emulated import GCC, SHIM

_folder = tempfile.TemporaryDirectory(prefix="polhode-fake-cupy-")
atexit.register(_folder.cleanup)
_numbers = count()

launches = []
"""Of every kernel launched: its name, the options it was compiled with, grid and block."""

devices = set()
"""The devices that kernels were launched on."""

__version__ = "0"


FREE = 2**20
"""Bytes of memory of the device."""


class Event:
    """A moment."""

    def record(self):
        self.time = time.perf_counter()

    def synchronize(self):
        """Nothing runs on."""


DEVICES = 1
"""How many devices there are; all have the same memory."""

current = threading.local()

_thread_number = threading.Lock()
"""A library holds one thread number: one launch at a time."""


class Device:
    """A device, the current one of a thread inside `with`."""

    compute_capability = "90"

    def __init__(self, number=0):
        assert 0 <= number < DEVICES
        self.number = number

    def __enter__(self):
        self.before, current.device = _current(), self.number

    def __exit__(self, *_):
        current.device = self.before


def _current():
    return getattr(current, "device", 0)


compiled = []
"""Every text that was compiled, as C."""


class NVRTCError(RuntimeError):
    """What the compiler refuses."""


class _Compiler:
    """NVRTC's calls: a program is its text, its machine code a library of this machine."""

    NVRTCError = NVRTCError

    def getVersion(self):
        return (0, 0)  # of no compiler: a cache of kernels never takes this machine code for a GPU's

    def createProgram(self, text, name, headers, names):
        assert (headers, names) == ((), ())
        return SimpleNamespace(text=text)

    def compileProgram(self, program, options):
        if UNKNOWN in options:
            raise NVRTCError(UNKNOWN)
        program.image = _library(program.text) + b"\n" + repr(options).encode()

    def getCUBIN(self, program):
        return program.image

    def destroyProgram(self, program):
        program.text = None


UNKNOWN = None
"""An option that the compiler refuses."""


def _library(code):
    """C code as the bytes of a library."""
    compiled.append(code)
    text = Path(_folder.name) / f"{next(_numbers)}.c"
    library = text.with_suffix(".so")
    text.write_text(SHIM + code.replace('extern "C" ', ""))
    done = subprocess.run([*GCC, text, "-o", library, "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return library.read_bytes()


class Module:
    """Machine code, loaded."""

    def load(self, image):
        code, _, options = image.rpartition(b"\n")
        self.options = tuple(x for x in ast.literal_eval(options.decode()) if not x.startswith("--gpu-architecture="))
        place = Path(_folder.name) / f"{next(_numbers)}.so"  # a name of its own: a library is loaded once
        place.write_bytes(code)
        self.library = ctypes.CDLL(str(place))
        self.device = _current()

    def get_function(self, name):
        kernel = self.library[name]

        def launch(grid, block, given):
            assert _current() == self.device
            devices.add(self.device)
            launches.append((name, self.options, grid, block))
            passed = [
                ctypes.c_void_p(x.data.ctypes.data) if isinstance(x, ndarray) else ctypes.c_longlong(x) for x in given
            ]
            with _thread_number:
                for block_number in range(grid[0]):
                    for thread in range(block[0]):
                        self.library.be(block[0], block_number, thread)
                        kernel(*passed)

        return launch


class RawModule(Module):
    """Source, compiled for the nearest device that is known."""

    def __init__(self, code, options):
        self.load(_library(code) + b"\n" + repr(options).encode())


cuda = SimpleNamespace(
    runtime=SimpleNamespace(
        memGetInfo=lambda: (FREE, FREE),
        getDeviceCount=lambda: DEVICES,
        getDevice=_current,
        getDeviceProperties=lambda device: {"name": b"a stand-in"},
    ),
    Device=Device,
    Event=Event,
    function=SimpleNamespace(Module=Module),
    nvrtc=_Compiler(),
    get_elapsed_time=lambda begin, end: 1e3 * (end.time - begin.time),
)


class ndarray:
    """An array "on the GPU"."""

    def __init__(self, data):
        self.data = data

    shape = property(lambda self: self.data.shape)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    dtype = property(lambda self: self.data.dtype)
    flags = property(lambda self: self.data.flags)

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __getitem__(self, place):
        return ndarray(self.data[_plain(place)])

    def __setitem__(self, place, value):
        assert not isinstance(value, np.ndarray), "an array of NumPy is not sent by itself"
        self.data[_plain(place)] = _plain(value)

    def __eq__(self, other):
        return ndarray(self.data == _plain(other))

    def __ge__(self, other):
        return ndarray(self.data >= _plain(other))

    def __and__(self, other):
        return ndarray(self.data & other.data)

    def __invert__(self):
        return ndarray(~self.data)

    def __bool__(self):
        return bool(self.data)

    __hash__ = None

    def all(self):
        return ndarray(self.data.all())

    def astype(self, dtype, copy=True):
        return ndarray(self.data.astype(dtype, copy=copy)) if copy or dtype != self.dtype else self

    def get(self, out=None):
        if out is None:
            return self.data.copy()
        assert out.flags.c_contiguous
        assert (out.shape, out.dtype) == (self.shape, self.dtype)
        out[...] = self.data
        return out


def _plain(value):
    """A place in an array, or a value: those of the stand-in as NumPy's."""
    return value.data if isinstance(value, ndarray) else value


def asarray(value, dtype=None):
    return value if isinstance(value, ndarray) else ndarray(np.array(value, dtype))


def empty(shape, dtype):
    return ndarray(np.full(shape, np.nan, dtype))


def ascontiguousarray(array):
    return ndarray(np.asarray(array.data, order="C"))


def broadcast_to(array, shape):
    return ndarray(np.broadcast_to(array.data, shape))


def may_share_memory(a, b):
    return np.may_share_memory(a.data, b.data)
