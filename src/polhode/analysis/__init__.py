"""Rest, steady motion and small motions about it: equilibria, relative equilibria, linear equations, modes."""

from polhode.analysis.linear import Linear as Linear, SecondOrder as SecondOrder, linearize as linearize
from polhode.analysis.modes import Mode as Mode
from polhode.analysis.steady import (
    Steady as Steady,
    equilibrium as equilibrium,
    steady_motion as steady_motion,
)
