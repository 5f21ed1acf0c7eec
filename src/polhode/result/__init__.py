"""Results: a motion as named arrays with units, its grade, its files, and the store of long runs.

dataset       the Dataset of a motion; `labels`: names and units of its coordinates; `deferred`: variables
              that are computed when they are first read
checks        the grade of a run (`verdict`), by its `error_estimate` and against what `symmetry` says is conserved;
              `constrained`: its constraints
files         netCDF and CSV; `trailer`: the digest at the end of a file
store         chunks and checkpoints of a long run; `assembly` makes one file of them
atomic_file, digests, lock   atomic writes, checked reads, one writer at a time
"""

from polhode.result.verdict import Grade as Grade  # named by docs/simulation.md
