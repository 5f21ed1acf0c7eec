"""States per second on a GPU: inverse and forward dynamics of the seven-axis arm, in double and single.

    python benchmarks/gpu.py [states …]        default 1e6, 3e6, 1e7; prints JSON

Needs NumPy, CuPy and a GPU. Data lie on the GPU before the clock starts; a time is the least of `TURNS` launches, by
CUDA events, the call from Python included. First 256 states are compared with the oracle, target="python".
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import polhode as ph

ARM = [
    # body, mass, moments of inertia, height of the mass centre; axis, height of the joint, armature
    ("shoulder", 3.6, (0.01524, 0.01524, 0.00882), 0.095, "z", 0.15, 0.15),
    ("upper-arm", 3.4, (0.01492, 0.01492, 0.007183), 0.1, "y", 0.19, 0.15),
    ("elbow", 3.2, (0.01355, 0.01355, 0.00576), 0.1, "z", 0.2, 0.1),
    ("forearm", 2.8, (0.01185, 0.01185, 0.00504), 0.1, "y", 0.2, 0.1),
    ("wrist", 1.8, (0.006776, 0.006776, 0.002723), 0.095, "z", 0.2, 0.05),
    ("hand", 1.6, (0.001853, 0.001853, 0.002), 0.04, "y", 0.19, 0.03),
    ("flange", 0.4, (0.0002058, 0.0002058, 0.000245), 0.025, "z", 0.08, 0.01),
]
"""The bundled arm-7 without damping, written out: files need more packages."""
AXES = {"y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}

QUANTITIES = ("inverse_dynamics", "forward_dynamics")
BOUNDS = {"float64": 1e-11, "float32": 1e-2}
"""Largest error, relative to the largest result of a state, above which nothing is timed."""
CHECKED = 256
TURNS = 20


def arm() -> ph.Model:
    """The seven-axis arm."""
    bodies = [ph.Body(name, mass, moments, center=(0.0, 0.0, z)) for name, mass, moments, z, *_ in ARM]
    parents = ["world", *(body.name for body in bodies)]
    joints = [
        ph.Joint(f"joint{k}", "revolute", parent, name, AXES[axis], (0.0, 0.0, height), armature=armature)
        for k, (parent, (name, _, _, _, axis, height, armature)) in enumerate(zip(parents, ARM, strict=False), 1)
    ]
    return ph.Model("arm-7", bodies=bodies, joints=joints)


def states(count: int, seed: int = 1) -> list[np.ndarray]:
    """Rows of q, of v, and of accelerations or forces."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(-np.pi, np.pi, size=(count, 7)), *(rng.normal(size=(count, 7)) for _ in range(2))]


def worst_error(cp: Any, system: ph.System, quantity: str, dtype: str) -> float:
    """The largest error of a few states, relative to the largest result of each."""
    given = [rows.astype(dtype) for rows in states(CHECKED)]
    oracle = ph.compile(system.model, target="python")
    expected = getattr(oracle, quantity)(*(rows.astype(float) for rows in given))
    found = getattr(system, quantity)(*map(cp.asarray, given)).get()
    assert found.dtype == dtype
    return float(np.max(np.max(abs(found - expected), axis=1) / np.max(abs(expected), axis=1)))


def seconds(cp: Any, system: ph.System, quantity: str, given: list[Any], out: Any) -> float:
    """The least time of one call."""
    call, times = getattr(system, quantity), []
    for _ in range(TURNS + 2):  # two to warm up
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        call(*given, out=out)
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(begin, end) * 1e-3)
    return min(times[2:])


def measure(cp: Any, counts: list[int]) -> Iterator[dict[str, Any]]:
    """Errors and speeds, one row for each quantity, kind of number and size of batch."""
    system = ph.compile(arm(), target="cuda")
    for dtype, bound in BOUNDS.items():
        for quantity in QUANTITIES:
            error = worst_error(cp, system, quantity, dtype)
            if not error <= bound:
                sys.exit(f"{quantity}, {dtype}: differs from the oracle by {error:.2e}, more than {bound:g}")
            for count in counts:
                block = states(min(count, 100_000))
                given = [cp.asarray(np.resize(rows, (count, 7)).astype(dtype)) for rows in block]
                least = seconds(cp, system, quantity, given, cp.empty((count, 7), dtype))
                facts = {"quantity": quantity, "dtype": dtype, "states": count, "seconds": least}
                yield {**facts, "states_per_second": count / least, "error": error}


def main(counts: list[int]) -> None:
    """Print everything as JSON."""
    import cupy as cp

    rows = list(measure(cp, counts))
    name = cp.cuda.runtime.getDeviceProperties(0)["name"]
    facts = {"device": name.decode() if isinstance(name, bytes) else name, "cupy": cp.__version__}
    print(json.dumps({**facts, "numpy": np.__version__, "polhode": ph.__version__, "rows": rows}, indent=1))


if __name__ == "__main__":
    main([int(float(text)) for text in sys.argv[1:]] or [1_000_000, 3_000_000, 10_000_000])
