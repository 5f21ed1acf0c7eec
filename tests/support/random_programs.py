"""Random functions of scalars: lists of instructions, run on numbers or symbols."""

from hypothesis import strategies as st

from polhode import scalar
from polhode.scalar import Vec

OPERATIONS = ("+", "-", "*", "/", "neg", "abs", "where", "sqrt")


@st.composite
def programs(draw, operations=OPERATIONS):
    """A random function of four scalars, as a list of instructions."""
    steps = []
    for k in range(4, draw(st.integers(8, 40))):
        op = draw(st.sampled_from(operations))
        steps.append((op, *(draw(st.integers(0, k - 1)) for _ in range(3)), draw(st.floats(-2, 2, width=32))))
    return steps


def run(steps, x, results=4):
    """The last results of the function, on any scalars."""
    values = list(x)
    for op, i, j, k, c in steps:
        a, b, d = values[i], values[j], values[k]
        if op == "where":
            values.append(scalar.where(a < b, d, c))
        elif op == "sqrt":
            values.append(scalar.sqrt(a * a + 0.5))
        elif op in ("neg", "abs"):
            values.append(-a if op == "neg" else abs(a))
        else:
            rules = {"+": a + b * c, "-": a * b - d, "*": a * c, "/": a / (1.5 + b * b)}
            values.append(rules[op])
    return Vec(values[-results:])
