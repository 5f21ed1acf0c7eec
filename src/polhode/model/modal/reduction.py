"""Craig–Bampton reduction of finite-element matrices: constraint modes and fixed-interface modes, made orthogonal.

    u = P_b x_b + P_i x_i,  x_i = −K_ii⁻¹ K_ib x_b + Φ y                                    Craig and Bampton (1968)

The six rigid motions are part of it; taken out, what is left moves against a frame that floats with the body
(Tisserand's, to first order: no momentum of the modes), or against the frame of one interface.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import ModelError, message
from polhode.model.modal.matrices import FiniteElements, rigid_motions

DENSE = 1500
"""Inner freedoms up to which all fixed-interface modes are found at once: a second, and sure."""

HOLDS = 1e-8
"""The smallest singular value of the rigid motions of all interfaces, of the largest, at which these hold a body."""

ROUNDING = 1e-12
"""The part of the largest displacement below which one is 0: that is the rounding of eigenvectors, and zeros cost no
operations."""

ARM = 0.05
"""The part of the size of a body at which rotations are compared with displacements: a slender beam is as thick."""

MASSLESS = 1e-13
"""1/ω² of a mode, of the largest, below which it has no mass to speak of."""


class Interface(NamedTuple):
    """An interface: where it is, and what its freedoms are in terms of six, or three, of its own."""

    name: str
    place: np.ndarray
    """(3,)  the node, or the mean of several, m"""
    freedoms: np.ndarray
    """(f,)  the freedoms of its nodes"""
    motion: np.ndarray
    """(f, 6 or 3)  those freedoms per displacement and rotation of the interface"""
    rows: np.ndarray
    """The rows of its nodes."""

    @property
    def turns(self) -> bool:
        """Whether its rotation is known by itself."""
        return self.motion.shape[1] == 6


class Reduced(NamedTuple):
    """Modes of a body against its frame, each with a largest displacement (or rotation × ARM of the size) of 1."""

    modes: np.ndarray
    """(n, k)  of all freedoms"""
    frequencies: np.ndarray
    """(k,)  rad/s, ascending"""
    masses: np.ndarray
    """(k,)  modal masses, kg"""
    places: Mapping[str, np.ndarray]
    """(3,)  of each interface, m"""
    shapes: Mapping[str, np.ndarray]
    """(3, k)  displacements of each interface"""
    turns: Mapping[str, np.ndarray]
    """(3, k)  rotations of each interface, rad/m"""


def interfaces_of(where: str, fe: FiniteElements, nodes: Mapping[str, np.ndarray]) -> list[Interface]:
    """The interfaces: one node as it is, several as one rigid piece."""
    found = []
    for name, rows in nodes.items():
        own = np.flatnonzero(np.isin(fe.freedoms[:, 0], rows))
        place = np.mean(fe.nodes[rows], axis=0)
        directions = sorted(fe.freedoms[own, 1])
        if len(rows) == 1 and directions == [0, 1, 2]:
            order = own[np.argsort(fe.freedoms[own, 1])]
            found.append(Interface(name, place, order, np.eye(3), rows))
            continue
        shifted = fe._replace(nodes=fe.nodes - place, freedoms=fe.freedoms[own])
        motion = rigid_motions(shifted)
        if np.linalg.matrix_rank(motion, tol=HOLDS * max(1.0, float(np.max(abs(motion))))) < 6:
            what, fix = "its rotation is not known", "Give three nodes or more that are not on a line."
            place_ = f"{where}, interface '{name}'"
            raise ModelError(message(place_, what, f"{len(rows)} nodes, {len(own)} freedoms", "six motions", fix))
        found.append(Interface(name, place, own, motion, rows))
    return found


def craig_bampton(where: str, fe: FiniteElements, interfaces: list[Interface], modes: int, frame: str) -> Reduced:
    """The modes of a body: of all interfaces, and so many with the interfaces held.

    frame  an interface that the frame of the body is fixed to; "": the frame floats
    """
    from scipy.linalg import null_space  # here: it would add a fifth to the import of every model

    n = len(fe.freedoms)
    P_b = _boundary(n, interfaces)
    inner = np.setdiff1d(np.arange(n), np.concatenate([x.freedoms for x in interfaces]))
    R = rigid_motions(fe)
    x_R = np.vstack([np.linalg.lstsq(x.motion, R[x.freedoms], rcond=None)[0] for x in interfaces])
    _check_held(where, x_R)
    fixed, constraint = _inner_modes(where, fe, P_b, inner, modes)
    T = np.zeros((n, P_b.shape[1] + fixed.shape[1]))
    T[:, : P_b.shape[1]] = P_b.toarray()
    T[inner, : P_b.shape[1]] = constraint
    T[inner, P_b.shape[1] :] = fixed
    M, K = T.T @ (fe.M @ T), T.T @ (fe.K @ T)
    if frame:
        kept = np.array(
            [c for c, x in enumerate(_owners(interfaces)) if x != frame] + [*range(P_b.shape[1], T.shape[1])]
        )
        Z = np.eye(T.shape[1])[:, kept.astype(int)]
    else:  # all that has no momentum with any rigid motion
        rigid = np.vstack([x_R, np.zeros((fixed.shape[1], 6))])
        Z = null_space((M @ rigid / np.linalg.norm(rigid, axis=0)).T)
    y, squares = _orthogonal(where, Z.T @ M @ Z, Z.T @ K @ Z)
    x = Z @ y
    found = T @ x
    size = _sizes(fe, found)
    found, x = _cleaned(fe, found / size), x / size
    masses = np.einsum("ai,ai->i", found, fe.M @ found)
    of_ends = {each: _rounded(x[rows], 3) for each, rows in _rows(interfaces).items()}
    turns = {
        each.name: of_ends[each.name][3:] if each.turns else neighbours_turn(where, fe, each, found)
        for each in interfaces
    }
    places = {each.name: each.place for each in interfaces}
    return Reduced(found, np.sqrt(squares), masses, places, {name: y[:3] for name, y in of_ends.items()}, turns)


def _cleaned(fe: FiniteElements, modes: np.ndarray) -> np.ndarray:
    """Modes without what rounding left: displacements and rotations below ROUNDING of the largest are 0."""
    turns = fe.freedoms[:, 1] > 2
    found = modes.copy()
    for own in (turns, ~turns):
        found[own] = _rounded(modes[own], len(modes))
    return found


def _rounded(x: np.ndarray, rows: int) -> np.ndarray:
    """Numbers below ROUNDING of the largest of the first rows, and of those after, are 0."""
    parts = [part for part in (x[:rows], x[rows:]) if part.size]
    return np.concatenate([np.where(abs(p) > ROUNDING * np.max(abs(p)), p, 0.0) for p in parts]) if parts else x


def _boundary(n: int, interfaces: list[Interface]) -> Any:
    """P_b (n, b), sparse: freedoms of the nodes of interfaces per displacement and rotation of each."""
    from scipy import sparse

    blocks, at = [], 0
    for each in interfaces:
        rows, columns = (
            np.repeat(each.freedoms, each.motion.shape[1]),
            np.tile(np.arange(at, at + each.motion.shape[1]), len(each.freedoms)),
        )
        blocks.append((each.motion.ravel(), rows, columns))
        at += each.motion.shape[1]
    data, rows, columns = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return sparse.csr_matrix((data, (rows, columns)), shape=(n, at))


def _owners(interfaces: list[Interface]) -> list[str]:
    return [each.name for each in interfaces for _ in range(each.motion.shape[1])]


def _rows(interfaces: list[Interface]) -> dict[str, slice]:
    found, at = {}, 0
    for each in interfaces:
        found[each.name] = slice(at, at + each.motion.shape[1])
        at += each.motion.shape[1]
    return found


def _check_held(where: str, x_R: np.ndarray) -> None:
    """Raise a ModelError unless the interfaces together hold the body."""
    size = np.linalg.svd(x_R / np.maximum(np.linalg.norm(x_R, axis=0), 1e-300), compute_uv=False)
    if len(size) < 6 or size[-1] < HOLDS * size[0]:
        found = f"{int(np.sum(size > HOLDS * size[0]))} of 6 motions"
        fix = "Let an interface have several nodes, [12, 13, 14], or a node with rotations."
        raise ModelError(message(f"{where}, interfaces", "they do not hold the body", found, "all 6", fix))


def _inner_modes(
    where: str, fe: FiniteElements, P_b: Any, inner: np.ndarray, modes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Modes with the interfaces held (i, modes), and the inner freedoms per those of the interfaces (i, b)."""
    from scipy.sparse.linalg import splu

    if modes > len(inner):
        found, expected = f"{modes}", f"at most {len(inner)}, the freedoms between interfaces"
        raise ModelError(message(f"{where}, modes", "more than there are", found, expected))
    if not len(inner):
        return np.zeros((0, 0)), np.zeros((0, P_b.shape[1]))
    K_ii, M_ii = fe.K[inner][:, inner], fe.M[inner][:, inner]
    try:
        factors = splu(K_ii.tocsc())
    except RuntimeError:
        raise _loose(where, "singular") from None
    constraint = -factors.solve((fe.K[inner] @ P_b).toarray())
    if not np.all(np.isfinite(constraint)):
        raise _loose(where, "singular")
    return _held_modes(where, K_ii, M_ii, factors.solve, modes), constraint


