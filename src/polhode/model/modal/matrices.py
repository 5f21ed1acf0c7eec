"""Matrices of a finite-element model, M ü + K u = f, checked: sizes, symmetry, rigid motions, mass and inertia."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import ModelError, did_you_mean, message
from polhode.scalar import is_list, shown

MOST_FREEDOMS = 300_000
"""Freedoms of a model at most: K is factored, which takes some 2 GiB of memory for so many of a solid."""

MOST_ENTRIES = 60_000_000
"""Numbers of one matrix that are not 0 at most: 0.7 GiB."""

ASYMMETRY = 1e-6
"""The part of the largest entry by which a matrix may differ from its transpose; files of seven digits do."""

STIFF = 1e-5
"""The part of |K||R| that K R may have for a rigid motion R: files of seven digits leave about 1e-6."""

ISOTROPY = 1e-4
"""The part of the mass by which it may differ between directions."""

UNITS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "in": 0.0254, "ft": 0.3048}
MASSES = {"kg": 1.0, "t": 1e3, "g": 1e-3, "lbm": 0.45359237, "slug": 14.593902937206, "slinch": 175.126835246476}


class FiniteElements(NamedTuple):
    """A finite-element model in SI units: what `ph.ModalBody.from_matrices` takes."""

    M: Any
    """(n, n)  mass matrix, sparse, kg and kg m²"""
    K: Any
    """(n, n)  stiffness matrix, sparse, N/m and N m"""
    nodes: np.ndarray
    """(nodes, 3)  places of the nodes without load, m"""
    freedoms: np.ndarray
    """(n, 2)  the row of `nodes` of each freedom, and its direction: 0, 1, 2 displacements, 3, 4, 5 rotations"""
    labels: np.ndarray
    """(nodes,)  numbers of the nodes, by which interfaces are named"""


class MassProperties(NamedTuple):
    """Mass, kg, centre (3,), m, and inertia about the origin (3, 3), kg m², of a finite-element model."""

    mass: float
    center: np.ndarray
    inertia: np.ndarray


def finite_elements(
    where: str, M: Any, K: Any, nodes: Any, freedoms: Any = None, labels: Any = None, units: str = "m, kg, s"
) -> FiniteElements:
    """Matrices and nodes as they are kept, or a ModelError that says what is wrong with them."""
    from scipy import sparse  # here, as below: it would add a fifth to the import of every model

    places = _places(where, nodes)
    M, K = _matrix(where, "M", M), _matrix(where, "K", K)
    if M.shape != K.shape:
        found = f"M {M.shape[0]}, K {K.shape[0]}"
        raise ModelError(message(where, "matrices of two sizes", found, "as many rows of both"))
    known = _freedoms(where, M.shape[0], len(places), freedoms)
    names = _labels(where, labels, len(places))
    length, mass = _units(where, units)
    scale = sparse.diags(np.where(known[:, 1] < 3, 1 / length, 1.0)) * (math.sqrt(mass) * length)
    if length != 1.0 or mass != 1.0:
        M, K, places = (scale @ M @ scale).tocsr(), (scale @ K @ scale).tocsr(), length * places
    return FiniteElements(M, K, places, known, names)


def _places(where: str, nodes: Any) -> np.ndarray:
    try:
        places = np.array(nodes, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(message(f"{where}, nodes", "not places", shown(nodes), "an array (nodes, 3)")) from None
    if places.ndim != 2 or places.shape[1] != 3 or not len(places):
        raise ModelError(message(f"{where}, nodes", "wrong shape", str(places.shape), "(nodes, 3)"))
    if not np.all(np.isfinite(places)):
        raise ModelError(message(f"{where}, nodes", "not finite", "NaN or infinite", "metres"))
    return places


def _matrix(where: str, name: str, given: Any) -> Any:
    """A square, symmetric sparse matrix of finite numbers."""
    from scipy import sparse

    place = f"{where}, {name}"
    try:
        found = sparse.csr_matrix(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(message(place, "not a matrix", shown(given), "an array or a sparse matrix (n, n)")) from None
    n = found.shape[0]
    if found.shape != (n, n) or not n:
        raise ModelError(message(place, "not square", str(found.shape), "(n, n)"))
    if n > MOST_FREEDOMS or found.nnz > MOST_ENTRIES:
        expected = f"at most {MOST_FREEDOMS} rows, {MOST_ENTRIES} entries"
        raise ModelError(message(place, "too large", f"{n} rows, {found.nnz} entries", expected))
    if not np.all(np.isfinite(found.data)):
        raise ModelError(message(place, "not finite", "NaN or infinite", "numbers"))
    size = float(np.max(abs(found.data), initial=0.0))
    apart = (found - found.T).tocoo()
    worst = float(np.max(abs(apart.data), initial=0.0))
    if not size > 0:
        raise ModelError(message(place, "no entries", "all 0", "a matrix of finite elements"))
    if worst > ASYMMETRY * size:
        k = int(np.argmax(abs(apart.data)))
        found_ = f"entries ({apart.row[k]}, {apart.col[k]}) and across differ by {worst:.3g}, of {size:.3g}"
        fix = "Was only one half of it written? Complete it: A + Aᵀ − diag(A)."
        raise ModelError(message(place, "not symmetric", found_, "a symmetric matrix", fix))
    return ((found + found.T) / 2).tocsr()


def _freedoms(where: str, n: int, nodes: int, given: Any) -> np.ndarray:
    """Node and direction of each freedom; unless given, three or six at each node."""
    if given is None:
        each = n // nodes
        if n != each * nodes or each not in (3, 6):
            fix = "Say which they are: freedoms=[(node, direction), …]."
            found = f"{n} freedoms, {nodes} nodes"
            raise ModelError(
                message(where, "not three or six freedoms a node", found, f"{3 * nodes} or {6 * nodes}", fix)
            )
        return np.column_stack([np.repeat(np.arange(nodes), each), np.tile(np.arange(each), nodes)])
    try:
        known = np.array(given, dtype=int)
    except (TypeError, ValueError, OverflowError):
        known = np.zeros((0, 0), dtype=int)
    good = known.shape == (n, 2) and np.all((known >= 0) & (known < [nodes, 6]))
    if not good:
        expected = f"{n} pairs of a row of nodes (0–{nodes - 1}) and a direction (0–5)"
        raise ModelError(message(f"{where}, freedoms", "not freedoms", shown(given), expected))
    if len(np.unique(known[:, 0] * 6 + known[:, 1])) < n:
        raise ModelError(message(f"{where}, freedoms", "one twice", "a node and direction twice", "each once"))
    return known


def _labels(where: str, given: Any, nodes: int) -> np.ndarray:
    if given is None:
        return np.arange(nodes)
    try:
        names = np.array(given, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        names = np.zeros((0, 0), dtype=np.int64)
    if names.shape != (nodes,) or len(np.unique(names)) < nodes:
        raise ModelError(
            message(f"{where}, labels", "not node numbers", shown(given), f"{nodes} whole numbers, each once")
        )
    return names


def _units(where: str, text: Any) -> tuple[float, float]:
    """Metres and kilograms of the units of a model."""
    words = [word.strip() for word in text.split(",")] if isinstance(text, str) else []
    if len(words) != 3 or words[0] not in UNITS or words[1] not in MASSES or words[2] != "s":
        expected = f"length ({', '.join(UNITS)}), mass ({', '.join(MASSES)}) and s, as 'mm, t, s'"
        raise ModelError(message(f"{where}, units", "unknown", shown(text), expected))
    return UNITS[words[0]], MASSES[words[1]]


def rigid_motions(fe: FiniteElements) -> np.ndarray:
    """(n, 6)  displacements of all freedoms by unit translations, and by unit rotations about the origin."""
    found = np.zeros((len(fe.freedoms), 6))
    node, direction = fe.freedoms.T
    turned = np.cross(np.eye(3)[None], fe.nodes[:, None])  # (nodes, axis, 3): e × r
    shifts = direction < 3
    rows = np.flatnonzero(shifts)
    found[rows, direction[rows]] = 1.0
    found[rows, 3:] = turned[node[rows], :, direction[rows]]
    rows = np.flatnonzero(~shifts)
    found[rows, direction[rows]] = 1.0
    return found


def check_rigid(where: str, fe: FiniteElements, R: np.ndarray) -> None:
    """Raise a ModelError unless rigid motions cost no energy."""
    size = abs(fe.K) @ abs(R)
    worst = np.max(abs(fe.K @ R), axis=0) / np.maximum(np.max(size, axis=0), 1e-300)
    if np.max(worst) > STIFF:
        k = int(np.argmax(worst))
        what = f"{'translation along' if k < 3 else 'rotation about'} {'xyz'[k % 3]}"
        fix = "Export the matrices free, without supports; are nodes and freedoms in the order of the matrices?"
        found = f"{what} needs {worst[k]:.2g} of the forces in K"
        raise ModelError(message(f"{where}, K", "a rigid motion is resisted", found, f"at most {STIFF:g}", fix))


def mass_properties(where: str, fe: FiniteElements, R: np.ndarray) -> MassProperties:
    """Mass, centre and inertia about the origin, from the mass matrix alone."""
    whole = R.T @ (fe.M @ R)
    masses = np.diag(whole)[:3]
    mass = float(np.mean(masses))
    if not mass > 0:
        raise ModelError(message(f"{where}, M", "no mass", f"{mass:g} kg", "above 0"))
    if np.max(abs(whole[:3, :3] - mass * np.eye(3))) > ISOTROPY * mass:
        found = f"along x, y, z {masses[0]:.6g}, {masses[1]:.6g}, {masses[2]:.6g} kg"
        fix = "Are freedoms in the order of the matrices, and is no mass left out in one direction?"
        raise ModelError(message(f"{where}, M", "not one mass in all directions", found, "the same", fix))
    coupling = whole[:3, 3:]  # e_a·(e_b × s)
    s = np.array([coupling[1, 2] - coupling[2, 1], coupling[2, 0] - coupling[0, 2], coupling[0, 1] - coupling[1, 0]])
    return MassProperties(mass, s / (2 * mass), whole[3:, 3:])


def interface_nodes(where: str, fe: FiniteElements, given: Any) -> dict[str, np.ndarray]:
    """Rows of `nodes` of each interface, by name."""
    if not isinstance(given, Mapping) or not given:
        expected = "nodes by name, as {'bolt': 12, 'pin': [340, 341, 342]}"
        raise ModelError(message(f"{where}, interfaces", "no interfaces", shown(given), expected))
    of_label = {int(label): row for row, label in enumerate(fe.labels)}
    used, found = dict[int, str](), dict[str, np.ndarray]()
    for name, nodes in given.items():
        place = f"{where}, interface '{name}'"
        asked: Sequence[Any] = nodes if is_list(nodes) else [nodes]
        rows = []
        for node in asked:
            if (
                isinstance(node, (bool, np.bool_))
                or not isinstance(node, (int, np.integer))
                or int(node) not in of_label
            ):
                low, high = int(np.min(fe.labels)), int(np.max(fe.labels))
                fix = did_you_mean(str(node), [*map(str, fe.labels[:1000])])
                expected = f"one of {len(fe.labels)} nodes, {low} to {high}"
                raise ModelError(message(place, "no such node", shown(node), expected, fix))
            row = of_label[int(node)]
            if row in used:
                raise ModelError(message(place, "a node of two interfaces", f"{node}, also of '{used[row]}'", "one"))
            used[row] = str(name)
            rows.append(row)
        if not rows:
            raise ModelError(message(place, "no nodes", shown(nodes), "a node, or several"))
        found[str(name)] = np.array(rows)
    return found
