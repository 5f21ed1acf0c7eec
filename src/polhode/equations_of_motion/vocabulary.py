"""The symbols of a model's equations: coordinates, velocities, and the numbers that are kept as letters."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sympy

from polhode.equations_of_motion.coordinates import Coordinate, coordinates
from polhode.equations_of_motion.drafts import Draft, drafts as drafted_names
from polhode.equations_of_motion.formula import parsed
from polhode.equations_of_motion.letters import symbol_latex
from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.model import Model
from polhode.result.labels import coordinate_names

WORDS = {
    "masses": "mass",
    "inertias": "inertia",
    "lengths": "center position point point_a point_b length radius rim position_a position_b",
    "gravity": "gravity",
    "joints": "armature damping stiffness rest pitch",
}
"""Kinds of numbers by one word."""

SAME = 1e-9
"""How far, relatively, two numbers of one letter may lie apart."""


class Letter(NamedTuple):
    """A number of the model that is kept as a letter."""

    symbol: sympy.Symbol
    latex: str
    meaning: str
    value: float
    unit: str


class Vocabulary(NamedTuple):
    """All symbols of a model's equations."""

    q: tuple[Coordinate, ...]
    v: tuple[Coordinate, ...]
    vd: tuple[Coordinate, ...]
    tau: tuple[Coordinate, ...]
    t: sympy.Symbol
    numbers: Mapping[str, sympy.Expr]
    """What stands for a number of the model, by its path."""
    letters: tuple[Letter, ...]

    @property
    def latex(self) -> dict[sympy.Symbol, str]:
        """How each symbol is written."""
        found = {c.symbol: c.latex for c in (*self.q, *self.v, *self.vd, *self.tau)}
        return found | {letter.symbol: letter.latex for letter in self.letters}

    @property
    def values(self) -> dict[sympy.Symbol, float]:
        """The model's own value of each letter."""
        return {letter.symbol: letter.value for letter in self.letters}


def vocabulary(
    model: Model, symbolic: Any = None, names: Mapping[str, Any] | None = None, subscripts: str = "numbers"
) -> Vocabulary:
    """The symbols of a model.

    symbolic    which numbers become letters: None for all that are not zero; words ("masses", "inertias", "lengths",
                "gravity", "joints") or paths ("bodies.arm", "bodies.arm.mass"), or () for none
    names       letters of one's own, by path, Parameter or coordinate: "M", "-l", "m*l^2/12"
    subscripts  "numbers", or "names" of bodies and joints
    """
    if subscripts not in ("numbers", "names"):
        raise InputError(message("equations, subscripts", "unknown", repr(subscripts), "'numbers' or 'names'"))
    own = dict(names or {})
    q, v, vd, tau = coordinates(model, own, subscripts)
    drafts = drafted_names(model, subscripts)
    chosen = _chosen(model, drafts, symbolic, own)
    taken = {c.symbol.name for c in (*q, *v, *vd, *tau)} | {"t"}
    numbers, letters = _Letters(model, drafts, own, taken).of(chosen)
    return Vocabulary(q, v, vd, tau, sympy.Symbol("t", real=True), numbers, letters)


def _chosen(model: Model, drafts: Mapping[str, Draft], symbolic: Any, own: Mapping[str, Any]) -> list[str]:
    """The paths that become letters."""
    known = model.numbers()
    wanted: set[str] = set()
    if symbolic is None:
        wanted = set(drafts)
    else:
        for word in (symbolic,) if isinstance(symbolic, str) else tuple(symbolic):
            wanted |= _meant(model, str(word), drafts, known)
    for path in own:
        wanted |= _meant(model, str(path), drafts, known, exact=True)
    return [path for path in known if path in wanted]


def _meant(
    model: Model, word: str, drafts: Mapping[str, Draft], known: Mapping[str, float], exact: bool = False
) -> set[str]:
    """The paths that a word, a path, the beginning of one, or the name of a Parameter means."""
    if not exact and word in WORDS:
        kinds = WORDS[word].split()
        return {path for path in drafts if any(kind in path.split(".") for kind in kinds)}
    below = {path for path in known if path == word or path.startswith(f"{word}.")}
    if below:
        return {path for path in below if path in drafts or path == word}
    named = {path for path, draft in drafts.items() if draft.name == word}
    if named:
        return named
    choices = [*known, *(() if exact else WORDS), *coordinate_names(model)]
    fix = did_you_mean(word, choices, "model.numbers() lists all paths.", most=3)
    expected = "a path" if exact else f"a path, or one of {', '.join(WORDS)}"
    raise UnknownNameError(message(f"equations, model '{model.name}'", "no such number", repr(word), expected, fix))


