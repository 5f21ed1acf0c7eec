"""Euler and Cardan angles: the twelve sequences of coordinate axes, shorter ones, and any three axes (Davenport).

sequences  attitudes, rate matrices, gimbal lock of the twelve sequences
davenport  angles about any three axes, the second across the other two
"""

from polhode.euler.davenport import (
    from_davenport as from_davenport,
    to_davenport as to_davenport,
)
from polhode.euler.sequences import (
    LOCK as LOCK,
    SEQUENCES as SEQUENCES,
    SHORT_SEQUENCES as SHORT_SEQUENCES,
    UNIT as UNIT,
    ZERO as ZERO,
    Flagged as Flagged,
    Partials as Partials,
    accelerations as accelerations,
    angular_acceleration as angular_acceleration,
    angular_velocity as angular_velocity,
    angular_velocity_space as angular_velocity_space,
    body_rate_matrix as body_rate_matrix,
    body_rate_matrix_derivatives as body_rate_matrix_derivatives,
    body_rate_matrix_inverse as body_rate_matrix_inverse,
    body_rate_matrix_rate as body_rate_matrix_rate,
    check_sequence as check_sequence,
    condition as condition,
    determinant as determinant,
    elementary_matrix as elementary_matrix,
    from_matrix as from_matrix,
    from_quaternion as from_quaternion,
    lock_distance as lock_distance,
    lost_direction as lost_direction,
    matrix as matrix,
    matrix_derivatives as matrix_derivatives,
    rate_axes as rate_axes,
    rates as rates,
    space_rate_matrix as space_rate_matrix,
    space_rate_matrix_derivatives as space_rate_matrix_derivatives,
    space_rate_matrix_from_derivatives as space_rate_matrix_from_derivatives,
    space_rate_matrix_inverse as space_rate_matrix_inverse,
    space_rate_matrix_rate as space_rate_matrix_rate,
    to_quaternion as to_quaternion,
)
