"""Plots of runs: `ph.plot.energies(run)`, `ph.plot.poinsot(run)`, …; each returns the figure and shows no window.

A run is what `ph.simulate` returns, or the path of a file that `polhode run` wrote.
"""

from polhode.show.plot.attitude import angles as angles, quaternions as quaternions, rates as rates
from polhode.show.plot.balance import drift as drift, energies as energies, momenta as momenta
from polhode.show.plot.comparison import compare as compare
from polhode.show.plot.kinds import KINDS as KINDS, fitting as fitting
from polhode.show.plot.machine import (
    joints as joints,
    multipliers as multipliers,
    phase as phase,
    reactions as reactions,
)
from polhode.show.plot.rolling import herpolhode as herpolhode, poinsot as poinsot, polhode as polhode
from polhode.show.plot.stability import eigenvalues as eigenvalues
