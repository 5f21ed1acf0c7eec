"""What is timed: the quantities, and how large a machine each is asked of."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.model import Model
from polhode.system.catalogue.registry import QUANTITIES as RECORDS
from polhode.system.system import System


@dataclass(frozen=True)
class BenchQuantity:
    """One quantity.

    title      as the page names it
    method     of System
    arguments  how many of (q, v, v̇ or τ) it takes
    largest    velocities of the largest machine it is asked of: beyond, kernels take minutes to compile
    of_body    whether it is asked of the last body, in local axes: by name, and into a given array by `System.bound`
    """

    title: str
    method: str
    arguments: int
    largest: int
    of_body: bool = False

    def shapes(self, system: System) -> list[tuple[int, ...]]:
        """The shapes of its results, of one state."""
        return [system._spec.shape(axes) for axes in RECORDS[self.method].results]

    def words(self, model: Model) -> tuple[str, ...]:
        """What it is asked of, as `System.source` takes it."""
        return (model.bodies[-1].name, "local") if self.of_body else ()

    def texts(self) -> tuple[str, str]:
        """Its call with a fresh result, and into a given one, as a user writes them in a loop."""
        given = "q, v, x"[: 3 * self.arguments - 2]
        if self.of_body:
            return f"system.{self.method}({given}, body, axes='local')", f"call({given}, point, out=out)"
        return f"system.{self.method}({given})", f"system.{self.method}({given}, out=out)"

    def call(self, system: System, *arguments: np.ndarray) -> Any:
        """Its result."""
        method = getattr(system, self.method)
        return method(*arguments, system.model.bodies[-1].name, axes="local") if self.of_body else method(*arguments)


QUANTITIES = {
    "inverse": BenchQuantity("inverse", "inverse_dynamics", 3, 500),
    "forward": BenchQuantity("forward", "forward_dynamics", 3, 500),
    "mass": BenchQuantity("mass matrix", "mass_matrix", 1, 200),
    "christoffel": BenchQuantity("Christoffel", "christoffel", 1, 50),
    "derivatives": BenchQuantity("derivatives", "forward_dynamics_derivatives", 3, 50),
    "regressor": BenchQuantity("torque regressor", "torque_regressor", 3, 50),
    "jacobian": BenchQuantity("local Jacobian", "jacobian", 1, 100, of_body=True),
    "com": BenchQuantity("Jacobian of the mass centre", "center_of_mass_jacobian", 1, 100),
    "centroidal": BenchQuantity("centroidal map", "centroidal_map", 1, 100),
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
