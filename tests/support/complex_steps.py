"""Derivatives by complex steps: exact to rounding, and independent of dual numbers and of graphs."""

import numpy as np

from polhode.dynamics import kinematics
from polhode.scalar import Vec

STEP = 1e-30


def along_q(tree, function, q):
    """The derivatives of a function of q along the tangent directions, on a last axis."""
    steps = [np.array(kinematics.rate(tree, Vec(q), Vec(e))) for e in np.eye(tree.nv)]
    return np.stack([np.imag(function(q + 1j * STEP * step)) / STEP for step in steps], axis=-1)


def along_v(function, v):
    """The derivatives of a function of a vector by its components, on a last axis."""
    return np.stack([np.imag(function(v + 1j * STEP * e)) / STEP for e in np.eye(len(v))], axis=-1)
