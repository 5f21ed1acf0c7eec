"""Checks on a compiled machine: initial state, diagnosis of constraints, monitor over a run."""
