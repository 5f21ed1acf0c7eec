"""Results: a motion as named arrays with units, its grade, its files, and the store of long runs."""

from polhode.result.verdict import Grade as Grade  # named by docs/simulation.md
