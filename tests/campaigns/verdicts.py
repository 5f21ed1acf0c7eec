"""Random runs, recorded ones and small sweeps, whose verdicts are judged by references that two methods agree on.

    report = campaign(seed=15, count=2000)
    assert not report.of("false good"), report

A case is a model, a start, an input, a duration, and the options of a run. Models, inputs and combinations of method
and constraint policy are drawn for a batch of runs, since compiling takes longer than running.
"""

import math
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

import drawn_beams
import drawn_elements
import opened_loops
import polhode as ph
from machines import ALL, ONE_AXIS, random_model, random_q
from polhode.check.joint_limits import inertia_seen, moved_within
from polhode.ensemble.measures import VERDICTS, thresholds
from polhode.errors import InputError
from polhode.integrate.constrained import CONSTRAINED_METHODS
from polhode.integrate.methods import ADAPTIVE, METHODS
from polhode.integrate.sundials import SUNDIALS
from polhode.model import plain
from polhode.result.error_estimate import Difference
from polhode.result.verdict import FAILED, GOOD, UNCHECKED, Grade

BATCH, INPUTS, COMBINATIONS = 50, 3, 8
"""Runs of a model, the inputs that it gets, and the combinations of method and policy."""

RECORDED, SWEPT = 0.08, 3
"""The share of runs that go to a folder, half of them cut off on their way and resumed; and the runs of a sweep."""

SAMPLINGS = 20
"""Calls of a sampled controller in a run."""

LARGE, SLOW = 4, ("implicit", "structure-preserving")
"""Velocities of a model above which methods of these families, which compile for long, are left out."""

REFERENCE = 1e-13
"""The tolerance of the reference runs."""

FLOOR = 1e-11
"""Errors below this part of the scale are rounding as much as steps: estimates of them are not judged."""

AMISS = 3.0
"""A good run may err by this many thresholds; one that errs by less than one part in as many is to be good."""

TREES = (
    "pendulum",
    "double-pendulum",
    "heavy-top",
    "free-body",
    "t-handle",
    "spherical-pendulum",
    "cart-pole",
    "rprr",
    "spacecraft",
    "arm-6",
)
LOOPS = ("four-bar", "slider-crank-3d", "rolling-disk", "rolling-sphere", "chaplygin-sleigh", "bricard")
FORMS = ("sherif-23", "sherif-29", "sherif-29+q1", "udwadia-12", "schwab-23", "sherif-34")
CUTS = tuple(opened_loops.KINDS)
"""Bundled models, and joints of random machines that are cut and closed by a constraint."""


@dataclass(frozen=True)
class Machine:
    """A model and a start; method: of all its runs, where it is not drawn."""

    name: str
    model: ph.Model
    q: np.ndarray
    v: np.ndarray
    method: str = ""

    @cached_property
    def mass(self) -> float:
        """Of all bodies, kg."""
        return float(sum(plain(body.mass) for body in self.model.bodies))


@dataclass(frozen=True)
class Input:
    """Forces of a run; twin: the same in another form, whose corners a reference run cannot miss."""

    kind: str
    tau: Any = None
    twin: Any = None
    events: tuple[ph.Event, ...] = ()

    @property
    def reference(self) -> Any:
        """What the reference runs get."""
        return self.tau if self.twin is None else self.twin


