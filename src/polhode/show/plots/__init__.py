"""Plots of runs, one kind a file; `kinds` lists them."""
