"""Frames, twists, inertias and poses: rigid motions in space.

frames            placements, twists, the world's frame, as the algorithms take them
inertia           mass moments of bodies, moved and joined; inertias checked
rigid_motion      SE(3) on a position and a quaternion: products, exponential, logarithm, moved spatial vectors
pose              `Pose`: the same as a value
"""

from polhode.spatial.frames import (
    AT_REST as AT_REST,
    ORIGIN as ORIGIN,
    WORLD_FRAME as WORLD_FRAME,
    Frame as Frame,
    Placement as Placement,
    Twist as Twist,
    Z as Z,
    snapped as snapped,
)
from polhode.spatial.inertia import (
    TRIANGLE_TOLERANCE as TRIANGLE_TOLERANCE,
    Inertia as Inertia,
    as_inertia as as_inertia,
    congruence as congruence,
    joined as joined,
    moved as moved,
    planar_inertia as planar_inertia,
    symmetric as symmetric,
    turned as turned,
)
from polhode.spatial.pose import Pose as Pose
from polhode.spatial.rigid_motion import (
    adjoint as adjoint,
    dual_quaternion as dual_quaternion,
    exp6 as exp6,
    from_dual_quaternion as from_dual_quaternion,
    from_transform as from_transform,
    log6 as log6,
    moved_force as moved_force,
    moved_inertia as moved_inertia,
    moved_motion as moved_motion,
    spatial_inertia as spatial_inertia,
    transform as transform,
)