@dataclass
class Case:
    """A run, how it was judged, and why."""

    number: int
    machine: str
    input: str
    duration: float
    options: dict[str, Any]
    outcome: str = ""
    verdict: str = ""
    true: float = math.nan
    estimate: float = math.nan
    threshold: float = math.nan
    known: float = math.nan
    cause: str = ""
    remarks: list[str] = field(default_factory=list)

    @property
    def family(self) -> str:
        """Method family and steps."""
        method = self.options.get("method", "rk4")
        family = METHODS[method].family if method in METHODS else "SUNDIALS"
        family = f"form {self.options['form']}" if "form" in self.options else family
        return f"{family}, {'equal' if 'step' in self.options else 'controlled'}"

    @property
    def policy(self) -> str:
        """What keeps the constraints."""
        return self.options.get("constraints", "tree")

    def __str__(self) -> str:
        head = f"#{self.number} {self.outcome}: {self.machine}, {self.input}, {self.duration:.3g} s, {self.options}"
        numbers = f"true {self.true:.2e}, estimate {self.estimate:.2e}, threshold {self.threshold:.2e}"
        return f"{head}\n    {self.verdict}; {numbers}, known to {self.known:.1e}; {self.cause} {self.remarks or ''}"


@dataclass
class Report:
    """All cases of a campaign."""

    cases: list[Case] = field(default_factory=list)
    seconds: float = 0.0

    def of(self, *outcomes: str) -> list[Case]:
        """The cases of some outcomes."""
        return [case for case in self.cases if case.outcome in outcomes]

    @property
    def sound(self) -> list[Case]:
        """The judged cases whose true error is below a third of the threshold and that are not unchecked."""
        return [c for c in self.of("good", "false alarm") if c.true < c.threshold / AMISS]

    @property
    def ratios(self) -> np.ndarray:
        """Estimates in parts of the true error, where that is above rounding."""
        judged = [c for c in self.cases if c.outcome not in ("refused", "not judged") and c.known < c.true / 10]
        both = [c for c in judged if c.true > 10 * FLOOR and math.isfinite(c.true) and math.isfinite(c.estimate)]
        return np.array([c.estimate / c.true for c in both])

    def table(self, key: Callable[[Case], str]) -> str:
        """Counts of outcomes by a property of cases."""
        outcomes = sorted({case.outcome for case in self.cases})
        counts = Counter((key(case), case.outcome) for case in self.cases)
        rows = sorted({key(case) for case in self.cases})
        wide = max(map(len, rows), default=0)
        lines = [" " * wide + "".join(f"{name:>14}" for name in outcomes)]
        return "\n".join(lines + [row.ljust(wide) + "".join(f"{counts[row, x]:14}" for x in outcomes) for row in rows])

    def __str__(self) -> str:
        alarms, ratios = self.of("false alarm"), self.ratios
        share = len(alarms) / max(len(self.sound), 1)
        within = np.mean((ratios > 0.3) & (ratios < 30)) if len(ratios) else math.nan
        lines = [
            f"{len(self.cases)} runs, {self.seconds:.0f} s of one core: {dict(Counter(c.outcome for c in self.cases))}",
            f"false alarms {share:.1%} of {len(self.sound)}; 0.3 < estimate/true < 30 in {within:.1%} of {len(ratios)}",
            *(self.table(key) for key in (lambda c: c.family, lambda c: c.policy, lambda c: c.input)),
            f"causes of false alarms: {dict(Counter(case.cause for case in alarms))}",
            *map(str, self.of("false good", "late")),
            *map(str, alarms[:20]),
        ]
        return "\n".join(lines)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is evenly spread."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def machine(rng: np.random.Generator, small: bool = False) -> Machine:
    """A bundled or random model and a start; small: one that compiles soon."""
    if small:
        model = ph.load(str(rng.choice(("pendulum", "double-pendulum", "cart-pole"))))
        return Machine(model.name, model, *_near_start(model, rng))
    kind = rng.choice(["tree", "bundled tree", "bundled loop", "cut", "rod"], p=[0.35, 0.25, 0.2, 0.12, 0.08])
    if kind == "bundled tree":
        model = ph.load(str(rng.choice(TREES)))
        return Machine(model.name, model, *_near_start(model, rng))
    if kind == "bundled loop":
        model = ph.load(str(rng.choice(LOOPS)))
        v = np.array(model.start.v) * rng.uniform(0.3, 1.3)
        return Machine(model.name, model, np.array(model.start.q), v)
    seed = int(rng.integers(2**31))
    if kind == "cut":
        joint = str(rng.choice(CUTS))
        pair = opened_loops.pair(joint, seed)
        tree = ph.compile(pair.tree)
        q, v = opened_loops.state(pair.tree, seed + 1)
        return Machine(f"cut {joint}", pair.cut, *opened_loops.opened(tree, q, v))
    if kind == "rod":
        return _rods(rng)
    n = int(rng.choice([1, 1, 2, 2, 3, 4, 7]))
    types = [str(x) for x in rng.choice(ALL if n < 4 else ONE_AXIS, size=n)]
    types[0] = "revolute" if set(types) == {"fixed"} else types[0]
    damped = {"damping": float(rng.uniform(0.05, 1))} if rng.random() < 0.4 else {}
    model = random_model(types, seed, gravity=(0, 0, -9.81) if rng.random() < 0.8 else (0, 0, 0))
    limited = {"lower": -0.5, "upper": 1.0} if rng.random() < 0.2 else {}
    joints = [_with(j, damped | (limited if j.type in ("revolute", "prismatic") else {})) for j in model.joints]
    springs = []
    if rng.random() < 0.3:
        stiffness, body = log_uniform(rng, 1, 300), model.bodies[-1].name
        springs = [ph.Spring("s", "world", body, point_a=(0.5, 0, 1), stiffness=stiffness, damping=0.1, rest=0.5)]
    model = ph.Model(model.name, gravity=model.gravity, bodies=model.bodies, joints=joints, forces=springs)
    q = moved_within(model, random_q(model, rng))
    return Machine(f"tree of {', '.join(types)}{' damped' if damped else ''}", model, q, rng.normal(size=model.nv))


