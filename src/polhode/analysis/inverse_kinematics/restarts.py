"""Configurations that attempts begin from: random ones within limits, the same for every target."""

import numpy as np

from polhode.analysis.random_states import random_configurations
from polhode.model import Model
from polhode.model.per_model_cache import once_each

MOST_RESTARTS = 100
"""Attempts after the first, at most."""


@once_each
def restart_configurations(model: Model, seed: int) -> np.ndarray:
    """Random configurations (MOST_RESTARTS, nq)."""
    return random_configurations(model, MOST_RESTARTS, np.random.default_rng(seed))
