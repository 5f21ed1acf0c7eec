"""Machines under constraints: rows, constrained dynamics, reactions; on generic scalars."""
