"""A form by its name: a module of its own, so that runs without one load none of them."""

from polhode.dynamics.single import Form, forms


def form_named(name: str) -> Form:
    """The form, or an error that lists those of `ph.forms`."""
    return forms[name]
