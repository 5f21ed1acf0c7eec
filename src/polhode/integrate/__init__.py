"""Integrators: methods see a machine as a few functions, rules see a right-hand side.

method       what a method is, what it sees of a machine; `methods` lists all of them by name
tableaus     coefficients of Runge–Kutta rules: a row here is a method
explicit, implicit, lie, structure   methods by family: a method is an entry of the tuple at the end of its file
radau        the implicit method of stiff machines, whose iteration takes their sparse matrices
extrapolation  the method of machines whose joints are damped hard
constrained  methods whose steps solve for multipliers, by constraint policy
chart        rules for vectors on machines, and the motion within a step; `group`: maps of the rotation group
extension    the motion within a step as exact as the step, for samples
integrals    of functions of the state along steps, as the work of forces
adaptive     step-size control by an error estimate
sundials     CVODE and IDA, to compare with
"""
