"""Small motions with some velocities held at their values, by whatever forces that takes: a shaft that a motor drives.

c δv̇ = 0 by the force u = −(c S W x)/(c b):    A′ = (A − b c S W/(c b)) T,   x = T x′ the states with c W x = 0
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from polhode.analysis import names
from polhode.analysis.linear import Linear
from polhode.analysis.solve import INDEPENDENT
from polhode.errors import InputError, message
from polhode.linalg.rank import null_space


def with_speeds_held(small: Linear, held: Sequence[str]) -> Linear:
    """The linear equations in which velocities do not change.

    held  names of velocities, which are inputs: their forces hold them
    """
    for name in held:
        if name not in small.inputs:
            raise names.unknown("speeds held", name, small.inputs)
        small = _with_one_held(small, name)
    return small


def _with_one_held(small: Linear, name: str) -> Linear:
    row, b = small.all_names.index(f"v.{name}"), small.B[:, small.inputs.index(name)]
    c = small.W[row]
    gain = float(c @ b)
    if not gain > 0:
        fix = "Constraints hold it already, or nothing has inertia there."
        raise InputError(message(f"speed of '{name}' held", "no force moves it", f"∂v̇/∂τ = {gain:.3g}", "above 0", fix))
    push = small.W @ b / gain
    S = small.S - np.outer(push, small.S[row])
    B = small.B - np.outer(b, c @ small.B) / gain
    k = int(np.argmax(abs(c)))  # the state that goes
    kept = [i for i in range(len(c)) if i != k]
    T = np.eye(len(c))[:, kept]
    T[k] = -c[kept] / c[k]
    rows = [small.all_names.index(small.states[i]) for i in kept]
    U = small.ignorable
    if U.size:
        U = U @ null_space((c @ U)[None], INDEPENDENT, max(1.0, float(np.max(abs(U)))))
    return replace(
        small, A=(S @ small.W @ T)[rows], B=B[kept], C=small.C @ T, W=small.W @ T, S=S,
        states=tuple(small.states[i] for i in kept), ignorable=U[kept],
    )  # fmt: skip
