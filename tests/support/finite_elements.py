"""Finite-element matrices of test bodies: a beam of Euler and Bernoulli in space, and a block of hexahedra."""

from itertools import product

import numpy as np


def beam(
    elements: int,
    length: float = 1.0,
    *,
    EA: float = 1e6,
    GJ: float = 60.0,
    EIy: float = 80.0,
    EIz: float = 120.0,
    mass: float = 0.5,
    polar: float = 2e-4,
    rotary: bool = True,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, K (6n, 6n) and nodes (n, 3) of a straight beam along x; mass of a metre; polar: moment of a metre about x."""
    n, h = elements + 1, length / elements
    M, K = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    bend_M = (
        mass
        * h
        / 420
        * np.array(
            [
                [156, 22 * h, 54, -13 * h],
                [22 * h, 4 * h * h, 13 * h, -3 * h * h],
                [54, 13 * h, 156, -22 * h],
                [-13 * h, -3 * h * h, -22 * h, 4 * h * h],
            ]
        )
    )
    if not rotary:
        bend_M = mass * h / 6 * np.array([[2, 0, 1, 0], [0, 0, 0, 0], [1, 0, 2, 0], [0, 0, 0, 0]], dtype=float)
    bend_K = (
        np.array(
            [
                [12, 6 * h, -12, 6 * h],
                [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                [-12, -6 * h, 12, -6 * h],
                [6 * h, 2 * h * h, -6 * h, 4 * h * h],
            ]
        )
        / h**3
    )
    bar_M, bar_K = h / 6 * np.array([[2, 1], [1, 2]]), np.array([[1, -1], [-1, 1]]) / h
    flip = np.diag([1.0, -1.0, 1.0, -1.0])  # of w along z the slope is −θ_y
    for k in range(elements):
        a, b = 6 * k, 6 * (k + 1)
        parts = [
            ([a, b], mass * bar_M, EA * bar_K),
            ([a + 3, b + 3], polar * bar_M * rotary, GJ * bar_K),
            ([a + 1, a + 5, b + 1, b + 5], bend_M, EIz * bend_K),
            ([a + 2, a + 4, b + 2, b + 4], flip @ bend_M @ flip, EIy * flip @ bend_K @ flip),
        ]
        for places, m, s in parts:
            M[np.ix_(places, places)] += m
            K[np.ix_(places, places)] += s
    nodes = np.column_stack([np.linspace(0, length, n), np.zeros(n), np.zeros(n)])
    return M, K, nodes


def block(
    counts: tuple[int, int, int],
    sizes: tuple[float, float, float],
    young: float = 2e7,
    poisson: float = 0.3,
    density: float = 1000.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, K (3n, 3n) and nodes (n, 3) of a block of eight-node hexahedra, consistent mass: M = Ms ⊗ I₃."""
    grid = [np.linspace(0, size, count + 1) for count, size in zip(counts, sizes, strict=True)]
    index = np.arange(np.prod([count + 1 for count in counts])).reshape([count + 1 for count in counts])
    nodes = np.array(list(product(*grid)))
    h = np.array(sizes) / counts
    corners = np.array(list(product((-1.0, 1.0), repeat=3)))
    lame, shear = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))
    C = np.diag([2 * shear] * 3 + [shear] * 3)
    C[:3, :3] += lame
    Ms, Ke = np.zeros((8, 8)), np.zeros((24, 24))
    for x in corners / np.sqrt(3):
        N = np.prod(1 + corners * x, axis=1) / 8
        D = np.array(
            [
                corners[:, d] * np.prod((1 + corners * x)[:, [e for e in range(3) if e != d]], axis=1) / 8 * 2 / h[d]
                for d in range(3)
            ]
        )
        B = np.zeros((6, 24))
        for a in range(8):
            dx, dy, dz = D[:, a]
            B[:, 3 * a : 3 * a + 3] = [[dx, 0, 0], [0, dy, 0], [0, 0, dz], [dy, dx, 0], [0, dz, dy], [dz, 0, dx]]
        volume = np.prod(h) / 8
        Ms += density * volume * np.outer(N, N)
        Ke += volume * B.T @ C @ B
    n = len(nodes)
    M, K = np.zeros((3 * n, 3 * n)), np.zeros((3 * n, 3 * n))
    for cell in product(*(range(count) for count in counts)):
        own = [index[cell[0] + int(c[0] > 0), cell[1] + int(c[1] > 0), cell[2] + int(c[2] > 0)] for c in corners]
        places = np.array([[3 * a, 3 * a + 1, 3 * a + 2] for a in own]).ravel()
        M[np.ix_(places, places)] += np.kron(Ms, np.eye(3))
        K[np.ix_(places, places)] += Ke
    return M, K, nodes
