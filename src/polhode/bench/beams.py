"""Flexible machines against Exudyn at equal accuracy: published digits are the judge.

Two problems: a slider-crank with a flexible rod, and a beam that is spun up. Both programs run meshes, and time steps
or tolerances, from a list. A setting has an accuracy where it and the same mesh with finer steps both have it: a mesh
whose error happens to cancel that of its steps does not count. For each accuracy the quickest settings of both are
then timed in turn: the whole `ph.simulate(verify=False)`, its Dataset included, against `SolveDynamic` alone. Both are
in the plane. What was compiled before is not in these times; what was assembled before neither.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.bench.peers.registry import peer_module
from polhode.bench.timing import OPTIMISED, Contestant, Timing, in_environment, race
from polhode.formats.expression_functions import Expression
from polhode.model import Body, Constraint, Joint, Model
from polhode.model.beams.beam import Beam, BeamEnd
from polhode.model.beams.section import Material, Section
from polhode.simulation.simulate import simulate

CRANK, ROD, SPEED, FLYWHEEL = 0.15, 0.3, 150.0, 1e4
"""Of the crank, m, of the rod, m, rad/s, and the inertia that keeps the speed.        Jonker (1989); Meijaard (1996)"""

QUARTERS = (1, 2, 3, 4, 6, 8)
"""Quarter turns at which the deflection is known."""

DEFLECTION = (0.005615, 0.003037, -0.007561, 0.000468, -0.002951, -0.000926)
"""Of the rod's middle from its chord there, of its length: a planar Reissner beam by spectral elements, ±3e-6."""

LARGEST = 0.015533
"""The largest deflection, of the rod's length."""

SECTION = Section.circle(0.006, Material(0.2e12, 0.3, 7.87e3))

SPIN_LENGTH, SPIN_TIME, SPIN_LARGEST = 10.0, 6.0, 0.574
"""Of the beam that is spun up, m, of its run, s, and of its tip behind the root, m.             Simo, Vu-Quoc (1986)"""

SPIN_TIP = (-0.2172674, -0.5435964)
"""Its tip in axes that turn with the root after 3 and 6 s, m, ±1e-6."""

SPIN_SECTION = Section(2.8e7, 1e4, 1.4e4, 1.4e4, 1e7, 1e7, 1.2, 6e-4, 6e-4)

PLANE = (0.0, 0.0, 1.0)
"""The normal of the plane in which both programs move."""

SPIN_ANGLE = "0.4*(t*t/2 + (cos(2*pi*t/15) - 1)/(2*pi/15)^2)"

FINER_STEPS, FINER_TOLERANCE = 2, 0.1
"""How the same mesh is run once more."""

TURNS, TRIES, ENOUGH = 3, 5, 0.2
"""The fewest runs of each contestant, and runs of a setting of which the least time decides whether it is chosen: by
one alone, settings were chosen by chance on a busy machine; after so many seconds it is not asked again."""


@dataclass(frozen=True)
class BeamSetting:
    """One way to solve a problem: "GE", "ANCF" with equal steps, or a mass of ours with a tolerance.

    fineness  steps of theirs, the tolerance of ours
    """

    kind: str
    elements: int
    fineness: float

    @property
    def is_ours(self) -> bool:
        """Whether it is one of ours."""
        return self.fineness < 1

    @property
    def finer(self) -> "BeamSetting":
        """The same mesh, with finer steps."""
        return replace(self, fineness=self.fineness * (FINER_TOLERANCE if self.is_ours else FINER_STEPS))

    def __str__(self) -> str:
        last = f"tolerance {self.fineness:g}" if self.is_ours else f"{self.fineness:g} steps"
        return f"{self.kind}, {self.elements}, {last}"


@dataclass(frozen=True)
class BeamProblem:
    """A problem with known digits.

    accuracies  errors at which both are compared, of `scale`
    prepared    a setting → the statement to be timed, and the error after it has run, in units of what is known
    """

    name: str
    scale: float
    accuracies: tuple[float, ...]
    ours: tuple[BeamSetting, ...]
    theirs: tuple[BeamSetting, ...]
    prepared: Callable[[BeamSetting], tuple[Contestant, Callable[[Any], float]]]


@dataclass(frozen=True)
class BeamRace:
    """The quickest settings of both at one accuracy, and the seconds of a run; None where no setting is so accurate."""

    problem: str
    accuracy: float
    their_setting: BeamSetting | None
    setting: BeamSetting | None
    theirs: Timing | None
    ours: Timing | None

    @property
    def ratio(self) -> float | None:
        """The least time of the peer over ours."""
        return self.theirs.least / self.ours.least if self.ours and self.theirs else None


# the slider-crank


