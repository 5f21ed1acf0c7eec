"""Configurations that attempts begin from: random ones within limits, the same for every target."""

import numpy as np

from polhode.model import Model
from polhode.model.configurations import random_configuration
from polhode.model.per_model_cache import once_each
from polhode.result.symmetry import length_of

MOST_RESTARTS = 100
"""Attempts after the first, at most."""


@once_each
def restart_configurations(model: Model, seed: int) -> np.ndarray:
    """Random configurations (MOST_RESTARTS, nq)."""
    return random_configuration(model, MOST_RESTARTS, seed, length_of(model) or 1.0)