def with_elements(rng: np.random.Generator, small: bool = False) -> Machine:
    """A random tree, or a machine with a loop, with force elements, and a start."""
    return Machine(*(drawn_elements.drawn if rng.random() < 0.7 else drawn_elements.drawn_loop)(rng))


def with_beams(rng: np.random.Generator, small: bool = False) -> Machine:
    """A machine with a soft beam, and a start."""
    return Machine(*drawn_beams.drawn(rng))


def with_damped_joints(rng: np.random.Generator, small: bool = False) -> Machine:
    """A machine, with force elements or not, whose joints are damped hard, by the method for them."""
    found = machine(rng, small=True) if rng.random() < 0.5 else with_elements(rng)
    inertia, joints, k = inertia_seen(found.model), [], 0
    for joint in found.model.joints:
        rates = [log_uniform(rng, 1, 3000) for _ in range(joint.nv)]
        joints.append(replace(joint, damping=tuple(rates * inertia[k : k + joint.nv])) if joint.nv else joint)
        k += joint.nv
    return replace(
        found, name=f"{found.name} damped hard", model=replace(found.model, joints=tuple(joints)), method="seulex"
    )


def _with(joint: ph.Joint, more: dict[str, Any]) -> ph.Joint:
    return replace(joint, **more) if more else joint


