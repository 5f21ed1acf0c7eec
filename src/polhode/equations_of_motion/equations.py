"""`ph.equations(model)`: the equations of motion of a model as SymPy objects, and as pages to read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polhode.equations_of_motion import latex, markdown
from polhode.equations_of_motion.page import page
from polhode.equations_of_motion.pdf import write_pdf
from polhode.equations_of_motion.record import DerivedEquations
from polhode.equations_of_motion.vocabulary import vocabulary
from polhode.errors import InputError, message
from polhode.model import Model
from polhode.model.forces.refused import refuse_coupled_inertia, refuse_normal_forces, refuse_state_inertia

LIMIT = 1200
"""Operations of the equations of motion, written out, up to which they count as readable."""


class Equations(DerivedEquations):
    """The equations of one model: Σ M_ga v̇_a + Σ Γ_ab,g v_a v_b + gravity_g − forces_g = τ_g, and their pages.

    Everything is derived when it is first asked for. What cannot be written out raises an InputError that says how
    large it is; `newton_euler` and `composite_bodies`, the recursions, always work.
    """

    def latex(self) -> str:
        """A LaTeX document."""
        return latex.document(page(self))

    def markdown(self) -> str:
        """A Markdown page, mathematics between dollars."""
        return markdown.document(page(self))

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def save(self, path: str | Path) -> Path:
        """Write a page: .md, .tex or .pdf (which needs a LaTeX)."""
        path = Path(path)
        writers = {".md": self.markdown, ".tex": self.latex}
        if path.suffix == ".pdf":
            return write_pdf(self.latex(), path)
        if path.suffix not in writers:
            raise InputError(message("equations, save", "unknown kind of file", repr(path.name), ".md, .tex or .pdf"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(writers[path.suffix](), encoding="utf-8")
        return path


def equations(
    model: Model,
    symbolic: Any = None,
    names: Mapping[str, Any] | None = None,
    factored: bool = False,
    forms: Sequence[str] | None = None,
    limit: int = LIMIT,
    subscripts: str = "numbers",
) -> Equations:
    """The equations of motion of a model, for reading.

    symbolic    which numbers become letters: None for all that are not zero; words ("masses", "inertias", "lengths",
                "gravity", "joints") and paths ("bodies.arm", "bodies.arm.mass"); () for none
    names       letters of one's own by path or coordinate: {"bodies.rod.mass": "m", "bodies.rod.inertia.0": "m*l^2/12",
                "hinge": "phi"}; one letter for several numbers makes them one
    factored    whether pages give the recursion, step by step, even where the equations can be written out
    forms       names of ph.forms, for one body on a spherical or free joint: "sherif-29", …
    limit       operations up to which equations are written out on pages
    subscripts  "numbers", or "names" of bodies and joints
    """
    if not isinstance(model, Model):
        fix = "ph.load(name or file) gives one."
        raise InputError(message("equations", "not a model", type(model).__name__, "a ph.Model", fix))
    if model.nv == 0:
        raise InputError(message(f"equations, model '{model.name}'", "nothing moves", "nv 0", "a joint that moves"))
    refuse_state_inertia(f"equations, model '{model.name}'", model.forces, "Leave them out.")
    refuse_coupled_inertia(f"equations, model '{model.name}'", model.forces, "Take half-bars as mass of beams.")
    refuse_normal_forces(f"equations, model '{model.name}'", model.forces, "Leave them out.")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InputError(message("equations, limit", "not a count", repr(limit), "operations, at least 1"))
    return Equations(model, vocabulary(model, symbolic, names, subscripts), factored, forms, limit)
