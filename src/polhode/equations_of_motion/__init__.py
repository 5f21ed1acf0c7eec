"""The equations of a model, for reading: SymPy objects, LaTeX, Markdown, PDF."""

from polhode.errors import PolhodeError

try:
    import sympy as sympy
except ImportError:
    raise PolhodeError("equations need SymPy.\n  Install it with: pip install 'polhode[equations]'") from None
