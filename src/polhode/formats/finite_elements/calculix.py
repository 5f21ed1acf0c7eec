"""Matrices of CalculiX (*FREQUENCY, SOLVER=MATRIXSTORAGE): name.sti, name.mas, name.dof, and nodes of name.inp.

Lines of .sti and .mas are "row column value" from 1, of the upper half; of .dof "node.direction", one for each row.
Trailing coordinates of a node that are left out are 0.
"""

from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import ModelError, message
from polhode.formats.finite_elements.bounded import RawMatrices, lines_of, number_of, symmetric_matrix
from polhode.model.modal.matrices import MOST_ENTRIES, MOST_FREEDOMS


def read_calculix(where: str, path: Path) -> RawMatrices:
    """The matrices of the files that go by one name.  path: one of them"""
    parts = {suffix: path.with_suffix(suffix) for suffix in (".sti", ".mas", ".dof", ".inp")}
    labels, directions = _freedoms(f"{where}, {parts['.dof'].name}", parts[".dof"])
    places = _nodes(f"{where}, {parts['.inp'].name}", parts[".inp"])
    known = np.unique(labels)
    missing = [int(label) for label in known if int(label) not in places]
    if missing:
        found, expected = f"{missing[0]} and {len(missing) - 1} more", "a place of each in *NODE of the .inp file"
        fix = "Files that *INCLUDE names are not read: put their nodes into the .inp file."
        raise ModelError(message(where, "nodes without a place", found, expected, fix))
    row = {int(label): k for k, label in enumerate(known)}
    freedoms = np.column_stack([[row[int(label)] for label in labels], directions])
    n = len(labels)
    M, K = (_matrix(f"{where}, {parts[each].name}", parts[each], n) for each in (".mas", ".sti"))
    return RawMatrices(M, K, np.array([places[int(label)] for label in known]), freedoms, known)


def _freedoms(where: str, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Node numbers and directions (0–5) of all rows."""
    found = list[tuple[int, int]]()
    for line in lines_of(where, path):
        if not line.strip():
            continue
        node, _, direction = line.strip().partition(".")
        pair = number_of(where, line, node, int), number_of(where, line, direction or "?", int)
        if not 1 <= pair[1] <= 6 or len(found) >= MOST_FREEDOMS:
            raise ModelError(message(where, "not a freedom", line.strip()[:80], "node.direction, 1 to 6"))
        found.append(pair)
    if not found:
        raise ModelError(message(where, "no freedoms", "an empty file", "lines of node.direction"))
    labels, directions = np.array(found, dtype=np.int64).T
    return labels, directions - 1


def _matrix(where: str, path: Path, n: int) -> Any:
    rows, columns, values = list[int](), list[int](), list[float]()
    for line in lines_of(where, path):
        words = line.split()
        if not words:
            continue
        if len(words) != 3 or len(values) >= MOST_ENTRIES:
            raise ModelError(message(where, "not an entry", line.strip()[:80], "row, column, value"))
        rows.append(number_of(where, line, words[0], int) - 1)
        columns.append(number_of(where, line, words[1], int) - 1)
        values.append(number_of(where, line, words[2].replace("D", "E").replace("d", "e")))
    return symmetric_matrix(where, n, rows, columns, values)


def _nodes(where: str, path: Path) -> dict[int, tuple[float, float, float]]:
    """The places of the nodes by number, of the blocks *NODE."""
    found, inside = dict[int, tuple[float, float, float]](), False
    for line in lines_of(where, path):
        text = line.strip()
        if text.startswith("**") or not text:
            continue
        if text.startswith("*"):
            inside = text.upper().split(",")[0].strip() == "*NODE"
            continue
        if inside:
            words = [word.strip() for word in text.split(",") if word.strip()]
            if not 2 <= len(words) <= 4 or len(found) > 10 * MOST_FREEDOMS:
                raise ModelError(message(where, "not a node", text[:80], "number, x, y, z"))
            x, y, z = [*(number_of(where, line, word) for word in words[1:]), 0.0, 0.0][:3]
            found[number_of(where, line, words[0], int)] = (x, y, z)
    return found