def _loose(where: str, found: str) -> ModelError:
    fix = "Do nodes hang loose, or have freedoms without stiffness?"
    return ModelError(message(f"{where}, K", "not positive with the interfaces held", found, "positive", fix))


def _held_modes(where: str, K: Any, M: Any, solve: Callable, modes: int) -> np.ndarray:
    """The slowest modes (i, modes) with the interfaces held."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import LinearOperator, eigsh

    n = K.shape[0]
    if not modes:
        return np.zeros((n, 0))
    if n <= DENSE or modes >= n - 1:
        try:  # M x = (1/ω²) K x, for M may be singular
            slow, shapes = eigh(M.toarray(), K.toarray(), subset_by_index=(n - modes, n - 1))
        except np.linalg.LinAlgError:
            raise _loose(where, "an eigenvalue at or below 0") from None
        if slow[0] < -1e-9 * slow[-1]:
            raise ModelError(message(f"{where}, M", "not positive", f"a mode with mass {slow[0]:.3g}", "at least 0"))
        squares, shapes = 1 / np.maximum(slow[::-1], 1e-300), shapes[:, ::-1]
    else:
        start = np.random.default_rng(0).normal(size=n)  # the same modes each time
        inverse = LinearOperator((n, n), matvec=solve)
        squares, shapes = eigsh(K, modes, M=M, sigma=0.0, OPinv=inverse, v0=start)
    if np.min(squares) <= 0:
        raise _loose(where, f"ω² = {np.min(squares):.3g}")
    return shapes / np.linalg.norm(shapes, axis=0)


def _orthogonal(where: str, M: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates (m, k) in which both matrices are diagonal, and ω² (k,), ascending."""
    from scipy.linalg import eigh

    if not len(K):
        return np.zeros((0, 0)), np.zeros(0)
    size = np.sqrt(np.maximum(np.diag(K), 1e-300))
    M, K = M / np.outer(size, size), K / np.outer(size, size)
    try:
        slow, shapes = eigh((M + M.T) / 2, (K + K.T) / 2)
    except np.linalg.LinAlgError:
        raise _loose(where, "an eigenvalue at or below 0") from None
    if slow[0] < -1e-9 * slow[-1]:
        raise ModelError(message(f"{where}, M", "not positive", f"a mode with mass {slow[0]:.3g}", "at least 0"))
    kept = slow > MASSLESS * slow[-1]
    return (shapes[:, kept] / size[:, None])[:, ::-1], 1 / slow[kept][::-1]


