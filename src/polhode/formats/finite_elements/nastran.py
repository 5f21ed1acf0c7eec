"""Matrices of Nastran as text: DMIG entries (KAAX, MAAX, …) and GRID entries, in short, long or free fields."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import ModelError, message
from polhode.formats.finite_elements.bounded import RawMatrices, lines_of, number_of, symmetric_matrix
from polhode.model.modal.matrices import MOST_ENTRIES

Term = tuple[tuple[int, int], tuple[int, int], float]
"""An entry of a matrix: node and direction of its row and of its column, and the value."""

SYMMETRIC, SQUARE = 6, 1
"""Forms of a DMIG (its field IFO) that are taken: of a symmetric one each pair of entries is written once."""

COMPLEX = (3, 4)
"""Types of a DMIG (its field TIN) that are not."""

EXPONENT = re.compile(r"(?<=[\d.])([+-]\d+)$")
"""An exponent without its letter: 1.5+3."""


def read_nastran(where: str, path: Path) -> RawMatrices:
    """The matrices of a file: KAAX and MAAX, or the only DMIG whose name begins with K and that with M."""
    places = dict[int, tuple[float, float, float]]()
    matrices, forms = dict[str, list[Term]](), dict[str, int]()
    count = 0
    for fields in _entries(where, path):
        if fields[0] == "GRID":
            label, place = _grid(where, fields)
            places[label] = place
        elif fields[0] == "DMIG" and fields[2].strip() in ("", "0"):
            forms[fields[1].strip().upper()] = _form(where, fields)
        elif fields[0] == "DMIG":
            terms = _column(where, fields)
            count += len(terms)
            if count > MOST_ENTRIES:
                raise ModelError(message(where, "too large", f"{count} entries", f"at most {MOST_ENTRIES}"))
            matrices.setdefault(fields[1].strip().upper(), []).extend(terms)
    chosen = {letter: [name for name in matrices if name.startswith(letter)] for letter in "KM"}
    chosen |= {letter: [f"{letter}AAX"] for letter in "KM" if f"{letter}AAX" in matrices}  # K4AAX is damping
    for letter, names in chosen.items():
        if len(names) != 1:
            found = ", ".join(matrices) or "no DMIG"
            raise ModelError(message(where, f"not one matrix {letter}", found, f"one DMIG called {letter}…"))
    used = sorted({end for names in chosen.values() for a, b, _ in matrices[names[0]] for end in (a, b)})
    missing = sorted({label for label, _ in used} - places.keys())
    if missing:
        raise ModelError(message(where, "nodes without a place", f"{missing[0]}", "a GRID entry of each"))
    labels = sorted({label for label, _ in used})
    row, at = {label: k for k, label in enumerate(labels)}, {end: k for k, end in enumerate(used)}
    M, K = (_matrix(where, name, matrices[name], at, forms.get(name)) for (name,) in (chosen["M"], chosen["K"]))
    freedoms = np.array([(row[label], direction) for label, direction in used])
    return RawMatrices(M, K, np.array([places[label] for label in labels]), freedoms, np.array(labels))


def _form(where: str, fields: list[str]) -> int:
    """The form of a matrix, by the entry that begins it."""
    name, (form, kind) = (
        fields[1].strip(),
        (number_of(where, " ".join(fields), x.strip() or "?", int) for x in fields[3:5]),
    )
    if form not in (SYMMETRIC, SQUARE):
        raise ModelError(message(f"{where}, {name}", "neither square nor symmetric", f"form {form}", "form 1 or 6"))
    if kind in COMPLEX:
        raise ModelError(message(f"{where}, {name}", "complex numbers", f"type {kind}", "real ones, type 1 or 2"))
    return form


def _matrix(where: str, name: str, terms: list[Term], at: dict[tuple[int, int], int], form: int | None) -> Any:
    """A matrix of its terms.  at: the rows of freedoms; form: as `_form` has it, None where no entry told"""
    rows, columns = [at[a] for a, _, _ in terms], [at[b] for _, b, _ in terms]
    if form == SYMMETRIC:  # entries of both halves may be mixed
        pairs = [(max(i, j), min(i, j)) for i, j in zip(rows, columns, strict=True)]
        if len(set(pairs)) < len(pairs):
            twice = Counter(pairs).most_common(1)[0][0]
            (a, b), (c, d) = (next(end for end, k in at.items() if k == row) for row in twice)
            expected = "each pair of a symmetric matrix once"
            raise ModelError(message(f"{where}, {name}", "an entry twice", f"{a}-{b + 1} with {c}-{d + 1}", expected))
        rows, columns = [i for i, _ in pairs], [j for _, j in pairs]
    return symmetric_matrix(f"{where}, {name}", len(at), rows, columns, [x for *_, x in terms])


def _entries(where: str, path: Path) -> Iterator[list[str]]:
    """The fields of each entry, its continuations joined: ["DMIG", name, …]."""
    entry: list[str] = []
    for line in lines_of(where, path):
        text = line.split("$")[0].rstrip()
        if not text.strip():
            continue
        name, fields = _fields(text)
        if name in ("", "+", "*") or name.startswith(("+", "*")):
            if entry and len(entry) < 10_000_000:
                entry += fields
            continue
        if entry:
            yield entry
        entry = [name.rstrip("*").upper(), *fields]
    if entry:
        yield entry


def _fields(text: str) -> tuple[str, list[str]]:
    """The name of a line, and its eight fields (four of a long one)."""
    if "," in text:
        name, *fields = text.split(",")
        size = 4 if name.strip().endswith("*") else 8
        return name.strip(), [*fields, *[""] * size][:size]
    text = text.expandtabs(8)
    name = text[:8].strip()
    width, size = (16, 4) if "*" in name else (8, 8)
    return name, [text[8 + width * k : 8 + width * (k + 1)] for k in range(size)]


def _number(where: str, text: str) -> float:
    plain = text.strip().replace("D", "E").replace("d", "e")
    if "e" not in plain.lower():
        plain = EXPONENT.sub(r"e\1", plain)
    return number_of(where, text, plain)


def _grid(where: str, fields: list[str]) -> tuple[int, tuple[float, float, float]]:
    """The number of a node and its place."""
    fields = [*fields, *[""] * 8]
    if fields[2].strip() not in ("", "0"):
        found, fix = f"GRID {fields[1].strip()} in system {fields[2].strip()}", "Export places in the basic system."
        raise ModelError(message(where, "a node in coordinates of its own", found, "the basic system", fix))
    if fields[6].strip() not in ("", "0"):
        found, fix = (
            f"GRID {fields[1].strip()} in system {fields[6].strip()}",
            "Export displacements in the basic system.",
        )
        raise ModelError(message(where, "displacements in coordinates of their own", found, "the basic system", fix))
    x, y, z = (_number(where, field) if field.strip() else 0.0 for field in fields[3:6])
    return number_of(where, fields[1], fields[1], int), (x, y, z)


def _column(where: str, fields: list[str]) -> list[Term]:
    """The entries of a column: node and direction of row and column, and the value."""
    end, rest, terms = _freedom(where, fields[2:4]), fields[5:], list[Term]()  # the field between is empty
    for k in range(0, len(rest), 4):
        group = [*rest[k : k + 4], "", "", ""][:4]
        if any(field.strip() for field in group[:3]):
            terms.append((_freedom(where, group[:2]), end, _number(f"{where}, {fields[1].strip()}", group[2])))
    return terms


def _freedom(where: str, pair: list[str]) -> tuple[int, int]:
    node, direction = (number_of(where, " ".join(pair), field.strip() or "?", int) for field in pair)
    if not 1 <= direction <= 6:
        raise ModelError(message(where, "not a freedom of a node", f"{node}, {direction}", "directions 1 to 6"))
    return node, direction - 1
