"""Bodies with modes from finite elements: matrices, their reduction, inertia invariants, and the bodies themselves."""
