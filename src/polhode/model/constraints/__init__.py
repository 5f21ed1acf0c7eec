"""Kinds of constraints, one file for each family: what must stay zero, and all that follows from the kind alone."""
