"""Finite-element matrices of any kind of file that is known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polhode.errors import ModelError, message
from polhode.formats.finite_elements.bounded import RawMatrices
from polhode.formats.finite_elements.calculix import read_calculix
from polhode.formats.finite_elements.matrix_market import read_mtx, read_nodes
from polhode.formats.finite_elements.nastran import read_nastran
from polhode.formats.finite_elements.npz import read_npz
from polhode.model.modal.matrices import FiniteElements, finite_elements
from polhode.scalar import shown

READERS = {
    ".npz": read_npz,
    **dict.fromkeys((".sti", ".mas", ".dof"), read_calculix),
    **dict.fromkeys((".bdf", ".dat", ".nas", ".pch"), read_nastran),
}
"""Readers of one file, by its ending."""

PARTS = ("mass", "stiffness", "nodes")


def read_finite_elements(source: Any, units: str = "m, kg, s") -> FiniteElements:
    """The matrices of a finite-element model, from files.

        M, K, nodes, freedoms, labels = ph.read_finite_elements("bracket.npz")

    source  a file: .npz of NumPy (M, K, nodes); .sti of CalculiX, with .mas, .dof and .inp beside it; .bdf, .dat, .pch
            of Nastran with DMIG and GRID entries; or {"mass": "m.mtx", "stiffness": "k.mtx", "nodes": "nodes.txt"}
            in Matrix Market form, nodes as lines of x y z or number x y z
    units   of the files, as "mm, t, s"; what is returned is in SI units
    """
    where, raw = raw_matrices(source)
    return finite_elements(where, *raw, units)


def raw_matrices(source: Any, home: Path | None = None) -> tuple[str, RawMatrices]:
    """What files hold, and how errors call them.  home: the folder of relative paths"""
    if isinstance(source, Mapping):
        if set(source) != set(PARTS):
            raise ModelError(message("finite elements", "not the files of one", shown(dict(source)), ", ".join(PARTS)))
        paths = {part: _path(home, source[part]) for part in PARTS}
        nodes, labels = read_nodes(paths["nodes"].name, paths["nodes"])
        M, K = (read_mtx(paths[part].name, paths[part]) for part in ("mass", "stiffness"))
        return paths["stiffness"].name, RawMatrices(M, K, nodes, None, labels)
    path = _path(home, source)
    if path.suffix.lower() not in READERS:
        expected = f"{', '.join(READERS)}; or mass, stiffness and nodes of .mtx files"
        raise ModelError(message(path.name, "not a kind of file that is known", repr(path.suffix), expected))
    return path.name, READERS[path.suffix.lower()](path.name, path)


def _path(home: Path | None, given: Any) -> Path:
    if not isinstance(given, (str, Path)):
        raise ModelError(message("finite elements", "not a file", shown(given), "a path"))
    return Path(given) if home is None else home / given
