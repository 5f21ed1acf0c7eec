"""All formulations side by side: one motion, different multipliers, errors and costs."""

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.dynamics.single import Form, acceleration, forms
from polhode.dynamics.single.variables import SingleBody
from polhode.errors import GimbalLockError, IntegrationError
from polhode.euler import check_sequence
from polhode.papers.single_body import FormMotion, check_times, motion, operations, reference
from polhode.quaternion import angle_between, normalise, rate

INSTANTS = 101
"""Instants of the reference motion at which accelerations and multipliers are compared."""

START = (0.8660254037844387, 0.5, 0.0, 0.0)
"""The default attitude, 60° about x: clear of the 3-1-3 gimbal lock at the identity."""


@dataclass(frozen=True)
class FormResult:
    """One form in a comparison. None: the form has no such thing, or `note` says why it is missing."""

    form: str
    citation: str
    multiplier: float | None
    """λ at the start."""
    predicted: float | None
    """λ at the start, as theory gives it."""
    multiplier_error: float | None
    """Largest |λ − prediction| over the motion."""
    acceleration_difference: float | None
    """Largest ‖p̈ − p̈ of Newton and Euler‖ over the motion."""
    error: float | None
    """Angle between the attitude after the whole time and the reference, rad, p left as it comes."""
    error_projected: float | None
    """The same with p and ṗ projected after each step."""
    norm_drift: float | None
    """‖p‖ − 1 at the end without projection."""
    operations: int
    """Operations of one evaluation."""
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """What `compare` found."""

    body: SingleBody
    duration: float
    step: float
    sequence: str
    reference: FormMotion
    multipliers: dict[str, np.ndarray]
    """λ over the samples of the reference motion, by form."""
    rows: list[FormResult]

    def as_dict(self) -> dict[str, Any]:
        """Everything but the curves, as plain numbers."""
        body = self.body
        loads = {name: list(load) for name, load in body.loads._asdict().items() if load is not None}
        return {
            "inertia": body.inertia.tolist(),
            "attitude": body.p.tolist(),
            "omega": body.omega.tolist(),
            "loads": loads,
            "duration": self.duration,
            "step": self.step,
            "sequence": self.sequence,
            "reference": "closed form" if body.free else "DOP853 at 1e-13 on the state form",
            "forms": [dataclasses.asdict(row) for row in self.rows],
        }


def compare(
    body: SingleBody | None = None,
    duration: float = 20.0,
    step: float = 0.05,
    names: Iterable[str] | None = None,
    sequence: str = "313",
    progress: Callable[[str], None] = lambda name: None,
) -> Comparison:
    """Every form on one motion; by default the tumble of a body near its intermediate axis.

    body      the body, its start and loads; SingleBody.make(inertia, omega, p, torque=…)
    duration  s
    step      of RK4, s
    names     some of `ph.forms`; all unless given
    sequence  the angle sequence of the Euler-angle forms
    progress  called with each form's name before its turn
    """
    check_times(duration, step)
    check_sequence(sequence)
    body = body or SingleBody.make((1.0, 2.0, 3.0), (0.3, 2.0, 0.4), START)
    chosen = [forms[name] for name in (names or forms)]
    truth = reference(body, np.linspace(0.0, duration, INSTANTS))
    truth = truth._replace(p=normalise(truth.p))
    rows, multipliers = [], {}
    done: dict[tuple, tuple[FormResult, np.ndarray | None]] = {}
    for form in chosen:
        progress(form.name)
        load = form.load if body.loads.force is not None else ""  # without a force all variants are one
        same = (form.gyroscopic, load, form.solution, form.gradient)
        if same not in done:
            done[same] = _row(form, body, truth, duration, step, sequence)
        row, multiplier = done[same]
        rows.append(dataclasses.replace(row, form=form.name, citation=form.citation))
        if multiplier is not None:
            multipliers[form.name] = multiplier
    return Comparison(body, duration, step, sequence, truth, multipliers, rows)


def _row(
    form: Form, body: SingleBody, truth: FormMotion, duration: float, step: float, sequence: str
) -> tuple[FormResult, np.ndarray | None]:
    pdot = rate(truth.p, truth.omega)
    loads = {name: load for name, load in body.loads._asdict().items() if load is not None}
    state: dict[str, Any] = {"p": truth.p, "pdot": pdot, "inertia": body.inertia, **loads}
    newton = acceleration("schwab-meijaard-45", **state)
    found, note, drift, errors = None, "", None, {}
    try:
        found = acceleration(form, sequence=sequence, **state)
        for norm in ("none", "state"):
            if norm == "state" and form.solution in ("angles", "angle state"):
                continue
            run = motion(form, body, duration, step, norm, sequence=sequence)
            size = float(np.linalg.norm(run.p[-1]))
            errors[norm] = float(angle_between(run.p[-1] / size, truth.p[-1]))
            if norm == "none":
                drift = size - 1
    except GimbalLockError:
        note = "gimbal lock"
    except IntegrationError:
        note = "diverged"
    multiplier = found.multiplier if found else None
    predicted = found.predicted if found else None
    row = FormResult(
        form.name,
        form.citation,
        None if multiplier is None else float(multiplier[0]),
        None if predicted is None else float(predicted[0]),
        None if multiplier is None else float(np.max(abs(multiplier - predicted))),
        float(np.max(np.linalg.norm(found.pddot - newton.pddot, axis=-1))) if found else None,
        errors.get("none"),
        errors.get("state"),
        drift,
        sum(operations(form, body, sequence).values()) if not note else 0,
        note,
    )
    return row, multiplier