def slider_crank(
    elements: int, section: Section = SECTION, mass: str = "half-bars", plane: Sequence[float] | None = None
) -> tuple[Model, np.ndarray]:
    """The mechanism, stretched out along x where joints are at 0, and its velocities: those of a rigid one.

    plane  the normal of the plane of its nodes; None: they are in space
    """
    slider = Body("slider", SECTION.mass * ROD / 2, (1e-5, 1e-5, 1e-5))
    shaft = Joint("shaft", "revolute", "world", "crank", axis=(0, 0, 1))
    rail = Joint("rail", "prismatic", "world", "slider", axis=(1, 0, 0), position=(CRANK + ROD, 0, 0))
    pins = [BeamEnd(body, (x, 0, 0), "revolute", (0, 0, 1)) for body, x in (("crank", CRANK), ("slider", 0.0))]
    rod = Beam("rod", section, start=pins[0], end=pins[1], elements=elements, mass=mass, plane=plane)
    bodies = [Body("crank", 1.0, (FLYWHEEL, FLYWHEEL, FLYWHEEL)), slider]
    tip = CRANK * SPEED
    still = [] if plane else [0, 0, 0]
    nodes = [[0, tip * (1 - k / elements), *still, -tip / ROD] for k in range(1, elements)]
    v = np.concatenate([[SPEED, 0, -SPEED - tip / ROD], *nodes, [-tip / ROD]])
    return Model("slider-crank", (0, 0, 0), bodies=bodies, joints=[shaft, rail], beams=[rod]), v


