"""`ph.mode_motion`: one round of a mode as a run, for films and pages."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.analysis.equations_at_state import EquationsAtState, equations_at_state
from polhode.analysis.linear import linearize
from polhode.analysis.modes import Mode
from polhode.analysis.steady import Steady, equilibrium
from polhode.check.given_start import start_of
from polhode.errors import InputError, message
from polhode.model import Model, check_model
from polhode.quaternion import conjugate, product, wxyz_to_rotation_vector
from polhode.scalar import real_number, shown
from polhode.show.animation import CAPTION, LOOPS
from polhode.show.scene.scene import still_machine
from polhode.simulation.observer import observer_of
from polhode.simulation.still import states_dataset

if TYPE_CHECKING:
    from xarray import Dataset

FRAMES = 48
"""Samples of a round, each once."""
WIDE, TURNED = 0.2, 0.35
"""The largest displacement, in parts of half the width of the machine, and the largest turn, rad, unless given."""
SMALL = 1e-6
"""The part of these by which slopes are taken: rounding and terms of third order are both far below what is seen."""
CLOSED = 1e-6
"""The violation of constraints up to which a state that was moved back onto them is taken."""


class _Slopes(NamedTuple):
    """What changes along a mode, as complex numbers: displacements (bodies, 3), turns (bodies, 3), section forces."""

    way: np.ndarray
    turn: np.ndarray
    loads: np.ndarray | None


def mode_motion(model: Model, mode: Mode | int = 1, state: Any = None, *, amplitude: float | None = None) -> "Dataset":
    """One round of a mode about a state, large enough to be seen: for `ph.animate`, which says how large.

        >>> import polhode as ph
        >>> shown = ph.mode_motion(ph.load("double-pendulum"), 1)
        >>> print(shown.caption)
        mode of 0.3815 Hz; drawn with 0.2 m at 'lower', turns up to 16°

    It neither dies out nor grows here. Constraints hold; section forces are those of the linear equations, without what
    sections bear in the state itself.

    mode       one of `ph.linearize(…).modes()` about this state, or a number: 1 for the slowest that oscillates, …
    state      what `ph.equilibrium` or `ph.steady_motion` returned; the rest near the model's start unless given
    amplitude  the largest displacement of a body, m
    """
    where = "mode_motion"
    check_model(where, model)
    if state is None:
        state = equilibrium(model)
    chosen = _mode(where, model, mode, state)
    at_q, at_v = (state.q, state.v) if isinstance(state, Steady) else (state, model.at_rest)
    q, v = start_of(model, at_q, at_v, where)
    n, equations = model.nv, equations_at_state(model)
    names, parts = [*chosen.shape], np.array([*chosen.shape.values()])
    if len(names) != 2 * n:
        expected = f"a mode of all {n} velocities of '{model.name}'"
        raise InputError(message(f"{where}, mode", "of another system", f"{len(names)} parts", expected))
    delta = parts[:n] / max(float(np.max(abs(parts[:n]))), 1e-300)
    slopes = _slopes(model, equations, q, delta)
    size, told = _size(where, model, q, slopes, amplitude)
    phase = 2 * np.pi * np.arange(FRAMES + 1) / FRAMES
    turns = np.exp(1j * phase)
    moved = np.array([_closed(equations, q, size * (delta * z).real) for z in turns])
    loads = {} if slopes.loads is None else {"section_force": np.array([size * (slopes.loads * z).real for z in turns])}
    period = 2 * math.pi / chosen.frequency if chosen.frequency else 1.0
    rates = np.array([v + size * (1j * (2 * math.pi / period) * delta * z).real for z in turns])
    facts = {LOOPS: 1, CAPTION: f"{_words(chosen)}; drawn with {told}"}
    return states_dataset(model, period * phase / (2 * np.pi), moved, rates, None, facts, loads)


def _mode(where: str, model: Model, given: Any, state: Any) -> Mode:
    """The mode itself, or that of a number."""
    if isinstance(given, Mode):
        return given
    q, v, tau, G = (
        (state.q, state.v, state.tau, state.generator)
        if isinstance(state, Steady)
        else (state, model.at_rest, None, None)
    )
    found = [mode for mode in linearize(model, q, v, tau=tau, generator=G).modes() if mode.frequency > 0]
    found.sort(key=lambda mode: mode.frequency)
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= len(found):
        expected = f"a Mode, or 1 … {len(found)}" if found else "a Mode: none oscillates"
        raise InputError(message(f"{where}, mode", "no such mode", shown(given), expected))
    return found[given - 1]


def _slopes(model: Model, equations: EquationsAtState, q: np.ndarray, delta: np.ndarray) -> _Slopes:
    """The slopes of poses and section forces along a mode, by central differences."""
    ways = [(delta.real, 1.0), (delta.imag, 1j)]
    states = [equations.moved(q, sign * SMALL * way) for way, _ in ways for sign in (1.0, -1.0)]
    seen = observer_of(model)(np.array(states), np.zeros((4, model.nv)))

    def slope(values: np.ndarray) -> np.ndarray:
        real, imaginary = (np.asarray(values[k] - values[k + 1]) / (2 * SMALL) for k in (0, 2))
        return real + 1j * imaginary

    p = seen["quaternion"]
    halves = [np.asarray(product(conjugate(p[k + 1]), p[k])) for k in (0, 2)]
    real, imaginary = (
        np.asarray(wxyz_to_rotation_vector(np.where(x[..., :1] < 0, -x, x))) / (2 * SMALL) for x in halves
    )
    loads = slope(seen["section_force"]) if "section_force" in seen else None
    return _Slopes(slope(seen["position"]), real + 1j * imaginary, loads)


def _size(where: str, model: Model, q: np.ndarray, slopes: _Slopes, amplitude: Any) -> tuple[float, str]:
    """The factor of a mode's shape, and in words what that is: the largest displacement and turn."""
    seen = observer_of(model)(q[None], np.zeros((1, model.nv)))
    reach = still_machine(model, seen["position"][0], seen["quaternion"][0])["reach"]
    ways, turns = (np.linalg.norm(abs(x), axis=-1) for x in (slopes.way, slopes.turn))
    way, turn = float(ways.max(initial=0.0)), float(turns.max(initial=0.0))
    if amplitude is None:
        size = min(WIDE * reach / max(way, 1e-300), TURNED / max(turn, 1e-300))
    else:
        wanted = real_number(f"{where}, amplitude", amplitude, "metres, above 0", 0.0)
        if not way > 1e-9 * max(turn * reach, 1e-300):
            raise InputError(message(f"{where}, amplitude", "no body is displaced", f"{wanted:g} m", "none: it turns"))
        size = wanted / way
    told = [f"{size * way:.2g} m at '{model.bodies[int(ways.argmax())].name}'"] if size * way > 1e-6 * reach else []
    told += [f"turns up to {math.degrees(size * turn):.2g}°"] if size * turn > 1e-6 else []
    return size, ", ".join(told) or "nothing that moves a body"


def _closed(equations: EquationsAtState, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """A state moved along a mode, and back onto the constraints."""
    there = equations.moved(q, step)
    found, _, left = equations.settled(there, np.zeros(equations.n))
    return found if left < CLOSED else there


def _words(mode: Mode) -> str:
    """A mode in words."""
    value = mode.eigenvalue
    fate = "" if not value.real else f", {'dies out' if value.real < 0 else 'grows'} by half in {mode.time:.3g} s"
    fate = fate.replace("grows by half", "doubles")
    if not mode.frequency:
        return f"mode that does not oscillate{fate or ', stays'}, shown to and fro"
    damping = f", damping {mode.damping:.3g}" if value.real else ""
    return f"mode of {mode.frequency / (2 * math.pi):.4g} Hz{damping}{fate}"
