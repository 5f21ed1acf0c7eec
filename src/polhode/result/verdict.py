"""A grade: what was measured of a run, against which thresholds, and the verdict."""

import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from polhode.errors import InputError, message

GOOD, UNCHECKED, LOOSE, FAILED, NOTE = "good", "unchecked", "loose", "failed", "note"
"""The verdicts, from best to worst; a note says something and judges nothing."""

VERDICTS = (GOOD, UNCHECKED, LOOSE, FAILED)

SENTENCES = {
    GOOD: "This run is good.",
    UNCHECKED: "This run is unchecked: the error of its motion was not estimated.",
    LOOSE: "This run is loose.",
    FAILED: "This run failed.",
}
"""Each verdict as the first line of a grade."""

ERROR = "error of the motion"
"""The name of the check of a run's estimated error."""

IGNORED = "ignored"
"""The name of notes on what the file of a model has that would change the motion."""

LEFT_OUT = " It leaves out what its file has and would change the motion."
"""What is said beside the verdict of a run with such notes."""

PULLING_GROUND = "ground force"
"""The name of notes on contacts that would have to pull."""

LIFTS_OFF = " A real wheel would lift off: the ground would have to pull at it."
"""What is said beside the verdict of a run with such notes."""

WIDTH = 80
"""Width of the text of a grade, in characters."""

NUMBERS = ("value", "threshold", "limit")
"""The fields of a Check that hold numbers."""


class Check(NamedTuple):
    """One line of a grade: good up to `threshold`, loose up to `limit`; None where nothing is measured."""

    name: str
    value: float | None
    threshold: float | None
    limit: float | None
    unit: str
    verdict: str
    note: str = ""

    def as_json(self) -> str:
        """The check as a JSON object; written out here, since a grade has a dozen of them, and by way of dictionaries
        that takes four times as long."""
        name, value, threshold, limit, unit, verdict, note = self
        begin, end = _json_around(name, unit, verdict, note)
        if value is None and threshold is None and limit is None:
            return f'{begin}null, "threshold": null, "limit": null{end}'
        return f'{begin}{_number(value)}, "threshold": {_number(threshold)}, "limit": {_number(limit)}{end}'


@lru_cache(maxsize=256)
def _json_around(name: str, unit: str, verdict: str, note: str) -> tuple[str, str]:
    """The JSON object of a check before its value and after its limit: runs of a model have most of them in common."""
    text = encode_basestring
    return (
        f'{{"name": {text(name)}, "value": ',
        f', "unit": {text(unit)}, "verdict": {text(verdict)}, "note": {text(note)}}}',
    )


def _number(x: float | None) -> str:
    """A number in JSON, which has no NaN and no infinity: those are texts."""
    return "null" if x is None else repr(float(x)) if math.isfinite(x) else f'"{x}"'


@dataclass(frozen=True)
class Grade:
    """All checks of a run, how their thresholds came about, and the worst verdict.

    good_until  s, the first sample whose estimated error passes the threshold; the last sample where none does;
                NaN: not estimated, or something else lowers the verdict that the estimate does not see
    """

    verdict: str
    checks: tuple[Check, ...]
    basis: str
    good_until: float = math.nan

    @property
    def until(self) -> str:
        """Up to when the run is good, or was checked, in words; "" where that is its end, or not known."""
        found = next((check for check in self.checks if check.name == ERROR and check.value is not None), None)
        if found is None or math.isnan(self.good_until):
            return ""
        part = any(check.name.startswith(f"{ERROR},") for check in self.checks)
        words = "good" if found.verdict != GOOD else "checked" if part else ""
        return f"{words} until t = {self.good_until:.6g} s" if words else ""

    @property
    def sentence(self) -> str:
        """The verdict in a sentence or two, as "This run failed. It is good until t = 3.2 s."."""
        found = SENTENCES.get(self.verdict, f"This run is {self.verdict}.")
        if self.until and self.verdict == UNCHECKED:
            found = f"{found.removesuffix('.')} after t = {self.good_until:.6g} s."
        elif self.until:
            found += f" It {'is' if self.until.startswith('good') else 'was'} {self.until}."
        return found + said_beside([check.name for check in self.checks])

    def with_checks(self, more: Sequence[Check]) -> "Grade":
        """The grade with further lines that judge nothing."""
        return Grade(self.verdict, (*self.checks, *more), self.basis, self.good_until) if more else self

    def rows(self) -> list[dict[str, str]]:
        """The checks as texts by the column's name: check, value, good up to, loose up to, verdict, note."""
        columns = ("check", "value", "good up to", "loose up to", "verdict", "note")
        return [dict(zip(columns, _texts(check), strict=True)) for check in self.checks]

    def __str__(self) -> str:
        rows = self.rows()
        heads = list(rows[0])[:-1] if rows else []
        widths = [max(len(head), *(len(row[head]) for row in rows)) for head in heads]
        table = [heads, *([row[head] for head in heads] for row in rows if set(list(row.values())[1:-1]) != {"-"})]
        lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in table]
        notes = [f"{row['check']}: {row['note']}" for row in rows if row["note"]]
        return "\n".join([self.sentence, "", *lines, "", *map(_wrapped, [*notes, self.basis])])

    def attributes(self) -> dict[str, str | float]:
        """The grade as attributes of a Dataset: verdict, good_until, grade (its checks, a JSON list), grade_basis."""
        text = f"[{', '.join([check.as_json() for check in self.checks])}]"
        return {"verdict": self.verdict, "good_until": self.good_until, "grade": text, "grade_basis": self.basis}

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> "Grade | None":
        """The grade in the attributes of a Dataset; None where there is none."""
        if not attributes.get("grade"):
            return None
        try:
            checks = json.loads(attributes["grade"])
            for check in checks:
                check |= {name: None if check[name] is None else float(check[name]) for name in NUMBERS}
                texts = [check[name] for name in ("name", "unit", "verdict")]
                if not all(isinstance(text, str) for text in texts) or texts[-1] not in (*VERDICTS, NOTE):
                    raise ValueError("not a check")
            made = tuple(Check(**check) for check in checks)
            until = float(attributes.get("good_until", math.nan))  # runs of before 0.3 have none
            return cls(str(attributes["verdict"]), made, str(attributes["grade_basis"]), until)
        except (ValueError, KeyError, TypeError, RecursionError) as fault:
            found = f"{type(fault).__name__}: {fault}"[:80]
            raise InputError(
                message("grade of a run", "cannot be read", found, "the checks that a run keeps")
            ) from None


def said_beside(names: Sequence[Any]) -> str:
    """What is said beside a verdict, from the names of its checks; "" where there is nothing to say."""
    return LEFT_OUT * (IGNORED in names) + LIFTS_OFF * (PULLING_GROUND in names)


def notes(texts: Mapping[str, Sequence[str]]) -> list[Check]:
    """Lines of a grade that judge nothing, by their names."""
    return [Check(name, None, None, None, "", NOTE, note) for name, some in texts.items() for note in some]


def overall(checks: Sequence[Check]) -> str:
    """The worst verdict of some checks."""
    found = {check.verdict for check in checks}
    return next((verdict for verdict in reversed(VERDICTS) if verdict in found), UNCHECKED)


def _texts(check: Check) -> tuple[str, ...]:
    """The entries of a check as texts; "-" where there is nothing."""

    def number(x: float | None) -> str:
        return "-" if x is None else f"{x:.0f}" if check.name == "steps" else f"{x:.2e}"

    verdict = "" if check.verdict == NOTE else check.verdict
    return check.name, number(check.value), number(check.threshold), number(check.limit), verdict or "-", check.note


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
