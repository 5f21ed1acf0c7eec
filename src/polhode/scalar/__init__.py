"""Generic scalars: functions of them, small vectors of them, and the way to and from arrays."""

from polhode.scalar.arguments import (
    a_list as a_list,
    a_path as a_path,
    flag as flag,
    is_list as is_list,
    is_real as is_real,
    one_of as one_of,
    real_number as real_number,
    shown as shown,
)
from polhode.scalar.arrays import (
    KINDS as KINDS,
    UNIT_TOLERANCE as UNIT_TOLERANCE,
    Array as Array,
    as_array as as_array,
    batch_shape as batch_shape,
    checked as checked,
    checked_real as checked_real,
    lengths as lengths,
    on_arrays as on_arrays,
    split as split,
    stack as stack,
)
from polhode.scalar.counting import Count as Count
from polhode.scalar.dual import Dual as Dual
from polhode.scalar.functions import (
    Scalar as Scalar,
    acos as acos,
    asin as asin,
    atan2 as atan2,
    cos as cos,
    equal as equal,
    exp as exp,
    is_zero as is_zero,
    log as log,
    maximum as maximum,
    minimum as minimum,
    real_part as real_part,
    sin as sin,
    sqrt as sqrt,
    tan as tan,
    where as where,
)
from polhode.scalar.loops import (
    Loops as Loops,
    loops_for as loops_for,
    own_method as own_method,
    spans as spans,
    swap as swap,
)
from polhode.scalar.nested import flat as flat, shaped as shaped
from polhode.scalar.scipy_rotation import without_rotations as without_rotations
from polhode.scalar.smooth import inside_smooth as inside_smooth, smooth as smooth
from polhode.scalar.structured import (
    RecordedFunction as RecordedFunction,
    SharedFunction as SharedFunction,
    derivative_along as derivative_along,
    iterate as iterate,
    jacobian as jacobian,
    unless_valid as unless_valid,
)
from polhode.scalar.unknown import Unknown as Unknown, time_enters as time_enters
from polhode.scalar.vector import (
    Vec as Vec,
    cross as cross,
    diagonal as diagonal,
    dot as dot,
    identity as identity,
    inverse3 as inverse3,
    length as length,
    outer as outer,
    square as square,
    trace as trace,
    vec as vec,
)
