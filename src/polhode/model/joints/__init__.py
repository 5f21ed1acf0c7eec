"""Joints: one file for each kind, the base classes, and the registry."""
