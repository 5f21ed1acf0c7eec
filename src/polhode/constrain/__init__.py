"""Machines under constraints: rows, constrained dynamics, reactions; on generic scalars.

constrained_dynamics   accelerations, projection and multipliers, by the engine of a `constraint_policy`
absolute_coordinates   the engine in Euler parameters of every body
row_scales             natural sizes of rows, which ranks and residuals are compared with
reactions              forces of constraints and joints; `multiplier_forces`: from multipliers to forces

`system.constrained_model` makes the constrained dynamics of a model.
"""
