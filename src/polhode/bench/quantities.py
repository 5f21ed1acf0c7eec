"""What is timed: the quantities, and how large a machine each is asked of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BenchQuantity:
    """One quantity.

    title      as the page names it
    method     of System
    arguments  how many of (q, v, v̇ or τ) it takes
    largest    velocities of the largest machine it is asked of: beyond, kernels take minutes to compile
    axes       of its results, each of length nv
    results    how many results it has
    """

    title: str
    method: str
    arguments: int
    largest: int
    axes: int = 1
    results: int = 1


QUANTITIES = {
    "inverse": BenchQuantity("inverse", "inverse_dynamics", 3, 500),
    "forward": BenchQuantity("forward", "forward_dynamics", 3, 500),
    "mass": BenchQuantity("mass matrix", "mass_matrix", 1, 100, axes=2),
    "christoffel": BenchQuantity("Christoffel", "christoffel", 1, 38, axes=3),
    "derivatives": BenchQuantity("derivatives", "forward_dynamics_derivatives", 3, 50, axes=2, results=3),
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