def deflection(run: Any, elements: int) -> np.ndarray:
    """How far the middle of the rod is from its chord at samples, of its length."""
    return _from_chord([run.position.sel(body=f"rod-{k}").values[:, :2] for k in (0, elements // 2, elements)])


def _from_chord(places: Sequence[np.ndarray]) -> np.ndarray:
    start, middle, end = places
    chord, way = end - start, middle - start
    across = chord[:, 0] * way[:, 1] - chord[:, 1] * way[:, 0]
    return across / np.linalg.norm(chord, axis=1) / ROD


def error(found: np.ndarray) -> float:
    """The largest error of the deflections at quarter turns (9,), of the rod's length; infinite where a run failed."""
    if len(found) != QUARTERS[-1] + 1:
        return math.inf
    return float(np.max(abs(found[list(QUARTERS)] - DEFLECTION)))


def _crank(setting: BeamSetting) -> tuple[Contestant, Callable[[Any], float]]:
    duration = QUARTERS[-1] * math.pi / 2 / SPEED
    if setting.is_ours:
        model, v = slider_crank(setting.elements, mass=setting.kind, plane=PLANE)
        options = {"v": v, "duration": duration, "samples": QUARTERS[-1] + 1}
        return _simulated(model, setting, options), lambda run: error(deflection(run, setting.elements))
    exudyn = peer_module("exudyn_beams")
    facts = exudyn.RodMechanism(CRANK, SPEED, _numbers(exudyn, SECTION, ROD), SECTION.mass * ROD / 2, FLYWHEEL)
    peer = exudyn.ExudynCrank(facts, setting.kind, setting.elements)
    return _solved(peer, setting, duration, QUARTERS[-1]), lambda _: error(_from_chord(peer.places()))


# the spin-up


def spin_up(elements: int, mass: str = "half-bars", plane: Sequence[float] | None = None) -> Model:
    """A beam whose root turns by a given angle; plane: as of the slider-crank."""
    hub = Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1))
    start, end = ("hub", (0, 0, 0)), (SPIN_LENGTH, 0, 0)
    beam = Beam("b", SPIN_SECTION, start=start, end=end, elements=elements, mass=mass, plane=plane)
    drive = Constraint("drive", "prescribed", {"joint": "shaft", "value": Expression(SPIN_ANGLE, ("t",))})
    return Model("spin-up", (0, 0, 0), [Body("hub", 1.0, (1, 1, 1))], [hub], beams=[beam], constraints=[drive])


def spin_error(tip: np.ndarray) -> float:
    """The largest error of the tip's way across the root's axes at 0, 3 and 6 s, m, of places (3, 2)."""
    if len(tip) != 3:
        return math.inf
    turned = [Expression(SPIN_ANGLE, ("t",))(t) for t in (SPIN_TIME / 2, SPIN_TIME)]
    found = np.cos(turned) * tip[1:, 1] - np.sin(turned) * tip[1:, 0]
    return float(np.max(abs(found - SPIN_TIP)))


def _spin(setting: BeamSetting) -> tuple[Contestant, Callable[[Any], float]]:
    if setting.is_ours:
        model = spin_up(setting.elements, setting.kind, PLANE)
        told = f"b-{setting.elements}"
        contestant = _simulated(model, setting, {"duration": SPIN_TIME, "samples": 3})
        return contestant, lambda run: spin_error(run.position.sel(body=told).values[:, :2])
    exudyn, w = peer_module("exudyn_beams"), 2 * math.pi / 15
    peer = exudyn.ExudynSpin(
        _numbers(exudyn, SPIN_SECTION, SPIN_LENGTH),
        lambda t, m: 0.4 * (t * t / 2 + (m.cos(w * t) - 1) / w**2),
        setting.kind,
        setting.elements,
    )
    return _solved(peer, setting, SPIN_TIME, 2), lambda _: spin_error(peer.places()[0])


# both


def _numbers(exudyn: Any, section: Section, length: float) -> Any:
    return exudyn.RodNumbers(length, section.axial, section.bending_z, section.shear_y, section.mass, section.inertia_z)


def _simulated(model: Model, setting: BeamSetting, options: dict[str, Any]) -> Contestant:
    options = {**options, "tolerance": setting.fineness, "verify": False}
    names = {"simulate": simulate, "model": model, "options": options}
    return Contestant("polhode", "simulate", "found = simulate(model, **options)", names)


def _solved(peer: Any, setting: BeamSetting, duration: float, samples: int) -> Contestant:
    settings = peer.settings(duration, int(setting.fineness), samples)
    names = {"peer": peer, "settings": settings}
    return Contestant(peer.name, "SolveDynamic", "found = peer.solve(settings)", names)


def _each(kinds: Sequence[str], elements: Sequence[int], fineness: Sequence[float]) -> tuple[BeamSetting, ...]:
    return tuple(BeamSetting(kind, n, x) for kind in kinds for n in elements for x in fineness)


TOLERANCES = (1e-1, 3e-2, 1e-2, 1e-3, 1e-4)

PROBLEMS = (
    BeamProblem(
        "slider-crank", LARGEST, (1e-1, 3e-2, 1e-2, 3e-3), _each(("consistent",), (2, 4, 6, 8), TOLERANCES),
        (
            *_each(("ANCF",), (2, 4, 8), (100, 200, 300, 400, 800, 1600)),
            *_each(("GE",), (8, 16, 32, 64), (200, 300, 400, 800, 1600)),
        ),
        _crank,
    ),
    BeamProblem(
        "spin-up", SPIN_LARGEST, (1e-2, 3e-3, 1e-3, 3e-4), _each(("consistent",), (2, 3, 4, 8), TOLERANCES),
        (
            *_each(("ANCF", "GE"), (2, 3, 4, 8, 16, 32), (25, 50, 100, 150, 200, 400)),
            *_each(("ANCF", "GE"), (8, 16, 32, 64), (800, 1600)),
        ),
        _spin,
    ),
)  # fmt: skip


class _Measured:
    """The errors and first times of a problem's settings, each found when it is asked for."""

    def __init__(self, problem: BeamProblem) -> None:
        self.problem = problem
        self._found: dict[BeamSetting, tuple[float, float, Contestant]] = {}

    def __call__(self, setting: BeamSetting) -> tuple[float, float, Contestant]:
        """Error of the scale, the least seconds of some runs after the first, and the statement."""
        if setting not in self._found:
            contestant, judge = self.problem.prepared(setting)
            exec(contestant.text, contestant.names)
            found = judge(contestant.names["found"]) / self.problem.scale
            times: list[float] = []
            while len(times) < TRIES and sum(times) < ENOUGH:
                begin = time.process_time()
                exec(contestant.text, contestant.names)
                times.append(time.process_time() - begin)
            self._found[setting] = found, min(times), contestant
        return self._found[setting]

    def quickest(self, settings: Sequence[BeamSetting], accuracy: float) -> BeamSetting | None:
        """The quickest of settings with an accuracy, which the finer ones have too."""
        good = [x for x in settings if self(x)[0] <= accuracy]
        for setting in sorted(good, key=lambda x: self(x)[1]):
            if self(setting.finer)[0] <= accuracy:
                return setting
        return None


def beam_times(seconds: float, problems: Sequence[BeamProblem] = PROBLEMS) -> tuple[list[BeamRace], list[str]]:
    """All races; and what was left out."""
    try:
        peer_module("exudyn_beams")
    except ImportError:
        return [], ["Exudyn: not installed"]
    with in_environment(**OPTIMISED):
        return [row for problem in problems for row in _races(problem, seconds)], []


def _races(problem: BeamProblem, seconds: float) -> Iterator[BeamRace]:
    measured = _Measured(problem)
    for accuracy in problem.accuracies:
        theirs, ours = (measured.quickest(settings, accuracy) for settings in (problem.theirs, problem.ours))
        chosen = [x for x in (theirs, ours) if x]
        timings = race([measured(x)[2] for x in chosen], seconds, fewest=TURNS) if chosen else []
        times = dict(zip(chosen, timings, strict=True))
        pair = [times.get(x) if x else None for x in (theirs, ours)]
        yield BeamRace(problem.name, accuracy, theirs, ours, pair[0], pair[1])


def beam_table(rows: Sequence[BeamRace]) -> str:
    """The races as a table in Markdown."""
    lines = [
        "| problem | error, of the largest | Exudyn: beams, elements, steps | ms | ours: mass, elements | ms | ratio |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        times = [f"{1e3 * t.least:.1f}" if t else "–" for t in (row.theirs, row.ours)]
        ratio = f"{row.ratio:.1f}" if row.ratio else "–"
        names = [str(x) if x else "none is so accurate" for x in (row.their_setting, row.setting)]
        lines.append(
            f"| {row.problem} | {row.accuracy:g} | {names[0]} | {times[0]} | {names[1]} | {times[1]} | {ratio} |"
        )
    return "\n".join(lines)
