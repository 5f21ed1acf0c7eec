"""An open chain of rigid bodies with one-axis joints: the covariant form of Zoric, Lazarević and Simonović.

Functions take a `Chain` and its coordinates q, angles in rad and slides in m, as arrays (..., n) or
as a `Vec` of generic scalars.
"""

from polhode.papers.chain.connection import (
    christoffel as christoffel,
    christoffel_from_derivatives as christoffel_from_derivatives,
    christoffel_integrand as christoffel_integrand,
    christoffel_integrand_reduced as christoffel_integrand_reduced,
    christoffel_rotational as christoffel_rotational,
    christoffel_rotational_from_derivatives as christoffel_rotational_from_derivatives,
    christoffel_rotational_of_points as christoffel_rotational_of_points,
    christoffel_rotational_six_terms as christoffel_rotational_six_terms,
    christoffel_rotational_three_terms as christoffel_rotational_three_terms,
    christoffel_translational as christoffel_translational,
    christoffel_translational_from_derivatives as christoffel_translational_from_derivatives,
)
from polhode.papers.chain.energy import (
    body_energies as body_energies,
    body_energies_of_points as body_energies_of_points,
    center_of_points as center_of_points,
    inertia_of_points as inertia_of_points,
    kinetic_energy as kinetic_energy,
    kinetic_energy_of_metric as kinetic_energy_of_metric,
    metric as metric,
    metric_derivatives as metric_derivatives,
    metric_of_points as metric_of_points,
    metric_rotational as metric_rotational,
    metric_rotational_derivatives as metric_rotational_derivatives,
    metric_rotational_of_points as metric_rotational_of_points,
    metric_translational as metric_translational,
    metric_translational_derivatives as metric_translational_derivatives,
    planar_inertia_of_points as planar_inertia_of_points,
    quasi_basic_products as quasi_basic_products,
)
from polhode.papers.chain.frames import (
    attitude_conjugate_derivatives as attitude_conjugate_derivatives,
    attitude_conjugate_derivatives_from_joints as attitude_conjugate_derivatives_from_joints,
    attitude_derivatives as attitude_derivatives,
    attitude_derivatives_from_joints as attitude_derivatives_from_joints,
    attitudes as attitudes,
    axes_in_bodies as axes_in_bodies,
    axis_derivatives as axis_derivatives,
    axis_derivatives_in_bodies as axis_derivatives_in_bodies,
    carried_derivatives as carried_derivatives,
    center_derivatives as center_derivatives,
    center_vectors as center_vectors,
    in_frame as in_frame,
    joint_axes as joint_axes,
    joint_conjugate_derivatives as joint_conjugate_derivatives,
    joint_quaternion_derivatives as joint_quaternion_derivatives,
    joint_quaternions as joint_quaternions,
    link_derivatives as link_derivatives,
    link_vectors as link_vectors,
    relative_attitude as relative_attitude,
)
from polhode.papers.chain.kinematics import (
    accelerations as accelerations,
    angular_vectors as angular_vectors,
    angular_velocities as angular_velocities,
    point_velocities as point_velocities,
    positions as positions,
    quasi_basic_derivatives as quasi_basic_derivatives,
    quasi_basic_rates as quasi_basic_rates,
    quasi_basic_vectors as quasi_basic_vectors,
    velocities as velocities,
)
from polhode.papers.chain.motion import (
    applied_force as applied_force,
    coriolis as coriolis,
    couple_force as couple_force,
    energy_gradient as energy_gradient,
    forward_dynamics as forward_dynamics,
    generalized_force as generalized_force,
    gravity_force as gravity_force,
    inverse_dynamics as inverse_dynamics,
    lagrange_derivative as lagrange_derivative,
    momentum as momentum,
    momentum_rate as momentum_rate,
    net_force as net_force,
)
from polhode.papers.chain.record import KINDS as KINDS, Chain as Chain, Selectors as Selectors, selectors as selectors
