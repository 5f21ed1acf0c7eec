"""The physics: pure functions on any scalar.

arguments            what they take; `with_forces`: the dynamics with all that acts, where a reader begins
kinematics           placements, velocities, unit motions; `body_points`, `spatial_vectors`
inverse, forward     Newton–Euler and articulated bodies; `inertia`: mass matrix and factors; `sweeps`: M = K Kᵀ
large_trees/         the same passes as loops of compiled code
covariant            Christoffel symbols, Coriolis matrix; `energy`, `centroidal`: energies and momenta
forces               what acts besides gravity; `state_inertia`, `normal_forces`, `power`: what elements ask for
constraints          rows A v̇ = b from residuals; `reactions`; `absolute`: a tree seen from its bodies
fundamental          `ph.fundamental`: constrained motion of any M and A
single/              one body, by every published form
"""
