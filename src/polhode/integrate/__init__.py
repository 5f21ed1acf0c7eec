"""Integrators: methods that see a machine as a few functions, rules that see a right-hand side."""
