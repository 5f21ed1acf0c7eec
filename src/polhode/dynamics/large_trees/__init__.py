"""Algorithms that go over the joints of large trees in loops of compiled code, instead of being written out.

loops               inverse and forward dynamics; which trees are large
one_velocity_loops  forward dynamics where every joint has one velocity, several elements at once
subtree_rows        the mass matrix, row by row over what each velocity carries
christoffel_loops   the Christoffel symbols
coriolis_loops      the Coriolis matrix
derivatives         derivatives of inverse and forward dynamics by recursion
derivative_passes   their passes over the tree
inverse_rows        the inverse of the mass matrix, row by row
"""
