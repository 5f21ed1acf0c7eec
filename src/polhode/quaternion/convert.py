"""Foreign ways to write a rotation. Each name says both orders; ours is wxyz, scalar first.

A pair p, −p is one attitude. Where a foreign form cannot tell them apart, the way back gives the one
with e0 ≥ 0.
"""

from typing import TYPE_CHECKING

import numpy as np

from polhode.quaternion.algebra import vector_part
from polhode.quaternion.rotation import exp, log
from polhode.scalar import Array, Vec, checked, on_arrays, real_part, sqrt, square, where

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


@on_arrays(p="quaternion")
def wxyz_to_xyzw(p: Vec) -> Vec:
    """Scalar first to scalar last (ROS, SciPy, Pinocchio's q).

    p   (..., 4)
    ->  (..., 4)
    """
    return Vec((*p[1:], p[0]))


@on_arrays(p="quaternion")
def xyzw_to_wxyz(p: Vec) -> Vec:
    """Scalar last (ROS, SciPy, Pinocchio's q) to scalar first.

    p   (..., 4)
    ->  (..., 4)
    """
    return Vec((p[3], *p[:3]))


def wxyz_to_scipy(p: Array) -> "Rotation":
    """Scalar first to `scipy.spatial.transform.Rotation`.

    p   (..., 4)  unit
    """
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(wxyz_to_xyzw(checked("quaternion.wxyz_to_scipy, argument p", p, "unit quaternion")))


def scipy_to_wxyz(rotation: "Rotation") -> np.ndarray:
    """`scipy.spatial.transform.Rotation` to scalar first; the sign is SciPy's.

    ->  (..., 4)
    """
    return xyzw_to_wxyz(rotation.as_quat())


@on_arrays(p="unit quaternion")
def wxyz_to_rotation_vector(p: Vec) -> Vec:
    """Scalar first to the rotation vector of the shorter way, angle × axis, ‖r‖ ≤ π.

    p   (..., 4)
    ->  (..., 3)  rad
    """
    return 2 * log(where(real_part(p[0]) < 0, -p, p))


@on_arrays(r="vector")
def rotation_vector_to_wxyz(r: Vec) -> Vec:
    """Rotation vector, angle × axis, to scalar first.

    r   (..., 3)  rad
    ->  (..., 4)
    """
    return exp(r / 2)


@on_arrays(p="unit quaternion")
def wxyz_to_mrp(p: Vec) -> Vec:
    """Scalar first to modified Rodrigues parameters σ = tan(μ/4) axis, the short set ‖σ‖ ≤ 1.

    p   (..., 4)
    ->  (..., 3)
    """
    p = where(real_part(p[0]) < 0, -p, p)
    return vector_part(p) / (1 + p[0])


@on_arrays(sigma="vector")
def mrp_to_wxyz(sigma: Vec) -> Vec:
    """Modified Rodrigues parameters to scalar first; e0 < 0 for the shadow set ‖σ‖ > 1.

    sigma  (..., 3)
    ->     (..., 4)
    """
    s = square(sigma)
    return Vec((1 - s, *(2 * sigma))) / (1 + s)


@on_arrays(p="unit quaternion below half a turn")
def wxyz_to_gibbs(p: Vec) -> Vec:
    """Scalar first to the Gibbs (Rodrigues) vector tan(μ/2) axis; an error at half a turn.

    p   (..., 4)
    ->  (..., 3)
    """
    return vector_part(p) / p[0]


@on_arrays(g="vector")
def gibbs_to_wxyz(g: Vec) -> Vec:
    """Gibbs (Rodrigues) vector to scalar first.

    g   (..., 3)
    ->  (..., 4)
    """
    return Vec((1.0, *g)) / sqrt(1 + square(g))
