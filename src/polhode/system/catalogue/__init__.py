"""Every quantity of a System, one record each.

A new quantity is a function in a module of its subject and a method of the class of that subject in `system/methods/`,
which calls its record. The function computes it on any scalars; its docstring, its arguments, the axes of its results
and where its algorithm is from become the record.

record         the decorator, and what many quantities share
dynamics       mass matrix, bias, inverse and forward dynamics, their derivatives
constraints    rows, residuals, multipliers, reactions
kinematics     poses, velocities, accelerations, Jacobians of bodies
centroidal     energies, momenta, mass centre
configuration  rates, steps and differences on the configuration manifold
registry       all of them by name
"""
