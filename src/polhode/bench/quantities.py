"""What is timed: the quantities, and how large a machine each is asked of."""

from dataclasses import dataclass

from polhode.system.catalogue.registry import QUANTITIES as RECORDS
from polhode.system.system import System


@dataclass(frozen=True)
class BenchQuantity:
    """One quantity.

    title      as the page names it
    method     of System
    arguments  how many of (q, v, v̇ or τ) it takes
    largest    velocities of the largest machine it is asked of: beyond, kernels take minutes to compile
    """

    title: str
    method: str
    arguments: int
    largest: int

    def shapes(self, system: System) -> list[tuple[int, ...]]:
        """The shapes of its results, of one state."""
        return [system._spec.shape(axes) for axes in RECORDS[self.method].results]


QUANTITIES = {
    "inverse": BenchQuantity("inverse", "inverse_dynamics", 3, 500),
    "forward": BenchQuantity("forward", "forward_dynamics", 3, 500),
    "mass": BenchQuantity("mass matrix", "mass_matrix", 1, 100),
    "christoffel": BenchQuantity("Christoffel", "christoffel", 1, 38),
    "derivatives": BenchQuantity("derivatives", "forward_dynamics_derivatives", 3, 50),
    "regressor": BenchQuantity("torque regressor", "torque_regressor", 3, 50),
}
"""By the name that `run_bench` and the command line take."""

OTHERS = {
    "threads": "two threads",
    "pendulums": "pendulums",
    "simulation": "simulation",
    "ensembles": "ensembles",
    "loops": "closed loops",
    "calls": "whole calls",
    "compile": "first runs",
}
"""What else can be asked for by name, beside the quantities of machines: its title. No machine belongs to it."""
