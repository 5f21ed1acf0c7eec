"""The results of quantities that come in several parts."""

from typing import Any, NamedTuple


class Velocity(NamedTuple):
    """Linear (..., 3), of a point of a body, and angular (..., 3), in the axes that were asked for."""

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


class ForwardSecondDerivatives(NamedTuple):
    """Of `ForwardDerivatives`: those of dq, dv and dtau along the tangent directions of q, and of dv by v.

    Each (..., nv, nv, nv): [i, j, k] is the derivative of entry [i, j] along direction k, or by v[k]. ∂²v̇/∂q∂v is dv_dq
    with its last two axes exchanged. dq_dq is not symmetric in them where a joint has a quaternion: directions of
    rotations do not commute.
    """

    dq_dq: Any
    dv_dq: Any
    dv_dv: Any
    dtau_dq: Any


class InverseSecondDerivatives(NamedTuple):
    """Of `InverseDerivatives`: those of dq, dv and dvd along the tangent directions of q, and of dv by v.

    Each (..., nv, nv, nv), as of `ForwardSecondDerivatives`; dvd_dq are the derivatives of the mass matrix.
    """

    dq_dq: Any
    dv_dq: Any
    dv_dv: Any
    dvd_dq: Any


class VelocityDerivatives(NamedTuple):
    """∂/∂q along the tangent directions and ∂/∂v of the velocities of a point; each (..., 6, nv), linear rows first."""

    dq: Any
    dv: Any


class AccelerationDerivatives(NamedTuple):
    """∂/∂q along the tangent directions, ∂/∂v and ∂/∂v̇ of the accelerations of a point; each (..., 6, nv)."""

    dq: Any
    dv: Any
    dvd: Any


class CentroidalDerivatives(NamedTuple):
    """Of the centroidal momentum h and its rate ḣ: ∂h/∂q and ∂ḣ/∂q along the tangent directions, ∂ḣ/∂v, and ∂ḣ/∂v̇,
    which is ∂h/∂v too; each (..., 6, nv), linear rows first."""

    h_dq: Any
    hdot_dq: Any
    hdot_dv: Any
    hdot_dvd: Any


class ImpactDerivatives(NamedTuple):
    """Of the velocities after an impact: ∂/∂q along the tangent directions and ∂/∂v, each (..., nv, nv); of its
    impulses the same, each (..., k, nv)."""

    dq: Any
    dv: Any
    impulses_dq: Any
    impulses_dv: Any


class CenterOfMassVelocityDerivatives(NamedTuple):
    """∂/∂q along the tangent directions and ∂/∂v of the velocity of a mass centre; each (..., 3, nv)."""

    dq: Any
    dv: Any


class ConfigurationStepDerivatives(NamedTuple):
    """∂/∂q along the tangent directions and ∂/∂v of q ⊕ v; each (..., nv, nv)."""

    dq: Any
    dv: Any


class ConfigurationDifferenceDerivatives(NamedTuple):
    """∂/∂q0 and ∂/∂q1 of q1 ⊖ q0 along the tangent directions; each (..., nv, nv)."""

    dq0: Any
    dq1: Any
