"""Matrices in a NumPy file, .npz: M, K, nodes; perhaps freedoms and labels.

Sparse ones in parts: M_data, M_indices, M_indptr (compressed rows), or M_data, M_row, M_col.
"""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import ModelError, message
from polhode.formats.finite_elements.bounded import MOST_BYTES, RawMatrices, checked_file


def read_npz(where: str, path: Path) -> RawMatrices:
    """The matrices of a file; nothing is unpickled, and sizes are looked at before anything is read."""
    checked_file(where, path)
    try:
        with zipfile.ZipFile(path) as archive:
            whole = sum(entry.file_size for entry in archive.infolist())
        if whole > MOST_BYTES:
            raise ModelError(message(where, "too large", f"{whole} bytes unpacked", f"at most {MOST_BYTES}"))
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: _array(where, file, name) for name in file.files}
    except (zipfile.BadZipFile, OSError, EOFError, KeyError) as error:
        raise ModelError(message(where, "not a NumPy file", str(error)[:80], "an .npz file")) from None
    if "nodes" not in arrays:
        raise ModelError(message(where, "no nodes", ", ".join(arrays)[:200] or "nothing", "M, K and nodes"))
    M, K = (_matrix(where, arrays, name) for name in "MK")
    return RawMatrices(M, K, arrays["nodes"], arrays.get("freedoms"), arrays.get("labels"))


def _array(where: str, file: Any, name: str) -> np.ndarray:
    try:
        found = file[name]
    except (ValueError, MemoryError) as error:
        fix = "Save numbers alone: np.savez(file, M=…, K=…, nodes=…)."
        raise ModelError(message(f"{where}, {name[:40]}", "not read", str(error)[:80], "numbers", fix)) from None
    if not np.issubdtype(found.dtype, np.number) or np.issubdtype(found.dtype, np.complexfloating):
        raise ModelError(message(f"{where}, {name[:40]}", "not numbers", str(found.dtype), "real numbers"))
    return found


def _matrix(where: str, arrays: dict[str, np.ndarray], name: str) -> Any:
    """A dense matrix, or one in parts."""
    from scipy import sparse

    if name in arrays:
        return arrays[name]
    data = arrays.get(f"{name}_data")
    shape = arrays.get(f"{name}_shape")
    try:
        if data is not None and f"{name}_indptr" in arrays:
            pointers, n = arrays[f"{name}_indptr"], len(arrays[f"{name}_indptr"]) - 1
            if shape is not None and tuple(shape.ravel().tolist()) != (n, n):
                raise ModelError(message(f"{where}, {name}_shape", "not square", str(shape.tolist()), f"({n}, {n})"))
            made = sparse.csr_matrix((data, arrays[f"{name}_indices"], pointers), shape=(n, n))
            made.check_format(full_check=True)
            return made
        if data is not None and f"{name}_row" in arrays:
            rows, columns = arrays[f"{name}_row"], arrays[f"{name}_col"]
            n = int(max(rows.max(initial=0), columns.max(initial=0))) + 1
            return sparse.coo_matrix((data, (rows, columns)), shape=(n, n))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ModelError(message(f"{where}, {name}", "not a sparse matrix", str(error)[:80], "its parts")) from None
    expected = f"{name}, or {name}_data with {name}_indices and {name}_indptr, or with {name}_row and {name}_col"
    raise ModelError(message(where, f"no matrix {name}", ", ".join(arrays)[:200], expected))