def _sizes(fe: FiniteElements, modes: np.ndarray) -> np.ndarray:
    """The largest displacement of a node in each mode, or its rotation times ARM of the size if that is larger.

    With the sign of its largest part.
    """
    arm, found = ARM * float(np.max(np.ptp(fe.nodes, axis=0))), np.zeros(modes.shape[1])
    for moved in (displacements(fe, modes), arm * displacements(fe, modes, 3)):
        node = np.argmax(np.einsum("adi,adi->ai", moved, moved), axis=0)
        largest = moved[node, :, np.arange(modes.shape[1])]
        part = np.take_along_axis(largest, np.argmax(abs(largest), axis=1)[:, None], axis=1)[:, 0]
        size = np.sign(part) * np.linalg.norm(largest, axis=1)
        found = np.where(abs(size) > abs(found), size, found)
    return found


def displacements(fe: FiniteElements, modes: np.ndarray, first: int = 0) -> np.ndarray:
    """Displacements (nodes, 3, k) of the nodes in modes (n, k); first = 3: rotations."""
    found = np.zeros((len(fe.nodes), 3, modes.shape[1]))
    own = np.flatnonzero(fe.freedoms[:, 1] // 3 == first // 3)
    found[fe.freedoms[own, 0], fe.freedoms[own, 1] - first] = modes[own]
    return found


def neighbours_turn(where: str, fe: FiniteElements, interface: Interface, modes: np.ndarray) -> np.ndarray:
    """The rotation (3, k) of a node without rotations: that of the nodes that K joins it to, on average."""
    row = interface.rows[0]
    joined = np.unique(fe.K[interface.freedoms].tocoo().col)
    others = np.setdiff1d(np.unique(fe.freedoms[joined, 0]), [row])
    arms = fe.nodes[others] - fe.nodes[row]
    normal = np.sum(arms**2) * np.eye(3) - arms.T @ arms
    if len(others) < 2 or np.linalg.cond(normal) > 1e8:
        fix = "Give the interface several nodes that are not on a line: they turn as one."
        place, found = f"{where}, interface '{interface.name}'", f"{len(others)} nodes around it"
        raise ModelError(message(place, "its rotation is not known", found, "nodes around it in space", fix))
    moved = displacements(fe, modes)
    apart = moved[others] - moved[row]
    return np.linalg.solve(normal, np.einsum("abi->bi", np.cross(arms[:, :, None], apart, axis=1)))
