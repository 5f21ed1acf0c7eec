"""Runs: options in, Dataset out; one run, many side by side, their derivatives."""