def _near_start(model: ph.Model, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A state of a tree: its start, with other velocities."""
    q = np.array(model.start.q) if model.start else random_q(model, rng)
    v = np.array(model.start.v) if model.start else np.zeros(model.nv)
    return q, v * rng.uniform(0.3, 1.5) + rng.normal(size=model.nv) * 0.3


def _rods(rng: np.random.Generator) -> Machine:
    """Point masses in a plane on massless rods, as coordinates and distances, swinging from an angle."""
    n = int(rng.integers(1, 3))
    angles, rates = rng.uniform(-2, 2, n), rng.normal(size=n)
    damping = float(rng.choice([0.0, 0.3]))
    bodies, joints, constraints, q, v = [], [], [], [], []
    x, speed = np.zeros(3), np.zeros(3)
    for k in range(n):
        bodies += [ph.Body(f"b{k}", 1.0 + k, (0.1, 0.1, 0.1))]
        joints += [
            ph.Joint(f"j{k}", "planar", "world", f"b{k}", orientation=(0.5**0.5, 0.5**0.5, 0, 0), damping=damping)
        ]
        ends = {"body_b": f"b{k}"} | ({"body_a": f"b{k - 1}"} if k else {})
        constraints += [ph.Constraint(f"rod{k}", "distance", length=1.0, **ends)]
        x = x + np.array([np.sin(angles[k]), -np.cos(angles[k]), 0.0])
        speed = speed + rates[k] * np.array([np.cos(angles[k]), np.sin(angles[k]), 0.0])
        q += [*x[:2], 0.0]
        v += [*speed[:2], 0.5]
    model = ph.Model("rods", bodies=bodies, joints=joints, constraints=constraints)
    found = ph.consistent_start(model, q, v)
    return Machine(f"{n} rods", model, np.array(found.q), np.array(found.v))


def inputs(machine: Machine, duration: float, rng: np.random.Generator, quick: bool) -> Input:
    """Random forces on every velocity; quick: those whose compiled steps serve again."""
    n = machine.model.nv
    a = rng.normal(size=n) * machine.mass * log_uniform(rng, 0.03, 1.0)
    a[machine.model.joint_velocities :] = 0.0
    a = a.tolist()
    kind = str(rng.choice(QUICK if quick else list(INPUT_KINDS)))
    found = INPUT_KINDS[kind](a, n, duration, rng, kind)
    if rng.random() < 0.15:
        at = machine.q[0] + rng.normal() * 0.3
        events = [ph.Event("end", lambda t, q, v: q[0] - at, terminal=True)]
        if rng.random() < 0.5 and machine.model.nq == machine.model.nv and not machine.model.constraints:
            events = [ph.Event("bounce", lambda t, q, v: q[0] - at, reset=lambda t, q, v: (q, [-0.7 * v[0], *v[1:]]))]
        found = replace(found, kind=f"{kind}, event", events=tuple(events))
    return found


def _function(shape: Callable[[Any], Any], a: list[float], kind: str, twin: Any = None) -> Input:
    return Input(kind, lambda t, q, v: [x * shape(t) for x in a], twin)


def _sine(a: list[float], n: int, duration: float, rng: np.random.Generator, kind: str) -> Input:
    w = log_uniform(rng, 0.5, 20)
    return _function(lambda t: ph.sin(w * t), a, kind)


def _box(a: list[float], n: int, duration: float, rng: np.random.Generator, kind: str) -> Input:
    start, width = duration * rng.uniform(0.05, 0.8), duration * log_uniform(rng, 0.01, 0.15)
    twin = ph.Table([0.0, start, start + width], [[0.0] * n, a, [0.0] * n], hold=True)
    return _function(lambda t: ph.where(t < start, 0.0, ph.where(t < start + width, 1.0, 0.0)), a, kind, twin)


def _triangle(a: list[float], n: int, duration: float, rng: np.random.Generator, kind: str) -> Input:
    width = duration * log_uniform(rng, 0.01, 0.15)
    peak = duration * rng.uniform(0.2, 0.8)
    twin = ph.Table([0.0, peak - width, peak, peak + width], [[0.0] * n, [0.0] * n, a, [0.0] * n])
    return _function(lambda t: ph.maximum(0.0, 1 - abs(t - peak) / width), a, kind, twin)


def _gauss(a: list[float], n: int, duration: float, rng: np.random.Generator, kind: str) -> Input:
    width, peak = duration * log_uniform(rng, 0.01, 0.1), duration * rng.uniform(0.1, 0.9)
    return _function(lambda t: ph.exp(-(((t - peak) / width) ** 2)), a, kind)


def _table(a: list[float], n: int, duration: float, rng: np.random.Generator, kind: str) -> Input:
    count = int(rng.integers(3, 12))
    times = np.sort(rng.uniform(0, duration, count))
    return Input(kind, ph.Table(times, rng.normal(size=(count, n)) * a, hold=kind == "table, held"))


def _sided(a: list[float], n: int, duration: float, rng: np.random.Generator, kind: str) -> Input:
    gain = log_uniform(rng, 1, 20) * float(np.max(np.abs(a)))
    return Input(
        kind,
        lambda t, q, v: [gain * ph.maximum(0.0, -x) - 0.05 * gain * x if y else 0.0 for x, y in zip(v, a, strict=True)],
    )


def _drag(a: list[float], n: int, duration: float, rng: np.random.Generator, kind: str) -> Input:
    return Input(kind, lambda t, q, v: [-abs(x) * y * abs(y) for x, y in zip(a, v, strict=True)])


def _saturated(a: list[float], n: int, duration: float, rng: np.random.Generator, kind: str) -> Input:
    return Input(
        kind, lambda t, q, v: [-abs(x) * ph.maximum(-1.0, ph.minimum(1.0, 2 * y)) for x, y in zip(a, v, strict=True)]
    )


def _sampled(a: list[float], n: int, duration: float, rng: np.random.Generator, kind: str) -> Input:
    return Input(
        kind, ph.Sampled(lambda t, q, v: -0.3 * np.abs(a) * np.tanh(v) + np.array(a) * np.sin(t), duration / SAMPLINGS)
    )


def _pd(a: list[float], n: int, duration: float, rng: np.random.Generator, kind: str) -> Input:
    scale = float(np.max(np.abs(a)))
    return Input(kind, ph.PD(scale * log_uniform(rng, 1, 100), scale))


INPUT_KINDS: dict[str, Callable[..., Input]] = {
    "none": lambda a, n, duration, rng, kind: Input(kind),
    "constant": lambda a, n, duration, rng, kind: Input(kind, np.array(a)),
    "sine": _sine,
    "box": _box,
    "triangle": _triangle,
    "gauss": _gauss,
    "table": _table,
    "table, held": _table,
    "one-sided": _sided,
    "drag": _drag,
    "saturated": _saturated,
    "sampled": _sampled,
    "PD": _pd,
}


QUICK = ("none", "none", "constant", "table", "table, held", "sampled")
"""Inputs that are no functions: a run compiles nothing that one of the same method and input compiled before."""


def _outside(model: ph.Model) -> list[str]:
    """The solvers of SUNDIALS for a model; they run in Python, and ida takes seconds for all but the smallest."""
    return [] if model.constraints else [name for name in SUNDIALS if name != "ida" or model.nv == 1]


def combination(machine: Machine, rng: np.random.Generator) -> dict[str, Any]:
    """A method, and what goes with it: constraint policy, engine, what keeps quaternions."""
    found: dict[str, Any] = {}
    model = machine.model
    if machine.method:
        return {"method": machine.method}
    if model.constraints:
        policy = str(rng.choice(["project", "baumgarte", "none", "ggl", "index-3"], p=[0.45, 0.2, 0.15, 0.12, 0.08]))
        policy = "project" if model.nv > LARGE and policy in CONSTRAINED_METHODS and rng.random() < 0.7 else policy
        found["constraints"] = policy
        if policy in CONSTRAINED_METHODS:
            known = list(CONSTRAINED_METHODS[policy])
            found["method"] = known[0] if model.nv > LARGE else str(rng.choice(known))
            return found
        engines = ["fundamental", "multipliers", "null-space", *(["absolute"] if len(model.bodies) <= LARGE else [])]
        found["engine"] = str(rng.choice(engines))
        if policy == "baumgarte":
            found["baumgarte"] = (rate := log_uniform(rng, 2, 60), rate)
    elif machine.name in ("free-body", "t-handle") and rng.random() < 0.3:
        return {"form": str(rng.choice(FORMS)), "step": 0.0}
    elif len(model.bodies) <= LARGE and rng.random() < 0.1:
        return {"engine": "absolute", "method": str(rng.choice(["rk4", "rk8", *ADAPTIVE]))}
    names = [name for name in METHODS if model.nv <= LARGE or METHODS[name].family not in SLOW]
    found["method"] = str(rng.choice([*names, *ADAPTIVE, *ADAPTIVE, *_outside(model)]))
    if rng.random() < 0.15:
        found["norm"] = "none"
    return found


def options(given: dict[str, Any], reference: "Reference", rng: np.random.Generator) -> dict[str, Any]:
    """The options of a run of a combination: steps or tolerance, samples, accuracy."""
    duration, forces = reference.duration, reference.forces
    found = dict(given)
    method = METHODS.get(found.get("method", "rk4"))
    outside = found.get("method") in SUNDIALS
    adaptive = outside or (method is not None and method.adaptive and "form" not in found)
    if adaptive and (outside or rng.random() < 0.85):
        found["tolerance"] = log_uniform(rng, 1e-9 if outside or found["method"] == "bs32" else 1e-13, 0.1)
        found["samples"] = int(rng.integers(5, 41))
    else:
        most = 3000 if method is None or method.family in ("explicit", "Lie group") else 500
        n = round(log_uniform(rng, 4, most))
        if isinstance(forces.tau, ph.Sampled):  # its period is a whole number of steps
            n = SAMPLINGS * math.ceil(n / SAMPLINGS)
        if rng.random() < 0.75 or isinstance(forces.tau, ph.Sampled):
            found["step"] = duration / n
        else:
            found["step"] = duration / (n + rng.uniform(0.01, 0.99))
        if n > 60:
            found["every"] = math.ceil(n / 40)
    if rng.random() < 0.2:
        found["accuracy"] = log_uniform(rng, 1e-9, 1e-2)
    return found


class Reference:
    """The motion of a machine under an input, by two methods."""

    def __init__(self, machine: Machine, forces: Input, duration: float, limits: bool = True) -> None:
        self.machine, self.forces, self.duration, self.limits = machine, forces, duration, limits
        self.found: dict[bytes, tuple[dict, dict]] = {}
        turns = any(joint.kind.turns_freely for joint in machine.model.joints)
        if machine.model.constraints:
            self.ways = [{"method": "dop853"}, {"method": "dopri54", "engine": "multipliers"}]
        else:
            self.ways = [{"method": "dop853"}, {"method": "rkmk-dop853" if turns else "dopri54"}]

    def at(self, times: np.ndarray) -> tuple[dict, dict]:
        """The motions by both, at given times."""
        key = times.tobytes()
        if key not in self.found:
            watch = [ph.Event("watch", lambda t, q, v: t - 0.617 * self.duration)]  # steps up to a thousandth
            watch = [*self.forces.events, *(watch if self.forces.kind in ("gauss", "sine") else [])]
            found = []
            for way in self.ways:
                run = ph.simulate(
                    self.machine.model, self.machine.q, self.machine.v, self.duration, self.forces.reference,
                    samples=tuple(times), tolerance=REFERENCE, verify=False, events=watch, max_steps=2e5,
                    limits=self.limits, **way,
                )  # fmt: skip
                found.append({name: run[name].values for name in ("time", "q", "v")})
            self.found[key] = (found[0], found[1])
        return self.found[key]


def apart(model: ph.Model, a: dict, b: dict) -> np.ndarray:
    """The distance of two runs at the samples of the first; infinite at those that the second has not.

    The last sample is where an event ended them: there the times are compared as well.
    """
    n = min(len(a["time"]), len(b["time"]))
    found = Difference(model)(*({name: one[name][:n] for name in ("q", "v")} for one in (a, b)))
    late = abs(a["time"][:n] - b["time"][:n])
    found = np.maximum(found, np.where(late[-1:] > 0, late / (1 + a["time"][:n]), 0.0))
    if np.any(late[:-1] > 1e-12) or len(a["time"]) != len(b["time"]):
        found[-1] = np.inf
    return np.concatenate([found, np.full(len(a["time"]) - n, np.inf)])


def followed(reference: Reference, chosen: dict[str, Any], recorded: bool, rng: np.random.Generator) -> Any:
    """The run, in memory, or recorded in a folder; half of those are cut off on their way and resumed."""
    machine, forces = reference.machine, reference.forces
    asked = machine.model, machine.q, machine.v, reference.duration, forces.tau
    if not recorded:
        return ph.simulate(*asked, events=forces.events, **chosen)

    def cut(part: float, t: float, steps: int) -> None:
        if part > 0.3:
            raise KeyboardInterrupt

    with tempfile.TemporaryDirectory() as folder:
        if rng.random() < 0.5:
            ph.record(folder, *asked, events=forces.events, progress=cut, **chosen).close()
            return ph.record(folder, *asked, events=forces.events, resume=True, **chosen).load()
        return ph.record(folder, *asked, events=forces.events, **chosen).load()


def couple(machine: Machine, rng: np.random.Generator) -> Input:
    """What forms of one body take as an input: a constant couple, or nothing."""
    tau = np.zeros(machine.model.nv)
    inertia = max(float(np.max(np.abs(plain(body.inertia)))) for body in machine.model.bodies)
    tau[-3:] = rng.normal(size=min(machine.model.nv, 3)) * inertia
    centred = all(not np.any(plain(body.center)) for body in machine.model.bodies)
    return Input("couple", tau) if centred and rng.random() < 0.5 else Input("none")


def sweep(machine: Machine, duration: float, rng: np.random.Generator, first: int) -> Iterator[Case]:
    """Judged runs of a small sweep over one velocity of the start, each with a companion."""
    model = machine.model
    name = next(joint.name for joint in model.joints if joint.nv == 1)
    tau = None if rng.random() < 0.5 else rng.normal(size=model.nv) * 0.1 * machine.mass
    if tau is not None:
        tau[model.joint_velocities :] = 0.0
    method = str(rng.choice(["rk4", "heun", "gauss2", *ADAPTIVE, *ADAPTIVE]))
    chosen: dict[str, Any] = {"method": method}
    if method in ADAPTIVE:
        chosen |= {"tolerance": log_uniform(rng, 1e-10, 1e-2), "times": 11}
    else:
        chosen |= {"step": duration / (10 * round(log_uniform(rng, 1, 100))), "times": 11}
    found = ph.sweep(
        model, {f"start.v.{name}": ph.Uniform(-1.0, 1.0)}, runs=SWEPT, seed=int(rng.integers(2**31)),
        duration=duration, tau=tau, q=machine.q, v=machine.v, accompanied=1.0, **chosen,
    )  # fmt: skip
    good = thresholds(found["v"].values, found["steps"].values, chosen.get("tolerance"), None)
    for k in range(SWEPT):
        run = found.isel(run=k)
        case = Case(first + k, machine.name, "sweep", duration, chosen)
        case.verdict = next(name for name, code in VERDICTS.items() if code == int(run["verdict"]))
        case.threshold, case.estimate = float(good[k]), float(run["error_estimate"])
        reference = Reference(replace(machine, v=run["v"].values[0]), Input("constant", tau), duration)
        yield compared(case, run, reference)


def judge(case: Case, run: Any, reference: Reference) -> Case:
    """The case with its outcome."""
    grade = Grade.of(run.attrs)
    assert grade is not None
    line = next(check for check in grade.checks if check.name == "error of the motion")
    case.verdict, case.threshold = grade.verdict, line.threshold or math.nan
    case.estimate = float(line.value) if line.value is not None else math.nan
    case.cause = "; ".join(f"{c.name} {c.value} ({c.verdict})" for c in grade.checks if c.verdict not in (GOOD, "note"))
    if run.attrs["status"] == "failed":
        case.true = math.inf
        case.outcome = "told" if grade.verdict == FAILED else "false good"
        return case
    return compared(case, run, reference, run.attrs["status"] == "stopped", grade.good_until)


def compared(case: Case, run: Any, reference: Reference, stopped: bool = False, until: float = 0.0) -> Case:
    """The outcome of a case whose verdict is known, by its references; until: to when it calls itself good, s."""
    times = run["time"].values
    a, b = reference.at(times[:-1] if stopped else times)
    ours = {name: run[name].values for name in ("time", "q", "v")}
    true, known = apart(reference.machine.model, ours, a), apart(reference.machine.model, a, b)
    case.true, case.known = float(np.max(true)), float(np.max(known))
    before = true[times < until - 1e-12]
    if not case.known <= case.threshold / 10:
        case.outcome = "not judged"
    elif case.verdict == GOOD and case.true > AMISS * case.threshold:
        case.outcome = "false good"
    elif len(before) and np.max(before) > AMISS * case.threshold:
        case.outcome = "late"
    elif case.verdict == UNCHECKED:
        case.outcome = "unchecked"
    elif case.verdict != GOOD and case.true < case.threshold / AMISS:
        case.outcome = "false alarm"
    else:
        case.outcome = "good" if case.verdict == GOOD else "told"
    return case


def batch(
    rng: np.random.Generator, first: int, count: int, small: bool = False, draw: Callable[..., Machine] = machine
) -> Iterator[Case]:
    """Judged runs of one machine."""
    one = draw(rng, small)
    durations = [log_uniform(rng, 0.3, 12) for _ in range(INPUTS)]
    if one.model.constraints:
        durations = [duration / 2 for duration in durations]
    inputs_ = [inputs(one, duration, rng, quick=small or k == 0) for k, duration in enumerate(durations)]
    references = [Reference(one, x, duration) for x, duration in zip(inputs_, durations, strict=True)]
    by_form = Reference(one, couple(one, rng), durations[0], limits=False)
    combinations = [combination(one, rng) for _ in range(2 if small else COMBINATIONS)]
    fits = not one.model.constraints and one.model.nv <= LARGE and any(joint.nv == 1 for joint in one.model.joints)
    swept = SWEPT if fits and rng.random() < 0.5 else 0
    if swept:
        yield from sweep(one, durations[0], rng, first + count - swept)
    for k in range(count - swept):
        given = combinations[rng.integers(len(combinations))]
        method = METHODS.get(given.get("method", "rk4"))
        slow = bool(one.model.constraints) and method and method.family in SLOW
        reference = references[0 if rng.random() < (0.85 if slow else 0.4) else rng.integers(INPUTS)]
        reference = by_form if "form" in given else reference
        chosen = options(given, reference, rng)
        recorded = "form" not in given and given.get("method") not in SUNDIALS and rng.random() < RECORDED
        kind = f"{reference.forces.kind}{', recorded' if recorded else ''}"
        case = Case(first + k, one.name, kind, reference.duration, chosen)
        try:
            run = followed(reference, chosen, recorded, rng)
        except InputError as error:
            case.outcome, case.cause = "refused", str(error).splitlines()[0]
            yield case
            continue
        yield judge(case, run, reference)


def campaign(
    seed: int,
    count: int,
    size: int = BATCH,
    told: Callable[[Case], None] | None = None,
    small: bool = False,
    draw: Callable[..., Machine] = machine,
) -> Report:
    """So many judged runs, in batches of one machine each.

    told   called with each
    small  machines soon compiled
    draw   gives the machines
    """
    report, begun = Report(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for first in range(0, count, size):
            for case in batch(np.random.default_rng([seed, first]), first, min(size, count - first), small, draw):
                report.cases.append(case)
                if told:
                    told(case)
    report.seconds = time.process_time() - begun
    return report
