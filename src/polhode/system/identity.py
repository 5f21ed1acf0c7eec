"""The text by which a model is known on disk: for its kernels, and for runs that were recorded of it."""

from polhode.formats.expression_functions import EXPRESSION_FUNCTIONS
from polhode.model import Model
from polhode.model.description import model_text
from polhode.model.per_model_cache import once_each
from polhode.model.user_kinds import user_kinds


@once_each
def identity_text(model: Model) -> str:
    """The model as text that says everything about it; "" where user functions or kinds are in it."""
    held = [*(x for force in model.forces for x in vars(force).values())]
    held += [x for constraint in model.constraints for x in constraint.data.values()]
    hidden = any(callable(x) and not isinstance(x, EXPRESSION_FUNCTIONS) for x in held) or user_kinds(model)
    return "" if hidden else model_text(model)
