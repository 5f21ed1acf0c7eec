"""Graph → CUDA C: one state per thread, every operation as in C (`c.TEXT`), in the order of the graph."""

from polhode.kernel.backends.c import TEXT as TEXT, check, header, identifiers, routine_sources, statements
from polhode.kernel.graph import Graph

CONSTANTS = """\
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fc00000)
#endif

"""
"""What NVRTC, which has no <math.h>, does not know."""


def cuda_source(graph: Graph, name: str, real: str = "double") -> str:
    """A graph as CUDA C: the kernel `name` for n states, and a device function `name_state` for one.

        name(n, array, step, array, step, …)      arguments, then results, in the order of the graph

    An array holds one row for each state, its last index running fastest, and `step` numbers from the start
    of a row to that of the next: 0 gives every state the same row. Launch it with n threads or more,
    in blocks of one dimension. Results may lie where arguments lay if their steps are equal. NVRTC
    keeps the fused operations as they are in the graph, and makes no others, with --fmad=false.

    graph  products are fused if they are in it (`schedule.fused`)
    name   of the kernel
    real   "double" or "float"
    """
    check(name, real)
    own = [name, state := f"{name}_state", "n", "i"]
    names = identifiers([port.name for port in (*graph.inputs, *graph.outputs)], own)
    steps = identifiers([f"{array}_step" for array in names], [*own, *names])
    kinds = [f"const {real}" if k < len(graph.inputs) else real for k in range(len(names))]
    arrays = [f"{kind} *{array}" for kind, array in zip(kinds, names, strict=True)]
    rows = ", ".join(f"{array} + i * {step}" for array, step in zip(names, steps, strict=True))
    body = "\n".join(f"    {line}" for line in statements(graph, names, real, sincos=True))
    functions = routine_sources(graph, real, "static __device__ void", sincos=True)
    constants = CONSTANTS if any(word in body + functions for word in ("INFINITY", "NAN")) else ""
    strided = [f"{array}, long long {step}" for array, step in zip(arrays, steps, strict=True)]
    return f"""{header(graph, names, "One state per thread; a step is the length of a row, or 0.")}
{constants}{functions}static __device__ __forceinline__ void {state}({", ".join(arrays)})
{{
{body}
}}

extern "C" __global__ void {name}({", ".join(["long long n", *strided])})
{{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{
        {state}({rows});
    }}
}}
"""
