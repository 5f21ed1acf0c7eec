"""Polhode: rigid multibody dynamics in unit quaternions (Euler parameters).

    import polhode as ph

The names below are the public ones; each is loaded when it is first used.
"""

from typing import Any

from polhode.loading import imported as _imported, install as _defer_modules
from polhode.moved import install as _find_moved_modules

try:  # written by the build, from the last tag
    from polhode._version import VERSION as __version__
except ImportError:  # a tree of sources that nothing was built in
    __version__ = "0.1.0.dev0"

_MODULES = {
    "quaternion": "polhode.quaternion",
    "euler": "polhode.euler",
    "exact": "polhode.exact",
    "fundamental": "polhode.dynamics.fundamental",
    "spatial": "polhode.spatial",
    "plot": "polhode.show.plots.kinds",
}
_NAMES = {
    "polhode.dynamics.single": ["Acceleration", "Form", "acceleration", "forms"],
    "polhode.errors": [
        "CompileError",
        "GimbalLockError",
        "InputError",
        "IntegrationError",
        "ModelError",
        "PolhodeError",
        "PolhodeWarning",
        "UnknownNameError",
    ],
    "polhode.show.animation": ["animate"],
    "polhode.show.cans.draw": ["draw_cans"],
    "polhode.show.mode_motion": ["mode_motion"],
    "polhode.show.page.identification": ["write_identification_report"],
    "polhode.scalar": [
        "Vec", "acos", "asin", "atan2", "cos", "cross", "dot", "exp", "is_zero", "length", "log", "maximum", "minimum",
        "sin", "sqrt", "tan", "where",
    ],
    "polhode.spatial.pose": ["Pose"],
    "polhode.system.system": ["System", "compile"],
    "polhode.dynamics.single.variables": ["SingleBody"],
    "polhode.papers.compare": ["compare"],
    "polhode.analysis.identification.base_parameters": ["BaseParameters", "base_parameters"],
    "polhode.analysis.identification.excitation": ["Excitation", "excitation"],
    "polhode.analysis.identification.identify": ["Identified", "identify"],
    "polhode.analysis.inverse_kinematics.inverse_kinematics": ["InverseKinematics", "inverse_kinematics"],
    "polhode.analysis.inverse_kinematics.targets": ["Target"],
    "polhode.analysis.arc_length": ["LoadPath", "load_path"],
    "polhode.analysis.buckling": ["Buckling", "buckling"],
    "polhode.analysis.campbell": ["Campbell", "campbell"],
    "polhode.analysis.contact_points": ["actuation", "contact_impulse"],
    "polhode.analysis.linear": ["Linear", "linearize"],
    "polhode.analysis.modes": ["Mode"],
    "polhode.analysis.steady": ["Steady", "equilibrium", "steady_motion"],
    "polhode.simulation.absolute_model": ["absolute"],
    "polhode.check.initial_state": ["Consistent", "consistent_start"],
    "polhode.check.joint_limits": ["with_limits"],
    "polhode.equations_of_motion.equations": ["Equations", "equations"],
    "polhode.check.diagnosis": ["Diagnosis", "diagnose"],
    "polhode.simulation.derivatives.gradient": ["gradient"],
    "polhode.simulation.run_options": ["RunOptions"],
    "polhode.simulation.run_records": ["Event"],
    "polhode.simulation.inputs": ["ComputedTorque", "PD", "Sampled", "Table"],
    "polhode.simulation.recording": ["record"],
    "polhode.simulation.simulate": ["simulate"],
    "polhode.simulation.still": ["still"],
    "polhode.simulation.simulator": ["Simulator", "simulator"],
    "polhode.ensemble.distributions": ["Grid", "Listed", "LogUniform", "Normal", "Rotations", "Uniform"],
    "polhode.ensemble.measures": ["Measure"],
    "polhode.ensemble.on_disk.store": ["open_study"],
    "polhode.ensemble.study": ["Stop", "Study"],
    "polhode.ensemble.study_runner": ["StudyRunner"],
    "polhode.ensemble.sweep": ["sweep"],
    "polhode.formats.bicycle": ["bicycle"],
    "polhode.formats.finite_elements.read": ["read_finite_elements"],
    "polhode.formats.load": ["load"],
    "polhode.integrate.methods": ["methods"],
    "polhode.model.configurations": ["random_configuration", "same_configuration"],
    "polhode.model": [
        "BALL", "PRISMATIC", "REVOLUTE", "SCREW", "Backlash", "Beam", "BeamElement", "BeamEnd", "BeamInertia",
        "Body", "BodyConstraint", "BodyForce", "BodyFrame", "BodyMotion", "BodyShape", "Bushing", "Closing",
        "Constraint", "ConstraintKind", "CoordinateConstraint", "DrawnBeam", "DrawnLine", "ElementEvent", "ElementKind",
        "FiniteElements", "Force", "ForceElement", "ForceFunction", "Hold", "ImpactStop", "Joint",
        "JointFriction", "JointKind", "JointLock", "JointStop", "Jump", "Key", "LimitStop", "MachineState",
        "Material", "ModalBody", "ModalInterface", "Model", "MovingFrame", "Parameter", "Section", "Spring",
        "Start", "Thrust", "TorsionSpring", "Wrench", "register_constraint", "register_force", "register_joint",
    ],
}  # fmt: skip
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = ["__version__", *_MODULES, *_HOME]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _imported(_MODULES[name])
    if name in _HOME:
        return getattr(_imported(_HOME[name]), name)
    raise AttributeError(f"module 'polhode' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


_defer_modules()
_find_moved_modules()
