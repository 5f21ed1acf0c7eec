"""A compiler of scalar graphs: it knows operations on numbers, and no mechanics."""

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
