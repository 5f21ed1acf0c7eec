"""A compiler of scalar graphs: it knows operations on numbers, and no mechanics.

trace               a Python function, run on symbols → `graph` (its `operations`); `compile_fault`: why not
structured, record  loops and shared functions within it; `routine`: loops over arrays
differentiate       derivatives of a graph, as graphs; `intervals`: bounds of one
replay, evaluate    a graph on any scalars; on doubles, what backends are tested against
schedule, hoist     a graph as machines run it; what follows from numbers alone, apart
backends/           graph → machine code, CUDA, C, Python: one file each
cache, lru_cache    kernels on disk, and in memory; `graph_bytes`, `graph_reader`: graphs that are to become some
ahead               kernels made while LLVM compiles others
interrupt, work_threads, stage_clock   Ctrl-C while others work; threads; where the time goes
"""

from polhode.kernel.differentiate import (
    jacobian as jacobian,
    pullback as pullback,
    pushforward as pushforward,
    sparsity as sparsity,
)
from polhode.kernel.evaluate import evaluate as evaluate
from polhode.kernel.graph import (
    RULES as RULES,
    SNAP as SNAP,
    Graph as Graph,
    Node as Node,
    Port as Port,
)
from polhode.kernel.operations import MEANING as MEANING, OPERATIONS as OPERATIONS, Operation as Operation
from polhode.kernel.replay import replay as replay
from polhode.kernel.structured import iterate as iterate
from polhode.kernel.trace import BooleanSymbol as BooleanSymbol, Builder as Builder, Symbol as Symbol, trace as trace
