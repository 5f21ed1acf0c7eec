"""The slider-crank with a flexible rod in Exudyn: geometrically exact beams, or cables in absolute nodal coordinates.

In the plane, with Exudyn's own planar nodes, beams and joints: its fastest way.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import exudyn
import numpy as np
from exudyn import itemInterface as items

NEWTON = 1e-8
"""Relative tolerance of Newton's method: Exudyn's own default."""


class RodMechanism(NamedTuple):
    """A crank that keeps its speed, a flexible rod, a slider: SI units; `axial` … `inertia` of a metre of the rod."""

    crank: float
    rod: float
    speed: float
    axial: float
    bending: float
    shear: float
    mass: float
    inertia: float
    slider: float


class ExudynRod:
    """Exudyn with the mechanism, stretched out along x, moving as a rigid one.

    kind      "GE": geometrically exact beams; "ANCF": cables, without shear and rotary inertia
    elements  an even number
    """

    def __init__(self, facts: RodMechanism, kind: str, elements: int) -> None:
        self.name, self.facts, self.elements = f"Exudyn, {kind}", facts, elements
        self.container = exudyn.SystemContainer()
        mbs = self.mbs = self.container.AddSystem()
        ground = mbs.AddObject(items.ObjectGround())
        crank = mbs.AddNode(
            items.NodeRigidBody2D(referenceCoordinates=[0, 0, 0], initialVelocities=[0, 0, facts.speed])
        )
        body = mbs.AddObject(items.ObjectRigidBody2D(nodeNumber=crank, mass=1.0, inertia=1e6))
        make = self._exact if kind == "GE" else self._cables
        self.nodes = make()
        slider = mbs.AddNode(items.NodePoint2D(referenceCoordinates=[facts.crank + facts.rod, 0]))
        mbs.AddObject(items.ObjectMassPoint2D(nodeNumber=slider, physicsMass=facts.slider))
        at = items.MarkerBodyPosition
        self._hinge(mbs.AddMarker(at(bodyNumber=ground)), mbs.AddMarker(at(bodyNumber=body)))
        pin = mbs.AddMarker(at(bodyNumber=body, localPosition=[facts.crank, 0, 0]))
        ends = [mbs.AddMarker(items.MarkerNodePosition(nodeNumber=self.nodes[k])) for k in (0, -1)]
        self._hinge(pin, ends[0])
        self._hinge(ends[1], mbs.AddMarker(items.MarkerNodePosition(nodeNumber=slider)))
        fixed = mbs.AddNode(items.NodePointGround())
        rail = [
            mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=n, coordinate=c)) for n, c in ((fixed, 0), (slider, 1))
        ]
        mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=rail))
        watched = (self.nodes[0], self.nodes[elements // 2], self.nodes[-1])
        place = exudyn.OutputVariableType.Position
        self.sensors = [
            mbs.AddSensor(
                items.SensorNode(nodeNumber=n, storeInternal=True, writeToFile=False, outputVariableType=place)
            )
            for n in watched
        ]
        mbs.Assemble()

    def _hinge(self, first: Any, second: Any) -> None:
        self.mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[first, second]))

    def _speed(self, part: float) -> tuple[float, float]:
        """The velocity across the rod, and its rate of rotation, as a rigid rod moves."""
        tip = self.facts.crank * self.facts.speed
        return tip * (1 - part), -tip / self.facts.rod

    def _exact(self) -> list[Any]:
        facts, n = self.facts, self.elements
        nodes = []
        for k in range(n + 1):
            across, turning = self._speed(k / n)
            x = facts.crank + facts.rod * k / n
            node = items.NodeRigidBody2D(referenceCoordinates=[x, 0, 0], initialVelocities=[0, across, turning])
            nodes.append(self.mbs.AddNode(node))
        for pair in pairwise(nodes):
            self.mbs.AddObject(
                items.ObjectBeamGeometricallyExact2D(
                    nodeNumbers=list(pair), physicsLength=facts.rod / n, physicsMassPerLength=facts.mass,
                    physicsCrossSectionInertia=facts.inertia, physicsBendingStiffness=facts.bending,
                    physicsAxialStiffness=facts.axial, physicsShearStiffness=facts.shear,
                )
            )  # fmt: skip
        return nodes

    def _cables(self) -> list[Any]:
        facts, n = self.facts, self.elements
        nodes = []
        for k in range(n + 1):
            across, turning = self._speed(k / n)
            x = facts.crank + facts.rod * k / n
            node = items.NodePoint2DSlope1(referenceCoordinates=[x, 0, 1, 0], initialVelocities=[0, across, 0, turning])
            nodes.append(self.mbs.AddNode(node))
        for pair in pairwise(nodes):
            self.mbs.AddObject(
                items.ObjectANCFCable2D(
                    nodeNumbers=list(pair), physicsLength=facts.rod / n, physicsMassPerLength=facts.mass,
                    physicsBendingStiffness=facts.bending, physicsAxialStiffness=facts.axial,
                )
            )  # fmt: skip
        return nodes

    def settings(self, duration: float, steps: int, samples: int) -> Any:
        """Generalised-α with equal steps, modified Newton; nothing is written or printed."""
        found: Any = exudyn.SimulationSettings()
        time = found.timeIntegration
        time.numberOfSteps, time.endTime, time.verboseMode = steps, duration, 0
        time.newton.useModifiedNewton, time.newton.relativeTolerance = True, NEWTON
        time.generalizedAlpha.spectralRadius = 0.9
        time.generalizedAlpha.computeInitialAccelerations = True
        found.solution.file.write = False
        found.solution.sensors.writePeriod = duration / samples
        found.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
        found.linearSolver.reuseAnalyzedPattern = True
        return found

    def deflection(self) -> np.ndarray:
        """The deflection of the middle from the chord at the samples, of the rod's length; after a run."""
        start, middle, end = (np.asarray(self.mbs.GetSensorStoredData(s))[:, 1:3] for s in self.sensors)
        chord, way = end - start, middle - start
        across = chord[:, 0] * way[:, 1] - chord[:, 1] * way[:, 0]
        return across / np.linalg.norm(chord, axis=1) / self.facts.rod
