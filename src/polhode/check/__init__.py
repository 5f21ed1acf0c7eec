"""Checks on a compiled machine: initial state, diagnosis of constraints, monitor over a run.

given_start          the start of a run: the one given, or the model's; `initial_state`: on the constraints,
                     `joint_limits`: within the limits of joints
joint_damping        how fast damping brings joints to rest, which decides the usual method of a run
diagnosis            constraints at one state: rank, redundant and contradictory rows, violations
constraint_monitor   the same over the samples of a run; `contacts`: which would have to pull
modal_limits         where flexible bodies leave what their modes describe
singular_positions   positions passed between samples at which constraints lose rank
"""
