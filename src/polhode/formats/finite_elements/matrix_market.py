"""Matrices in Matrix Market files, .mtx, and the places of nodes in a text file."""

from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import ModelError, message
from polhode.formats.finite_elements.bounded import lines_of, number_of
from polhode.model.modal.matrices import MOST_ENTRIES, MOST_FREEDOMS

HEADER = "%%MatrixMarket matrix"
MOST_DENSE = 20_000_000
"""Numbers of a dense matrix at most."""


def read_mtx(where: str, path: Path) -> Any:
    """The matrix of a file: coordinates or a dense array, of real or whole numbers, general or symmetric."""
    from scipy import sparse

    lines = lines_of(where, path)
    first = next(lines, "")
    words = first.lower().split()
    good = first.startswith(HEADER) and len(words) == 5 and words[2] in ("coordinate", "array")
    if not good or words[3] not in ("real", "integer", "double") or words[4] not in ("general", "symmetric"):
        expected = f"{HEADER} coordinate|array real general|symmetric"
        raise ModelError(message(where, "not a Matrix Market file", first.strip()[:80], expected))
    line = next((line for line in lines if line.strip() and not line.startswith("%")), "")
    sizes = [number_of(where, line, word, int) for word in line.split()]
    is_dense, is_half = words[2] == "array", words[4] == "symmetric"
    if len(sizes) != (2 if is_dense else 3) or sizes[0] < 1 or sizes[1] < 1:
        raise ModelError(message(where, "not the size of a matrix", line.strip()[:80], "rows, columns, entries"))
    count = sizes[0] * sizes[1] if is_dense else sizes[2]
    most = MOST_DENSE if is_dense else MOST_ENTRIES
    if max(sizes[:2]) > 3 * MOST_FREEDOMS or count > most:
        raise ModelError(message(where, "too large", line.strip()[:80], f"at most {most} entries"))
    if is_dense and is_half:
        count = sizes[0] * (sizes[0] + 1) // 2
    numbers = _numbers(where, lines, count, 1 if is_dense else 3)
    if is_dense:
        return _dense(numbers[:, 0], sizes[0], sizes[1], is_half)
    rows, columns = numbers[:, 0].astype(np.int64) - 1, numbers[:, 1].astype(np.int64) - 1
    if count and not (min(rows.min(), columns.min()) >= 0 and rows.max() < sizes[0] and columns.max() < sizes[1]):
        raise ModelError(message(where, "entries outside the matrix", f"of {sizes[0]} × {sizes[1]}", "inside"))
    made = sparse.coo_matrix((numbers[:, 2], (rows, columns)), shape=(sizes[0], sizes[1])).tocsr()
    return (made + made.T - sparse.diags(made.diagonal())).tocsr() if is_half else made


def _numbers(where: str, lines: Any, count: int, each: int) -> np.ndarray:
    """So many lines of numbers."""
    found = list[list[float]]()
    for line in lines:
        words = line.split()
        if not words:
            continue
        if len(words) != each or len(found) == count:
            raise ModelError(message(where, "not an entry", line.strip()[:80], f"{count} lines of {each} numbers"))
        found.append([number_of(where, line, word) for word in words])
    if len(found) != count:
        raise ModelError(message(where, "cut short", f"{len(found)} entries", f"{count} entries"))
    return np.array(found, dtype=float).reshape(count, each)


def _dense(values: np.ndarray, rows: int, columns: int, is_half: bool) -> np.ndarray:
    """A dense matrix, column by column."""
    if not is_half:
        return values.reshape(columns, rows).T
    made = np.zeros((rows, rows))
    made.T[np.triu_indices(rows)] = values  # columns of the lower half
    return made + made.T - np.diag(np.diag(made))


def read_nodes(where: str, path: Path) -> tuple[np.ndarray, np.ndarray | None]:
    """Places (nodes, 3) of a text file with lines "x y z" or "number x y z", and the numbers."""
    rows = list[list[float]]()
    for line in lines_of(where, path):
        words = line.split("#")[0].replace(",", " ").split()
        if words:
            if len(words) not in (3, 4) or (rows and len(words) != len(rows[0])):
                raise ModelError(message(where, "not a node", line.strip()[:80], "x y z, or number x y z"))
            rows.append([number_of(where, line, word) for word in words])
        if len(rows) > MOST_FREEDOMS:
            raise ModelError(message(where, "too many nodes", f"more than {MOST_FREEDOMS}", "fewer"))
    if not rows:
        raise ModelError(message(where, "no nodes", "an empty file", "lines of x y z"))
    table = np.array(rows, dtype=float)
    return table[:, -3:], table[:, 0].astype(np.int64) if table.shape[1] == 4 else None
