"""Files of bounded size, and the numbers in them: what all readers of matrices share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import ModelError, message
from polhode.model.modal.matrices import MOST_ENTRIES, MOST_FREEDOMS

MOST_BYTES = 2 << 30
"""Bytes of one file at most."""


class RawMatrices(NamedTuple):
    """Matrices as a file has them, without checks of their meaning: arguments of `finite_elements`."""

    M: Any
    K: Any
    nodes: Any
    freedoms: Any = None
    labels: Any = None


def checked_file(where: str, path: Path) -> Path:
    """The path of a regular file of bounded size."""
    try:
        good, size = path.is_file(), path.stat().st_size if path.is_file() else 0
    except (OSError, ValueError):
        good, size = False, 0
    if not good:
        raise ModelError(message(where, "no such file", repr(path.name), "a file"))
    if size > MOST_BYTES:
        raise ModelError(message(where, "too large", f"{size} bytes", f"at most {MOST_BYTES}"))
    return path


def lines_of(where: str, path: Path) -> Iterator[str]:
    """The lines of a text file, of bounded length each."""
    with checked_file(where, path).open(encoding="ascii", errors="replace") as file:
        while line := file.readline(10_000):
            yield line


def number_of(where: str, line: str, text: str, kind: Callable = float) -> Any:
    """A number in the text of a file."""
    try:
        return kind(text)
    except (ValueError, OverflowError):
        raise ModelError(
            message(where, "not a number", f"{text[:40]!r} in {line.strip()[:80]!r}", "a number")
        ) from None


def symmetric_matrix(where: str, n: int, rows: Any, columns: Any, values: Any) -> Any:
    """A matrix (n, n) from its entries, of which one half may be written."""
    from scipy import sparse

    rows, columns = np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
    values = np.array(values, dtype=float)
    if n > MOST_FREEDOMS or len(values) > MOST_ENTRIES:
        found, expected = f"{n} rows, {len(values)} entries", f"at most {MOST_FREEDOMS} and {MOST_ENTRIES}"
        raise ModelError(message(where, "too large", found, expected))
    if len(rows) and not (min(rows.min(), columns.min()) >= 0 and max(rows.max(), columns.max()) < n):
        found = f"rows {rows.min() + 1} to {rows.max() + 1}, columns {columns.min() + 1} to {columns.max() + 1}"
        raise ModelError(message(where, "entries outside the matrix", found, f"1 to {n}"))
    made = sparse.coo_matrix((values, (rows, columns)), shape=(n, n)).tocsr()
    if np.all(rows >= columns) or np.all(rows <= columns):
        made = (made + made.T - sparse.diags(made.diagonal())).tocsr()
    return made
