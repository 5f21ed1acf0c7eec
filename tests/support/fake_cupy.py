"""A stand-in for CuPy where there is no GPU: NumPy behind a wall, kernels compiled as C and run thread by thread.

It has what `polhode.kernel.backends.cuda` uses, and like CuPy it refuses to become an array of NumPy by itself.
"""

import atexit
import ctypes
import subprocess
import tempfile
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

__version__ = "0"


FREE = 2**20
"""Bytes of memory of the device."""


class Event:
    """A moment."""

    def record(self):
        self.time = time.perf_counter()

    def synchronize(self):
        """Nothing runs on."""


cuda = SimpleNamespace(
    runtime=SimpleNamespace(
        memGetInfo=lambda: (FREE, FREE),
        getDeviceCount=lambda: 1,
        getDevice=lambda: 0,
        getDeviceProperties=lambda device: {"name": b"a stand-in"},
    ),
    Event=Event,
    nvrtc=SimpleNamespace(getVersion=lambda: (12, 0)),
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
        self.data[_plain(place)] = value.data

    def astype(self, dtype, copy=True):
        return ndarray(self.data.astype(dtype, copy=copy)) if copy or dtype != self.dtype else self

    def get(self, out=None):
        if out is None:
            return self.data.copy()
        assert out.flags.c_contiguous
        assert (out.shape, out.dtype) == (self.shape, self.dtype)
        out[...] = self.data
        return out


def _plain(place):
    """A place in an array, those of the stand-in as NumPy's."""
    return place.data if isinstance(place, ndarray) else place


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


class RawModule:
    """Source, compiled as C."""

    def __init__(self, code, options):
        self.options = options
        text = Path(_folder.name) / f"{next(_numbers)}.c"  # a name of its own: a library is loaded once
        library = text.with_suffix(".so")
        text.write_text(SHIM + code.replace('extern "C" ', ""))
        done = subprocess.run([*GCC, text, "-o", library, "-lm"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.library = ctypes.CDLL(str(library))

    def get_function(self, name):
        kernel = self.library[name]

        def launch(grid, block, given):
            launches.append((name, self.options, grid, block))
            passed = [
                ctypes.c_void_p(x.data.ctypes.data) if isinstance(x, ndarray) else ctypes.c_longlong(x) for x in given
            ]
            for block_number in range(grid[0]):
                for thread in range(block[0]):
                    self.library.be(block[0], block_number, thread)
                    kernel(*passed)

        return launch
