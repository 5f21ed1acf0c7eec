"""Results: a motion as named arrays with units, its grade, its files, and the store of long runs."""

from polhode.result.assembly import assemble as assemble
from polhode.result.atomic_file import refuse_existing as refuse_existing
from polhode.result.checks import (
    Residual as Residual,
    Steps as Steps,
    error_estimate as error_estimate,
    error_of_parts as error_of_parts,
    grade as grade,
)
from polhode.result.dataset import (
    STATUSES as STATUSES,
    VARIABLES as VARIABLES,
    Extra as Extra,
    Facts as Facts,
    Trajectory as Trajectory,
    completed as completed,
    dataset as dataset,
    norm_error as norm_error,
)
from polhode.result.files import csv as csv, load as load, save as save
from polhode.result.store import Store as Store
from polhode.result.symmetry import AXES as AXES, Conserved as Conserved, conserved as conserved
from polhode.result.verdict import Check as Check, Grade as Grade
