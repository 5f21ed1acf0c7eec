"""Inertial parameters of machines from measured motions."""
