"""Types of the public names; written by `make generated` from the table in __init__.py."""

# fmt: off
# ruff: noqa: I001
from polhode import euler as euler
from polhode import exact as exact
from polhode import quaternion as quaternion
from polhode import spatial as spatial
from polhode.analysis.arc_length import (
    LoadPath as LoadPath, load_path as load_path,
)
from polhode.analysis.buckling import (
    Buckling as Buckling, buckling as buckling,
)
from polhode.analysis.campbell import (
    Campbell as Campbell, campbell as campbell,
)
from polhode.analysis.contact_points import (
    actuation as actuation, contact_impulse as contact_impulse,
)
from polhode.analysis.identification.base_parameters import (
    BaseParameters as BaseParameters, base_parameters as base_parameters,
)
from polhode.analysis.identification.excitation import (
    Excitation as Excitation, excitation as excitation,
)
from polhode.analysis.identification.identify import (
    Identified as Identified, identify as identify,
)
from polhode.analysis.inverse_kinematics.inverse_kinematics import (
    InverseKinematics as InverseKinematics, inverse_kinematics as inverse_kinematics,
)
from polhode.analysis.inverse_kinematics.targets import (
    Target as Target,
)
from polhode.analysis.linear import (
    Linear as Linear, linearize as linearize,
)
from polhode.analysis.modes import (
    Mode as Mode,
)
from polhode.analysis.steady import (
    Steady as Steady, equilibrium as equilibrium, steady_motion as steady_motion,
)
from polhode.check.diagnosis import (
    Diagnosis as Diagnosis, diagnose as diagnose,
)
from polhode.check.initial_state import (
    Consistent as Consistent, consistent_start as consistent_start,
)
from polhode.check.joint_limits import (
    with_limits as with_limits,
)
from polhode.dynamics import fundamental as fundamental
from polhode.dynamics.single import (
    Acceleration as Acceleration, Form as Form, acceleration as acceleration, forms as forms,
)
from polhode.dynamics.single.variables import (
    SingleBody as SingleBody,
)
from polhode.ensemble.distributions import (
    Grid as Grid, Listed as Listed, LogUniform as LogUniform, Normal as Normal, Rotations as Rotations,
    Uniform as Uniform,
)
from polhode.ensemble.measures import (
    Measure as Measure,
)
from polhode.ensemble.on_disk.store import (
    open_study as open_study,
)
from polhode.ensemble.study import (
    Stop as Stop, Study as Study,
)
from polhode.ensemble.study_runner import (
    StudyRunner as StudyRunner,
)
from polhode.ensemble.sweep import (
    sweep as sweep,
)
from polhode.equations_of_motion.equations import (
    Equations as Equations, equations as equations,
)
from polhode.errors import (
    CompileError as CompileError, GimbalLockError as GimbalLockError, InputError as InputError,
    IntegrationError as IntegrationError, ModelError as ModelError, PolhodeError as PolhodeError,
    PolhodeWarning as PolhodeWarning, UnknownNameError as UnknownNameError,
)
from polhode.formats.bicycle import (
    bicycle as bicycle,
)
from polhode.formats.finite_elements.read import (
    read_finite_elements as read_finite_elements,
)
from polhode.formats.load import (
    load as load,
)
from polhode.integrate.methods import (
    methods as methods,
)
from polhode.model import (
    BALL as BALL, Backlash as Backlash, Beam as Beam, BeamElement as BeamElement, BeamEnd as BeamEnd,
    BeamInertia as BeamInertia, Body as Body, BodyConstraint as BodyConstraint, BodyForce as BodyForce,
    BodyFrame as BodyFrame, BodyMotion as BodyMotion, BodyShape as BodyShape, Bushing as Bushing, Closing as Closing,
    Constraint as Constraint, ConstraintKind as ConstraintKind, CoordinateConstraint as CoordinateConstraint,
    DrawnBeam as DrawnBeam, DrawnLine as DrawnLine, ElementEvent as ElementEvent, ElementKind as ElementKind,
    FiniteElements as FiniteElements, Force as Force, ForceElement as ForceElement, ForceFunction as ForceFunction,
    Hold as Hold, ImpactStop as ImpactStop, Joint as Joint, JointFriction as JointFriction, JointKind as JointKind,
    JointLock as JointLock, JointStop as JointStop, Jump as Jump, Key as Key, LimitStop as LimitStop,
    MachineState as MachineState, Material as Material, ModalBody as ModalBody, ModalInterface as ModalInterface,
    Model as Model, MovingFrame as MovingFrame, PRISMATIC as PRISMATIC, Parameter as Parameter, REVOLUTE as REVOLUTE,
    SCREW as SCREW, Section as Section, Spring as Spring, Start as Start, Thrust as Thrust,
    TorsionSpring as TorsionSpring, Wrench as Wrench, register_constraint as register_constraint,
    register_force as register_force, register_joint as register_joint,
)
from polhode.model.configurations import (
    random_configuration as random_configuration, same_configuration as same_configuration,
)
from polhode.papers.compare import (
    compare as compare,
)
from polhode.scalar import (
    Vec as Vec, acos as acos, asin as asin, atan2 as atan2, cos as cos, cross as cross, dot as dot, exp as exp,
    is_zero as is_zero, length as length, log as log, maximum as maximum, minimum as minimum, sin as sin,
    sqrt as sqrt, tan as tan, where as where,
)
from polhode.show.animation import (
    animate as animate,
)
from polhode.show.cans.draw import (
    draw_cans as draw_cans,
)
from polhode.show.mode_motion import (
    mode_motion as mode_motion,
)
from polhode.show.page.identification import (
    write_identification_report as write_identification_report,
)
from polhode.show.plots import kinds
from polhode.simulation.absolute_model import (
    absolute as absolute,
)
from polhode.simulation.derivatives.gradient import (
    gradient as gradient,
)
from polhode.simulation.inputs import (
    ComputedTorque as ComputedTorque, PD as PD, Sampled as Sampled, Table as Table,
)
from polhode.simulation.recording import (
    record as record,
)
from polhode.simulation.run_options import (
    RunOptions as RunOptions,
)
from polhode.simulation.run_records import (
    Event as Event,
)
from polhode.simulation.simulate import (
    simulate as simulate,
)
from polhode.simulation.simulator import (
    Simulator as Simulator, simulator as simulator,
)
from polhode.simulation.still import (
    still as still,
)
from polhode.spatial.pose import (
    Pose as Pose,
)
from polhode.system.system import (
    System as System, compile as compile,
)

plot = kinds
__version__: str
