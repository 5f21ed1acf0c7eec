"""What the site does beyond Sphinx: names in code lead to the reference, docstrings are set, output looks like output."""

import re
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from docstring_markup import markup
from reference_pages import is_known

HOLDERS = {
    "ph": "polhode",
    "polhode": "polhode",
    "system": "polhode.System",
    "System": "polhode.System",
    "model": "polhode.Model",
    "Model": "polhode.Model",
}
CODE = re.compile(r"(ph|polhode|system|System|model|Model)\.([A-Za-z_][\w.]*)(?:\(.*\)?)?")


class NamesInCode(SphinxTransform):
    """`ph.simulate(…)` in prose leads to where it is explained."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Wrap every literal that names something public into a reference; one that leads nowhere stays as it is."""
        for literal in list(self.document.findall(nodes.literal)):
            parent = literal.parent
            if isinstance(parent, (addnodes.pending_xref, nodes.reference, nodes.title)) or "xref" in literal.get(
                "classes", ()
            ):
                continue
            found = CODE.fullmatch(literal.astext().replace("\n", " "))
            if found is None:
                continue
            target = f"{HOLDERS[found[1]]}.{found[2]}".rstrip(".")
            if not is_known(target.removeprefix("polhode.")):
                continue
            reference = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=False
            )
            reference["py:module"] = reference["py:class"] = None
            parent.replace(literal, reference)
            reference += literal


def docstring(_: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings of ours, as reStructuredText."""
    if isinstance(obj, type) and lines and lines[0].startswith(f"{obj.__name__}("):
        lines[:] = []  # made by dataclass or NamedTuple: the signature says it
        return
    lines[:] = markup(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_lexer("output", TextLexer)
    app.add_transform(NamesInCode)
    app.connect("autodoc-process-docstring", docstring)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
