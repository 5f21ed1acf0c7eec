"""Integrators: step rules that see a right-hand side, no machine."""
