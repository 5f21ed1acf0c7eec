"""The expressions and user functions of a study, alike as functions of (t, q, v, numbers by name)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polhode.ensemble.parameters import FORCE, StudyColumn, StudyParameters, unknown
from polhode.ensemble.study import Study, value_text
from polhode.errors import InputError, message
from polhode.formats.expression import Fault, evaluate_on, names_in
from polhode.result import labels
from polhode.scalar import Scalar, Vec
from polhode.simulation.batch.batch_records import Named, takes_numbers
from polhode.simulation.inputs import PD


@dataclass(frozen=True)
class UserFunctions:
    """The expressions and functions of a study; columns: the numbers that differ from run to run."""

    study: Study
    parameters: StudyParameters
    columns: tuple[StudyColumn, ...]

    def check_names(self) -> None:
        """Refuse a name that nothing uses: it is a misspelt path."""
        study = self.study
        functions = [study.tau, *study.outputs.values(), *(s.when for s in study.stop.values())]
        if any(takes_numbers(f) for f in functions) or any(callable(f) for f in study.derived.values()):
            return
        texts = [*study.derived.values(), *functions]
        texts += list(study.tau.values()) if isinstance(study.tau, Mapping) else []
        used = {name for text in texts if isinstance(text, str) for name in names_in(text)}
        for column in self.columns:
            if column.of == "functions" and column.name not in used:
                raise unknown(self.parameters, column.name)

    def forces(self) -> Any:
        """The forces given by the user, those that are drawn replaced."""
        tau, model = self.study.tau, self.study.model
        drawn = [column for column in self.columns if column.of == "force"]
        if any(column.of == "gain" for column in self.columns) and not isinstance(tau, PD):
            raise InputError(
                message("sweep, tau", "no gains to vary", value_text(tau), "tau=ph.PD(stiffness, damping)")
            )
        named_texts = isinstance(tau, Mapping) and any(isinstance(x, str) for x in tau.values())
        if not drawn and not named_texts:
            return tau
        if tau is not None and not isinstance(tau, Mapping):
            fix = "Give tau by joint, or a function of (t, q, v, numbers)."
            raise InputError(
                message("sweep, tau", "cannot be varied", value_text(tau), "constant forces by joint", fix)
            )
        names = labels.dof_names(model)
        rules: dict[str, Any] = dict.fromkeys(names, 0.0)
        for name, rule in (tau or {}).items():
            if name not in rules:
                raise InputError(message("sweep, tau", "no such velocity", repr(name), ", ".join(names)))
            if isinstance(rule, str):
                rules[name] = self.function(f"tau '{name}'", rule)
                continue
            try:
                rules[name] = float(rule)
            except (TypeError, ValueError, OverflowError):
                found = repr(rule)[:60]
                raise InputError(message(f"sweep, tau '{name}'", "not a force", found, "a number or text")) from None

        def law(t: Scalar, q: Vec, v: Vec, own: Mapping[str, Scalar]) -> list[Scalar]:
            found = []
            for name, rule in rules.items():
                given = own.get(f"{FORCE}.{name}", rule)
                found.append(given(t, q, v, own) if callable(given) else given)
            return found

        return law

    def function(self, what: str, rule: Any) -> Named:
        """A function of (t, q, v, numbers) from an expression, or from one of the user's."""
        if callable(rule):
            return rule if takes_numbers(rule) else lambda t, q, v, own: rule(t, q, v)
        if not isinstance(rule, str):
            raise InputError(message(f"sweep, {what}", "not a rule", repr(rule)[:60], "an expression, or a function"))
        parts = {part: [f"{part}.{name}" for name in names] for part, names in self.parameters.starts.items()}

        def function(t: Scalar, q: Vec, v: Vec, own: Mapping[str, Scalar]) -> Scalar:
            state = dict(zip((*parts["q"], *parts["v"]), (*q, *v), strict=True))
            return evaluated(f"sweep, {what}", rule, {**self.parameters.numbers, **own, **state, "t": t})

        return function


def evaluated(where: str, text: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression on generic scalars; an InputError where it has none."""
    try:
        return evaluate_on(text, names)
    except Fault as fault:
        raise InputError(message(where, fault.what, fault.found, fault.expected, fault.fix)) from None
    except ZeroDivisionError:
        raise InputError(message(where, "a division by zero", repr(text), "a number")) from None
    except (ValueError, OverflowError):
        raise InputError(message(where, "an expression without a value", repr(text), "a finite number")) from None
