"""Methods of System: regressors, matrices that multiply inertial parameters."""

from functools import cached_property
from typing import Any

import numpy as np

from polhode.dynamics.regressors import PARAMETERS, EnergyRegressors, inertial_parameters
from polhode.scalar import Array
from polhode.system.catalogue import regressors
from polhode.system.methods.base import ALIGNED, ORIGIN, QuantityMethods


class RegressorMethods(QuantityMethods):
    """The methods of inertial parameters: ten of each body, in the order of the bodies of the model.

    m, h = m c (x, y, z), I (xx, xy, yy, xz, yz, zz) about the origin of the body's frame, in its axes: kg, kg m, kg m²
    """

    @cached_property
    def inertial_parameters(self) -> np.ndarray:
        """The inertial parameters of all bodies (10 bodies,)."""
        tree = self._spec.tree
        rows = [inertial_parameters(tree.elements[tree.of_body[body.name]].inertia) for body in self.model.bodies]
        return np.array(rows, dtype=float).reshape(-1)

    @property
    def inertial_parameter_names(self) -> list[str]:
        """Their names, as in "hand.m", "hand.h_x", "hand.I_xx"."""
        return [f"{body.name}.{name}" for body in self.model.bodies for name in PARAMETERS]

    def torque_regressor(self, q: Array, v: Array, vd: Array, **options: Any) -> Any:
        """Y (..., nv, 10 bodies) with M v̇ + Coriolis + gravity = Y π; without armature, dampers and other forces."""
        return self._call(regressors.torque_regressor, options, q, v, vd)

    def body_regressor(self, q: Array, v: Array, vd: Array, body: str, **options: Any) -> Any:
        """(..., 6, 10): force and moment that a body alone needs for its motion, gravity taken off, in its own axes, at
        its origin, per its inertial parameters; of a frame, all in its axes, at its origin."""
        return self._call(regressors.body_regressor, options, q, v, vd, of=(body,))

    def energy_regressors(self, q: Array, v: Array, **options: Any) -> EnergyRegressors:
        """Rows (..., 10 bodies) of the kinetic energy of bodies and of their potential energy in gravity."""
        return self._call(regressors.energy_regressors, options, q, v)

    def momentum_regressor(self, q: Array, v: Array, **options: Any) -> Any:
        """(..., 6, 10 bodies): linear momentum and angular momentum about the world origin, world axes."""
        return self._call(regressors.momentum_regressor, options, q, v)

    def static_regressor(self, q: Array, **options: Any) -> Any:
        """(..., 3, 4 bodies): the mass centre per (m, h) of each body, at the mass that the machine has."""
        return self._call(regressors.static_regressor, options, q)

    def kinematic_regressor(
        self, q: Array, body: str, point: Array = ORIGIN, axes: str = ALIGNED, **options: Any
    ) -> Any:
        """(..., 6, 6 joints): motion of a point of a body, linear rows first, per small change of where each joint is
        in its parent: three of its position and three of its orientation, in the axes of the joint frame."""
        return self._call(regressors.kinematic_regressor, options, q, self._point(point), of=(body, axes))
