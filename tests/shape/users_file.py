"""A user's own file: `mypy --strict` must find nothing in it (test_typing.py). It is never run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import xarray as xr

import polhode as ph

# models

rod = ph.Body("rod", 1.2, (0.1, 0.1, 0.01), center=(0.0, 0.0, -0.5))
heavy = ph.Body("bob", ph.Parameter("m", 2.0), (0.1, 0.1, 0.1))
hinge = ph.Joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), damping=0.1)
spring = ph.Spring("spring", "world", "rod", stiffness=10.0)
rubbing = ph.JointFriction("rubbing", "hinge", 0.2, static=0.3, creep_speed=1e-2)
stop = ph.JointStop("stop", "hinge", -1.0, 1.0, stiffness=100.0, dissipation=1.0)
play = ph.Backlash("play", "hinge", gap=0.1, stiffness=100.0)
own = ph.ForceFunction("own", lambda t, q, v: [-q[0]])
push = ph.Force("push", "rod", force=(1.0, 0.0, 0.0))
rule = ph.Constraint("rule", "distance", {"body_a": "world", "body_b": "rod", "length": 1.0})
start = ph.Start(q=[0.3], v=[0.0], duration=10.0, method="dop853")
hard = ph.ImpactStop("hard", "hinge", upper=1.0, restitution=0.5)
engine = ph.Thrust("engine", "rod", flow=0.1, exhaust_speed=100.0)
lock = ph.JointLock("lock", "hinge", lock_time=1.0)
twist = ph.TorsionSpring("twist", joint="hinge", stiffness=1.0)
play = ph.Backlash("play", "hinge", gap=0.1, stiffness=1e3)
drag = ph.BodyForce("drag", lambda t, body: -0.1 * body.velocity, "rod")
strip = ph.Beam("strip", ph.Section.circle(0.01, ph.Material(210e9, 0.3, 7850.0)), ph.BeamEnd("world"), (1.0, 0.0, 0.0))
rubber = ph.Bushing("rubber", "world", "rod", stiffness=(1.0,) * 6)
model = ph.Model(name="pendulum", bodies=[rod], joints=[hinge], forces=[spring, push, own], start=start)
loaded: ph.Model = ph.load("heavy-top")
bike: ph.Model = ph.bicycle()
limited: ph.Model = ph.with_limits(model, time_constant=0.01)
free = ph.absolute(model).model

# parts of one's own


@dataclass(frozen=True)
class Drag(ph.ForceElement):
    """A drag on the origin of a body: F = −c |u| u."""

    name: str
    body: str
    coefficient: float = 0.0

    kind = "drag"
    keys: ClassVar = {
        "body": ph.Key("body", "the body it acts on", needed=True),
        "coefficient": ph.Key("number", "c, N s²/m²", unit="N s2/m2", letter="c_d"),
    }

    def wrenches(self, state: Any) -> Iterator[ph.Wrench]:
        """Against the velocity."""
        u = state.velocity(self.body, (0.0, 0.0, 0.0))
        yield ph.Wrench(self.body, -self.coefficient * ph.length(u) * u)


@dataclass(frozen=True)
class Pin(ph.ForceElement):
    """A pin that holds a joint until its load is too much."""

    name: str
    joint: str

    kind = "pin"
    keys: ClassVar = {"joint": ph.Key("joint", "the joint it holds", needed=True)}
    modes: ClassVar = {"broken": "1"}

    def holds(self, own: Any) -> Iterator[ph.Hold]:
        """The axis, until it breaks."""
        yield ph.Hold(self.joint, 0, ph.where(own[0] > 0.5, 0.0, 1.0))

    def events(self) -> list[ph.ElementEvent]:
        """That it breaks."""
        return [ph.ElementEvent("breaks", self.load, lambda state: ph.Jump({"broken": 1.0}))]

    def load(self, state: ph.MachineState) -> Any:
        """What it has to bear beyond its strength."""
        return ph.where(state.own(self)[0] > 0.5, -1.0, abs(state.load(self.joint)) - 3.0)


class Bowl(ph.BodyConstraint):
    """A point of b in a bowl that is fixed to a."""

    name = "bowl"
    rows = ("height",)

    def positions(self, a: Any, b: Any, data: Mapping[str, Any]) -> Any:
        """How far it is from it."""
        x, y, z = a.R.T @ (b.o - a.o)
        return ph.sqrt(x * x + y * y + z * z) - 1


class Gimbals(ph.JointKind):
    """Three hinges, each carried by the one before."""

    name = "gimbals"
    elements = ((ph.REVOLUTE, "z"), (ph.REVOLUTE, "x"), (ph.REVOLUTE, "z"))
    coordinates, dofs = ("yaw", "tilt", "spin"), ("yawing", "tilting", "spinning")


class Straight(ph.ElementKind):
    """Along x."""

    name = "straight"

    def motion(self, e: Any, q: Any) -> tuple[Any, Any]:
        """R and r."""
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [q[0], 0.0, 0.0]


ph.register_force(Drag)
ph.register_constraint(Bowl)
ph.register_joint(Gimbals)
mine = ph.Model("mine", bodies=[rod], joints=[hinge], forces=[Drag("air", "rod", 0.1)])

# quantities

system: ph.System = ph.compile(model, target="cpu", parameters=["bodies.rod.mass"])
q, v = np.array([0.3]), np.array([0.1])
M: np.ndarray = system.mass_matrix(q)
bias: np.ndarray = system.bias(q, v, t=0.0)
vd: np.ndarray = system.forward_dynamics(q, v, [0.0])
tau: np.ndarray = system.inverse_dynamics(q, v, vd)
gamma: np.ndarray = system.christoffel(q)
coriolis: np.ndarray = system.coriolis(q, v)
pull: np.ndarray = system.gravity(q)
by_q = system.forward_dynamics_derivatives(q, v, tau)[0]
position, attitude = system.pose(q, "rod")
linear, angular = system.velocity(q, v, "rod")
J: np.ndarray = system.jacobian(q, "rod", point=(0, 0, 1))
kinetic, potential = system.energy(q, v)
qdot: np.ndarray = system.rate(q, v)
moved: np.ndarray = system.integrate(q, v)
apart: np.ndarray = system.difference(q, moved)
text: str = system.source("forward_dynamics")
size: int = system.nq + system.nv

# runs

run: xr.Dataset = ph.simulate(model, duration=1.0, method="rk4", step=1e-2, tau=ph.PD(stiffness=10.0, damping=1.0))
run = ph.simulate(model, events=[ph.Event("low", lambda t, q, v: q[0])])
run = ph.simulate(model, tau=ph.Table([0.0, 1.0], [[0.0], [1.0]], hold=True))
run = ph.simulate(model, tau=ph.Sampled(lambda t, q, v: [-q[0]], period=0.01))
run = ph.simulate(model, tau=ph.ComputedTorque(stiffness=10.0, damping=1.0))
asked = ph.RunOptions()
value, slopes = ph.gradient(model, lambda q, v: q[0] ** 2, ["bodies.rod.mass"])
consistent: ph.Consistent = ph.consistent_start(model)
found: ph.Diagnosis = ph.diagnose(model)
recorded = ph.record(Path("run"), model)
names: list[str] = list(ph.methods)

# studies

masses = ph.Study(
    "masses",
    model,
    {"bodies.rod.mass": ph.Normal(1.0, 0.1), "gravity.2": ph.Uniform(-10.0, -9.0)},
    runs=100,
    measures={"far": ph.Measure("max", "q.hinge")},
)
drawn = [ph.LogUniform(0.1, 1.0), ph.Rotations(0.1), ph.Listed((1.0, 2.0)), ph.Grid((1.0, 2.0))]
until = ph.Stop("q.hinge", direction=1)
many: xr.Dataset = ph.sweep(masses)
kept: xr.Dataset = ph.open_study("folder")

# analysis, equations, forms

rest: ph.Steady = ph.equilibrium(model)
round_and_round: ph.Steady = ph.steady_motion(bike, {"frame.speed_x": 5.0})
small: ph.Linear = ph.linearize(model, rest.q, rest.v)
modes: list[ph.Mode] = list(small.modes())
there: ph.InverseKinematics = ph.inverse_kinematics(model, {"rod": ph.Target(direction=(0, 0, 1))}, limits=True)
left: np.ndarray = there.distance
base: ph.BaseParameters = ph.base_parameters(model)
shaken: ph.Excitation = ph.excitation(model, period=5.0)
weighed: ph.Identified = ph.identify(model, {"q": [[0.1]], "tau": [[0.0]]}, friction=["viscous"], cutoff=5.0)
residuals_page: Path = ph.write_identification_report(weighed, "weighed.html")
page: ph.Equations = ph.equations(model)
words: str = page.markdown()
form: ph.Form = ph.forms["sherif-29"]
second: ph.Acceleration = ph.acceleration("sherif-29", (1, 0, 0, 0), (0, 0, 0, 0), (1, 2, 3))
body: ph.SingleBody = ph.SingleBody.make((1, 2, 3), (0, 1, 0), (1, 0, 0, 0))
table = ph.compare(body, 1.0, 0.01)
angle = ph.atan2(ph.sin(0.1), ph.cos(0.1)) + ph.sqrt(2.0) + ph.where(True, 1.0, 0.0)
more = ph.tan(0.1) + ph.asin(0.1) + ph.acos(0.1) + ph.exp(0.1) + ph.log(2.0) + ph.maximum(1.0, ph.minimum(2.0, 3.0))
turned = ph.quaternion.product((1, 0, 0, 0), (1, 0, 0, 0))
matrix = ph.euler.matrix("313", (0.1, 0.2, 0.3))
tip: ph.BodyFrame = ph.BodyFrame("tip", "arm", (0, 0, 1))
pose: ph.Pose = ph.Pose.exp((0, 0, 1, 0, 0, 0.5)) @ ph.Pose((0, 0, 0), (1, 0, 0, 0))
moved = ph.spatial.moved_force(*pose, (1, 0, 0, 0, 0, 0))
places = ph.random_configuration(model, 5, seed=1)
equal = ph.same_configuration(model, places, places)
least = ph.actuation(system, q, v).tau
bounced = ph.contact_impulse(system, q, v, [], 0.5).v

handle = ph.BodyShape("grip", "arm", "cylinder", (0.01, 0.2))
elements: ph.FiniteElements = ph.read_finite_elements("bracket.npz")
bracket: ph.ModalBody = ph.ModalBody.from_matrices("bracket", [[1.0]], [[1.0]], [[0.0, 0.0, 0.0]], {"bolt": 0}, 2)
diagram: ph.Campbell = ph.campbell(model, [0.0, 1.0])
snapped: ph.LoadPath = ph.load_path(model, "tip")

# pictures

figure = ph.plot.energies(run)
figure.savefig("energies.svg")
film: Path = ph.animate(run, "run.gif")
bent: Path = ph.animate(ph.still(model, rest), "rest.png", color="bending_y")
mode: Path = ph.animate(ph.mode_motion(model, small.modes()[0], rest, amplitude=0.1), "mode.gif")
swept_line: ph.DrawnBeam = ph.DrawnBeam(
    "a", (0, 0, 0), (1, 0, 0, 0), "b", (0, 0, 0), (1, 0, 0, 0), 1.0, "circle", (0.1,)
)
cans = ph.draw_cans("313", "cans.svg")
width, height = cans.size

# errors

try:
    ph.load("no-such-model")
except (ph.ModelError, ph.InputError, ph.UnknownNameError) as error:
    told: str = str(error)
except (ph.CompileError, ph.GimbalLockError, ph.IntegrationError) as error:
    told = str(error)
except ph.PolhodeError as error:
    told = str(error)
version: str = ph.__version__
