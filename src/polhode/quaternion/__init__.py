"""Quaternions: algebra, rotations, rates, body points, conversions; means, curves, fits, derivatives, symmetry.

Hamilton's convention, scalar first (w, x, y, z), active, body → world. Every function takes arrays
with any leading batch axes, or `Vec` of generic scalars; those that draw (`sampling`), average (`means`), fit (`fit`),
join attitudes to a curve (`spline`) or reduce them by a group (`symmetry`) take arrays alone. SciPy's Rotation is taken
for a quaternion everywhere.

What models and kernels use is loaded at once, the other modules when one of their names (`_LATER`) is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from polhode.quaternion.algebra import (
    IDENTITY as IDENTITY,
    E as E,
    G as G,
    H as H,
    L as L,
    Q as Q,
    Qbar as Qbar,
    add as add,
    conjugate as conjugate,
    inverse as inverse,
    norm as norm,
    normalise as normalise,
    product as product,
    pure as pure,
    skew as skew,
    skew_square as skew_square,
    squared_norm as squared_norm,
    unskew as unskew,
    vector_part as vector_part,
)
from polhode.quaternion.convert import (
    gibbs_to_wxyz as gibbs_to_wxyz,
    mrp_to_wxyz as mrp_to_wxyz,
    rotation_vector_to_wxyz as rotation_vector_to_wxyz,
    scipy_to_wxyz as scipy_to_wxyz,
    wxyz_to_gibbs as wxyz_to_gibbs,
    wxyz_to_mrp as wxyz_to_mrp,
    wxyz_to_rotation_vector as wxyz_to_rotation_vector,
    wxyz_to_scipy as wxyz_to_scipy,
    wxyz_to_xyzw as wxyz_to_xyzw,
    xyzw_to_wxyz as xyzw_to_wxyz,
)
from polhode.quaternion.points import (
    B1 as B1,
    B2 as B2,
    B_homogeneous as B_homogeneous,
    point_acceleration as point_acceleration,
    point_position as point_position,
    point_velocity as point_velocity,
)
from polhode.quaternion.rates import (
    State as State,
    angular_acceleration as angular_acceleration,
    angular_acceleration_space as angular_acceleration_space,
    angular_velocity as angular_velocity,
    angular_velocity_of_matrix as angular_velocity_of_matrix,
    angular_velocity_space as angular_velocity_space,
    angular_velocity_space_of_matrix as angular_velocity_space_of_matrix,
    angular_velocity_tensor as angular_velocity_tensor,
    four_accelerations as four_accelerations,
    four_accelerations_space as four_accelerations_space,
    four_rates as four_rates,
    four_rates_space as four_rates_space,
    norm_acceleration_residual as norm_acceleration_residual,
    norm_rate_residual as norm_rate_residual,
    norm_residual as norm_residual,
    project as project,
    rate as rate,
    rate_from_space as rate_from_space,
    rotation_matrix_rate as rotation_matrix_rate,
    rotation_vector_rate as rotation_vector_rate,
    second_rate as second_rate,
    second_rate_from_space as second_rate_from_space,
    tangent as tangent,
    virtual_rotation as virtual_rotation,
)
from polhode.quaternion.rotation import (
    AxisAngle as AxisAngle,
    angle_between as angle_between,
    axis_angle as axis_angle,
    compose as compose,
    exp as exp,
    from_axis_angle as from_axis_angle,
    from_matrix as from_matrix,
    from_two_vectors as from_two_vectors,
    log as log,
    relative as relative,
    rotate as rotate,
    rotation_matrix as rotation_matrix,
    rotation_matrix_homogeneous as rotation_matrix_homogeneous,
    rotation_matrix_inhomogeneous as rotation_matrix_inhomogeneous,
    shortest_rotation as shortest_rotation,
)

if TYPE_CHECKING:
    from polhode.quaternion.decomposition import (
        SwingTwist as SwingTwist,
        swing_twist as swing_twist,
    )
    from polhode.quaternion.distances import (
        chordal_distance as chordal_distance,
        quaternion_distance as quaternion_distance,
    )
    from polhode.quaternion.fit import (
        AttitudeFit as AttitudeFit,
        from_two_axes as from_two_axes,
        from_two_pairs as from_two_pairs,
        nearest_rotation as nearest_rotation,
        wahba as wahba,
    )
    from polhode.quaternion.interpolation import (
        slerp as slerp,
        slerp_state as slerp_state,
        squad as squad,
        squad_controls as squad_controls,
    )
    from polhode.quaternion.jacobians import (
        RotationDifferenceDerivatives as RotationDifferenceDerivatives,
        RotationStepDerivatives as RotationStepDerivatives,
        difference as difference,
        difference_derivatives as difference_derivatives,
        integrate as integrate,
        integrate_derivatives as integrate_derivatives,
        left_jacobian as left_jacobian,
        left_jacobian_inverse as left_jacobian_inverse,
        right_jacobian as right_jacobian,
        right_jacobian_inverse as right_jacobian_inverse,
        rotation_vector_angular_acceleration as rotation_vector_angular_acceleration,
        rotation_vector_angular_velocity as rotation_vector_angular_velocity,
    )
    from polhode.quaternion.means import (
        covariance as covariance,
        geodesic_mean as geodesic_mean,
        mean as mean,
    )
    from polhode.quaternion.parameters import (
        gibbs_angular_velocity as gibbs_angular_velocity,
        gibbs_product as gibbs_product,
        gibbs_rate as gibbs_rate,
        mrp_angular_velocity as mrp_angular_velocity,
        mrp_product as mrp_product,
        mrp_rate as mrp_rate,
        shadow_mrp as shadow_mrp,
        short_mrp as short_mrp,
    )
    from polhode.quaternion.powers import (
        full_exp as full_exp,
        full_log as full_log,
        power as power,
    )
    from polhode.quaternion.sampling import (
        random as random,
        random_near as random_near,
    )
    from polhode.quaternion.signs import (
        canonical as canonical,
        continuous_signs as continuous_signs,
        same_sign as same_sign,
    )
    from polhode.quaternion.spline import (
        AttitudeSpline as AttitudeSpline,
    )
    from polhode.quaternion.symmetry import (
        Reduction as Reduction,
        reduced as reduced,
        symmetric_angle as symmetric_angle,
        symmetry_group as symmetry_group,
    )

_LATER = {
    "decomposition": ["SwingTwist", "swing_twist"],
    "distances": ["chordal_distance", "quaternion_distance"],
    "fit": ["AttitudeFit", "from_two_axes", "from_two_pairs", "nearest_rotation", "wahba"],
    "interpolation": ["slerp", "slerp_state", "squad", "squad_controls"],
    "jacobians": [
        "RotationDifferenceDerivatives",
        "RotationStepDerivatives",
        "difference",
        "difference_derivatives",
        "integrate",
        "integrate_derivatives",
        "left_jacobian",
        "left_jacobian_inverse",
        "right_jacobian",
        "right_jacobian_inverse",
        "rotation_vector_angular_acceleration",
        "rotation_vector_angular_velocity",
    ],
    "means": ["covariance", "geodesic_mean", "mean"],
    "parameters": [
        "gibbs_angular_velocity",
        "gibbs_product",
        "gibbs_rate",
        "mrp_angular_velocity",
        "mrp_product",
        "mrp_rate",
        "shadow_mrp",
        "short_mrp",
    ],
    "powers": ["full_exp", "full_log", "power"],
    "sampling": ["random", "random_near"],
    "signs": ["canonical", "continuous_signs", "same_sign"],
    "spline": ["AttitudeSpline"],
    "symmetry": ["Reduction", "reduced", "symmetric_angle", "symmetry_group"],
}
_HOME = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'polhode.quaternion' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"polhode.quaternion.{_HOME[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
