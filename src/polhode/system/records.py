"""The results of quantities that come in several parts."""

from typing import Any, NamedTuple


class Pose(NamedTuple):
    """Position (..., 3) of a body frame's origin and its quaternion (..., 4), in the world."""

    position: Any
    quaternion: Any


class Velocity(NamedTuple):
    """Linear (..., 3), of the body frame's origin, and angular (..., 3), world axes."""

    linear: Any
    angular: Any


class ForwardDerivatives(NamedTuple):
    """∂v̇/∂q along the tangent directions, ∂v̇/∂v, ∂v̇/∂τ; each (..., nv, nv), rows v̇."""

    dq: Any
    dv: Any
    dtau: Any


class InverseDerivatives(NamedTuple):
    """∂τ/∂q along the tangent directions, ∂τ/∂v, ∂τ/∂v̇; each (..., nv, nv), rows τ."""

    dq: Any
    dv: Any
    dvd: Any
