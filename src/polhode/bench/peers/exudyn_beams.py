"""Flexible rods in Exudyn: geometrically exact beams, or cables in absolute nodal coordinates.

In the plane, with Exudyn's own planar nodes, beams and joints: its fastest way. Motions that are given are functions of
its own expression trees, which run without Python.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import exudyn
import numpy as np
from exudyn import itemInterface as items
from exudyn.utilities import CreateSymbolicUserFunction

NEWTON, AT_REST = 1e-5, 1e-4
"""Relative and absolute tolerances of Newton's method. Exudyn's own are 1e-8 and 1e-10: with them it takes longer, and
from rest, where nothing is to be relative to, a hundred times as long; errors at 1e-3 to 1e-5 do not change."""

SPECTRAL_RADIUS = 0.6
"""Of generalised-α: with 0.9 errors and times differ by less than a tenth."""


class RodNumbers(NamedTuple):
    """The length of a rod, and stiffness and inertia of a metre of it: SI units."""

    length: float
    axial: float
    bending: float
    shear: float
    mass: float
    inertia: float


class RodMechanism(NamedTuple):
    """A crank that keeps its speed, a flexible rod, a slider: SI units."""

    crank: float
    speed: float
    rod: RodNumbers
    slider: float
    crank_inertia: float


class _ExudynRod:
    """A machine with one rod along x.

    kind      "GE": geometrically exact beams; "ANCF": cables, without shear and rotary inertia
    elements  an even number
    """

    def __init__(self, rod: RodNumbers, kind: str, elements: int) -> None:
        self.name, self.rod, self.kind, self.elements = f"Exudyn, {kind}", rod, kind, elements
        self.container = exudyn.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.nodes: list[Any] = []

    def _nodes(self, begin: float, speed: Callable[[float], tuple[float, float]]) -> None:
        """Nodes and elements; speed: across the rod, and of rotation, of a part of its length."""
        n, rod = self.elements, self.rod
        for k in range(n + 1):
            across, turning = speed(k / n)
            x = begin + rod.length * k / n
            node = (
                items.NodeRigidBody2D(referenceCoordinates=[x, 0, 0], initialVelocities=[0, across, turning])
                if self.kind == "GE"
                else items.NodePoint2DSlope1(
                    referenceCoordinates=[x, 0, 1, 0], initialVelocities=[0, across, 0, turning]
                )
            )
            self.nodes.append(self.mbs.AddNode(node))
        common: dict[str, Any] = {
            "physicsLength": rod.length / n, "physicsMassPerLength": rod.mass, "physicsBendingStiffness": rod.bending,
            "physicsAxialStiffness": rod.axial,
        }  # fmt: skip
        for pair in pairwise(self.nodes):
            element = (
                items.ObjectBeamGeometricallyExact2D(
                    nodeNumbers=list(pair), physicsCrossSectionInertia=rod.inertia, physicsShearStiffness=rod.shear,
                    **common,
                )
                if self.kind == "GE"
                else items.ObjectANCFCable2D(nodeNumbers=list(pair), **common)
            )  # fmt: skip
            self.mbs.AddObject(element)

    def _watch(self, nodes: list[Any]) -> None:
        """Sensors of places, and the end of the description."""
        place = exudyn.OutputVariableType.Position
        self.sensors = [
            self.mbs.AddSensor(
                items.SensorNode(nodeNumber=n, storeInternal=True, writeToFile=False, outputVariableType=place)
            )
            for n in nodes
        ]
        self.mbs.Assemble()

    def solve(self, settings: Any) -> None:
        """Run; where Newton's method does not converge there are fewer samples."""
        with suppress(exudyn.SolverError):
            self.mbs.SolveDynamic(settings)

    def places(self) -> list[np.ndarray]:
        """x and y of the watched nodes at the samples, (samples, 2) each; after a run."""
        return [np.asarray(self.mbs.GetSensorStoredData(s))[:, 1:3] for s in self.sensors]

    def settings(self, duration: float, steps: int, samples: int) -> Any:
        """Generalised-α with equal steps, modified Newton; nothing is written or printed."""
        found: Any = exudyn.SimulationSettings()
        time = found.timeIntegration
        time.numberOfSteps, time.endTime, time.verboseMode = steps, duration, 0
        time.newton.useModifiedNewton, time.newton.relativeTolerance = True, NEWTON
        time.newton.absoluteTolerance = AT_REST
        time.adaptiveStep = False
        time.generalizedAlpha.spectralRadius = SPECTRAL_RADIUS
        time.generalizedAlpha.computeInitialAccelerations = True
        found.solution.file.write = False
        found.solution.sensors.writePeriod = duration / samples
        small = self.elements <= 4  # there dense matrices are the faster ones
        solvers = exudyn.LinearSolverType
        found.linearSolver.solverType = solvers.EXUdense if small else solvers.EigenSparse
        found.linearSolver.reuseAnalyzedPattern = True
        return found


class ExudynCrank(_ExudynRod):
    """The slider-crank, stretched out along x, moving as a rigid one."""

    def __init__(self, facts: RodMechanism, kind: str, elements: int) -> None:
        super().__init__(facts.rod, kind, elements)
        mbs, length = self.mbs, facts.rod.length
        ground = mbs.AddObject(items.ObjectGround())
        crank = mbs.AddNode(
            items.NodeRigidBody2D(referenceCoordinates=[0, 0, 0], initialVelocities=[0, 0, facts.speed])
        )
        body = mbs.AddObject(items.ObjectRigidBody2D(nodeNumber=crank, mass=1.0, inertia=facts.crank_inertia))
        tip = facts.crank * facts.speed
        self._nodes(facts.crank, lambda part: (tip * (1 - part), -tip / length))
        slider = mbs.AddNode(items.NodePoint2D(referenceCoordinates=[facts.crank + length, 0]))
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
        self._watch([self.nodes[0], self.nodes[elements // 2], self.nodes[-1]])

    def _hinge(self, first: Any, second: Any) -> None:
        self.mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[first, second]))


class ExudynSpin(_ExudynRod):
    """A rod whose root turns by a given angle; of cables the slope at the root is given, of unit length.

    angle  of the time and a module with sin and cos
    """

    def __init__(self, rod: RodNumbers, angle: Callable[[Any, Any], Any], kind: str, elements: int) -> None:
        super().__init__(rod, kind, elements)
        self._nodes(0.0, lambda part: (0.0, 0.0))
        fixed = self.mbs.AddNode(items.NodePointGround())
        self._ground = self.mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=fixed, coordinate=0))
        self._functions: list[Any] = []  # Exudyn does not keep them alive
        symbols: Any = vars(exudyn)["symbolic"]
        for coordinate in (0, 1):
            self._given(coordinate)
        if kind == "GE":
            self._given(2, lambda mbs, t, number, offset: angle(t, symbols))
        else:
            self._given(2, lambda mbs, t, number, offset: symbols.cos(angle(t, symbols)) - 1)
            self._given(3, lambda mbs, t, number, offset: symbols.sin(angle(t, symbols)))
        self._watch([self.nodes[-1]])

    def _given(self, coordinate: int, value: Callable[..., Any] | None = None) -> None:
        """A coordinate of the root as a function of time; None: it stays."""
        marker = self.mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=self.nodes[0], coordinate=coordinate))
        more: dict[str, Any] = {}
        if value:
            made = CreateSymbolicUserFunction(
                self.mbs, value, userFunctionName="offsetUserFunction", itemTypeName="ObjectConnectorCoordinate"
            )
            self._functions.append(made)
            more["offsetUserFunction"] = made
        self.mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[self._ground, marker], **more))
