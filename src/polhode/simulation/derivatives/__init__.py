"""Derivatives of a motion by numbers of its model and by its start: its steps replayed, forward and backward."""