class _Letters:
    """Chosen paths as letters, each name once."""

    def __init__(self, model: Model, drafts: Mapping[str, Draft], own: Mapping[str, Any], taken: set[str]) -> None:
        self.model, self.drafts, self.own, self.taken = model, drafts, own, taken
        self.known = model.numbers()

    def of(self, chosen: Sequence[str]) -> tuple[dict[str, sympy.Expr], tuple[Letter, ...]]:
        """What stands for each path, and the letters."""
        numbers: dict[str, sympy.Expr] = {}
        drafted: dict[str, tuple[Draft, float]] = {}
        for path in chosen:
            given = self._given(path)
            if given is not None:
                numbers[path] = given
                continue
            draft, value = self.drafts[path], self.known[path]
            name = self._free(draft, value, drafted)
            if name in drafted and drafted[name][0].meaning != draft.meaning:
                both = f"{drafted[name][0].meaning}; {draft.meaning}"
                drafted[name] = drafted[name][0]._replace(meaning=both), drafted[name][1]
            drafted.setdefault(name, (draft, draft.sign * value))
            numbers[path] = draft.sign * sympy.Symbol(name, real=True)
        values = self._solved(numbers)
        meanings = {name: draft for name, (draft, _) in drafted.items()}
        letters = []
        for symbol, value in values.items():
            draft = meanings.get(symbol.name) or self._meaning(symbol, numbers)
            letters.append(Letter(symbol, symbol_latex(symbol.name), draft.meaning, value, draft.unit))
        return numbers, tuple(letters)

    def _given(self, path: str) -> sympy.Expr | None:
        """The user's own formula of a path, or of its Parameter."""
        draft = self.drafts.get(path)
        for key in (path, draft.name if draft else path):
            if key in self.own:
                return parsed(f"equations, name of '{key}'", self.own[key])
        return None

    def _free(self, draft: Draft, value: float, drafted: Mapping[str, tuple[Draft, float]]) -> str:
        """The name of a draft, or the next free one like it: one letter is one number."""
        name, k = draft.name, 0
        while name in self.taken or (name in drafted and drafted[name][1] != draft.sign * value):
            k += 1
            name = f"{draft.name}{'abcdefghijklmnopqrstuvwxyz'[k - 1]}" if k <= 26 else f"{draft.name}{k}"
        return name

    def _solved(self, numbers: Mapping[str, sympy.Expr]) -> dict[sympy.Symbol, float]:
        """The value of every letter: a formula with one unknown letter gives it, all others must agree."""
        values: dict[sympy.Symbol, float] = {}
        left = dict(numbers)
        while left:
            path, formula, unknown = "", sympy.Integer(0), list[sympy.Symbol]()
            for path, formula in left.items():  # noqa: B007
                unknown = [s for s in formula.free_symbols if s not in values]
                if len(unknown) <= 1:
                    break
            else:
                path, formula = next(iter(left.items()))
                found = ", ".join(sorted(s.name for s in formula.free_symbols if s not in values))
                fix = f"Name a number that is {found.split(', ')[0]} alone."
                raise InputError(
                    message(
                        f"equations, name of '{path}'", "letters without a value", found, "one unknown at most", fix
                    )
                )
            del left[path]
            number = self.known[path]
            if unknown:
                values[unknown[0]] = self._root(path, formula.subs(values), unknown[0], number)
            elif abs(float(formula.subs(values)) - number) > SAME * max(abs(number), 1e-300):
                shown = f"{formula} = {float(formula.subs(values)):.9g}, but the model has {number:.9g}"
                fix = "Give this number another letter."
                raise InputError(
                    message(f"equations, name of '{path}'", "one letter, two values", shown, "one value", fix)
                )
        return dict(sorted(values.items(), key=lambda pair: list(_order(numbers)).index(pair[0])))

    def _root(self, path: str, formula: sympy.Expr, unknown: sympy.Symbol, number: float) -> float:
        """The value of the unknown letter that makes a formula the model's number."""
        where = f"equations, name of '{path}'"
        roots = (
            [complex(x) for x in sympy.Poly(formula - sympy.Float(number, 30), unknown).nroots(n=20)]
            if formula.is_polynomial(unknown)
            else []
        )
        real = sorted(
            (x.real for x in roots if abs(x.imag) < 1e-12 * max(abs(x), 1e-300)), key=lambda x: (x < 0, abs(x))
        )
        if not real:
            raise InputError(message(where, "no value gives the model's number", f"{formula} = {number:g}", "a number"))
        return real[0]

    def _meaning(self, symbol: sympy.Symbol, numbers: Mapping[str, sympy.Expr]) -> Draft:
        """What a letter of the user's own is: the number it stands for alone, or first."""
        paths = [path for path, formula in numbers.items() if symbol in formula.free_symbols]
        alone = [path for path in paths if numbers[path] in (symbol, -symbol)]
        path = (alone or paths)[0]
        draft = self.drafts.get(path)
        meaning = draft.meaning if draft else path
        if not alone:
            meaning = f"by {path} = {numbers[path]}"
        return Draft(symbol.name, 1, meaning, draft.unit if draft and alone else "")


def _order(numbers: Mapping[str, sympy.Expr]) -> Iterable[sympy.Symbol]:
    seen: dict[sympy.Symbol, None] = {}
    for formula in numbers.values():
        for symbol in sorted(formula.free_symbols, key=lambda s: s.name):
            seen.setdefault(symbol)
    return seen
