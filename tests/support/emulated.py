"""CUDA C run as C, one thread after the other: what a kernel for a GPU computes, without one."""

import ctypes
import subprocess
from math import nan

import numpy as np

from polhode.kernel.backends.cuda import cuda_source

GCC = ["gcc", "-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
DTYPE = {"double": np.float64, "float": np.float32}

SHIM = """\
#include <math.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__
#define sincos(x, s, c) (*(s) = sin(x), *(c) = cos(x))
#define sincosf(x, s, c) (*(s) = sinf(x), *(c) = cosf(x))
static struct { unsigned x, y, z; } blockDim, blockIdx, threadIdx;
void be(unsigned threads, unsigned block, unsigned thread)
{
    blockDim.x = threads;
    blockIdx.x = block;
    threadIdx.x = thread;
}
"""
"""What makes CUDA C of C: one thread at a time, `be` says which."""

THREADS = 32


class Emulated:
    """A kernel compiled as C, launched like one of CUDA: rows of states, steps between rows."""

    def __init__(self, graph, folder, real="double"):
        self.graph, self.dtype = graph, DTYPE[real]
        source = cuda_source(graph, "kernel", real)
        text = folder / f"{len(list(folder.iterdir()))}.c"  # a name of its own: a library is loaded once
        library = text.with_suffix(".so")
        text.write_text(SHIM + source.replace('extern "C" ', ""))
        done = subprocess.run([*GCC, text, "-o", library, "-lm"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.library = ctypes.CDLL(str(library))

    def __call__(self, n, **values):
        """The results for n states; arguments without a batch axis are the same for all."""
        arrays, steps = [], []
        for port in self.graph.inputs:
            array = np.array(values[port.name], self.dtype)
            arrays.append(array)
            steps.append(len(port.nodes) if array.ndim > len(port.shape) else 0)
        results = [np.full((n, len(port.nodes) + 2), nan, self.dtype) for port in self.graph.outputs]
        self.launch(n, [*arrays, *results], [*steps, *(result.shape[1] for result in results)])
        assert all(np.isnan(result[:, -2:]).all() for result in results), "written beyond the row"
        ports = zip(self.graph.outputs, results, strict=True)
        return self.graph.result([result[:, :-2].reshape(n, *port.shape) for port, result in ports])

    def launch(self, n, arrays, steps):
        """All threads of as many blocks as n states need, and of one more."""
        pairs = [(ctypes.c_void_p(a.ctypes.data), ctypes.c_longlong(s)) for a, s in zip(arrays, steps, strict=True)]
        given = [ctypes.c_longlong(n), *(x for pair in pairs for x in pair)]
        for block in range(n // THREADS + 2):
            for thread in range(THREADS):
                self.library.be(THREADS, block, thread)
                self.library.kernel(*given)
