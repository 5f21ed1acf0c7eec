"""What is timed: the quantities, and how large a machine each is asked of."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.model import Model
from polhode.system.system import System


@dataclass(frozen=True)
class BenchQuantity:
    """One quantity.

    title      as the page names it
    method     of System
    arguments  how many of (q, v, v̇ or τ) it takes
    largest    velocities of the largest machine it is asked of: beyond, kernels take minutes to compile
    axes       of its results, each of length nv
    results    how many results it has
    rows       of each result, before those axes; 0: it has none
    of_body    whether it is asked of the last body, in local axes; in races by `System.bound`
    """

    title: str
    method: str
    arguments: int
    largest: int
    axes: int = 1
    results: int = 1
    rows: int = 0
    of_body: bool = False

    def words(self, model: Model) -> tuple[str, ...]:
        """What it is asked of, as `System.source` takes it."""
        return (model.bodies[-1].name, "local") if self.of_body else ()

    def text(self) -> str:
        """Its call, as a user writes it in a loop, without the closing bracket."""
        head = "call" if self.of_body else f"system.{self.method}"
        return f"{head}({'q, v, x'[: 3 * self.arguments - 2]}{', point' * self.of_body}"

    def call(self, system: System, *arguments: np.ndarray) -> Any:
        """Its result."""
        method = getattr(system, self.method)
        return method(*arguments, system.model.bodies[-1].name, axes="local") if self.of_body else method(*arguments)

    def shape(self, nv: int) -> tuple[int, ...]:
        """The shape of each result."""
        return (*[self.rows] * bool(self.rows), *[nv] * self.axes)


QUANTITIES = {
    "inverse": BenchQuantity("inverse", "inverse_dynamics", 3, 500),
    "forward": BenchQuantity("forward", "forward_dynamics", 3, 500),
    "mass": BenchQuantity("mass matrix", "mass_matrix", 1, 100, axes=2),
    "christoffel": BenchQuantity("Christoffel", "christoffel", 1, 38, axes=3),
    "derivatives": BenchQuantity("derivatives", "forward_dynamics_derivatives", 3, 50, axes=2, results=3),
    "jacobian": BenchQuantity("local Jacobian", "jacobian", 1, 100, rows=6, of_body=True),
    "com": BenchQuantity("Jacobian of the mass centre", "center_of_mass_jacobian", 1, 100, rows=3),
    "centroidal": BenchQuantity("centroidal map", "centroidal_map", 1, 100, rows=6),
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
