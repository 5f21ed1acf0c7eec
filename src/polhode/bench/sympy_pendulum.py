"""A planar pendulum by SymPy, in a process of its own: `python -m polhode.bench.sympy_pendulum LINKS`.

Kane's method with symbols for the numbers and angles against the vertical, as SymPy's own examples have it: with joint
angles, or with numbers in the place of symbols, it takes longer. The clock runs over the equations, `lambdify` and the
first accelerations; imports come before.
"""

import json
import sys
import time
from typing import Any

import numpy as np
from sympy import Symbol, lambdify, symbols  # type: ignore[import-untyped,unused-ignore]
from sympy.physics.mechanics import (  # type: ignore[import-untyped,unused-ignore]
    KanesMethod,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)

from polhode.bench.machines import machine, random_states


def sympy_pendulum(links: int) -> tuple[float, list[float]]:
    """Seconds to the first accelerations of the pendulum, and these, of the joint angles."""
    model = machine(f"pendulum-{links}")
    body, moments = model.bodies[0], model.bodies[0].inertia_matrix()
    length = -model.joints[1].position[2] if links > 1 else 0.0
    numbers = [body.mass, length, -body.center[2], moments[1, 1], -model.gravity[2]]
    q, v, tau = (rows[0] for rows in random_states(model, 1))
    start = time.perf_counter()
    accelerations = _made(links)
    found = accelerations(np.cumsum(q), np.cumsum(v), -np.diff(tau, append=0.0), numbers)
    return time.perf_counter() - start, np.diff(found, prepend=0.0).tolist()


def _made(links: int) -> Any:
    """v̇ as a function of angles against the vertical, their rates, the torques in them, and the numbers."""
    q, u = dynamicsymbols(f"q:{links}"), dynamicsymbols(f"u:{links}")
    torques, (m, l, c, J, g) = symbols(f"T:{links}"), symbols("m l c J g")
    kane = KanesMethod(N := ReferenceFrame("N"), q, u, kd_eqs=[a.diff() - b for a, b in zip(q, u, strict=True)])
    kane.kanes_equations(*_bodies_and_loads(N, q, u, torques, (m, l, c, J, g)))
    both = lambdify((q, u, torques, (m, l, c, J, g)), (kane.mass_matrix, kane.forcing))

    def accelerations(*given: Any) -> np.ndarray:
        M, f = both(*given)
        return np.linalg.solve(M, f)[:, 0]

    return accelerations


def _bodies_and_loads(
    N: Any, q: list[Symbol], u: list[Symbol], torques: tuple[Symbol, ...], numbers: tuple[Symbol, ...]
) -> tuple[list[Any], list[Any]]:
    m, l, c, J, g = numbers
    bodies, loads = [], []
    hinge = Point("O")
    hinge.set_vel(N, 0)
    for k, (angle, rate) in enumerate(zip(q, u, strict=True)):
        A = N.orientnew(f"A{k}", "Axis", (angle, N.y))
        A.set_ang_vel(N, rate * N.y)
        centre, end = hinge.locatenew(f"C{k}", -c * A.z), hinge.locatenew(f"P{k}", -l * A.z)
        for point in (centre, end):
            point.v2pt_theory(hinge, N, A)
        bodies.append(RigidBody(f"B{k}", centre, A, m, (inertia(A, J, J, 0), centre)))
        loads += [(centre, -m * g * N.z), (A, torques[k] * N.y)]
        hinge = end
    return bodies, loads


if __name__ == "__main__":
    print(json.dumps(sympy_pendulum(int(sys.argv[1]))))
