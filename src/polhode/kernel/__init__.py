"""A compiler of scalar graphs: it knows operations on numbers, and no mechanics."""

from polhode.kernel.differentiate import (
    jacobian as jacobian,
    pullback as pullback,
    pushforward as pushforward,
    sparsity as sparsity,
)
from polhode.kernel.evaluate import MEANING as MEANING, evaluate as evaluate
from polhode.kernel.graph import (
    OPERATIONS as OPERATIONS,
    RULES as RULES,
    SNAP as SNAP,
    Graph as Graph,
    Node as Node,
    Operation as Operation,
    Port as Port,
)
from polhode.kernel.replay import replay as replay
from polhode.kernel.structured import iterate as iterate, solve as solve
from polhode.kernel.trace import Builder as Builder, Condition as Condition, Symbol as Symbol, trace as trace
