"""Files that are made from the program: the schema of model files, the table of methods, the stub of the public names,
the equation index.

make generated          writes them all
"""

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import index
import polhode
from polhode.formats.schema import schema_text

ROOT = Path(__file__).resolve().parents[2]
SIMULATION = ROOT / "docs/simulation.md"


def stub() -> str:
    """The text of `__init__.pyi`, from the table by which `__init__.py` loads lazily."""
    lines, aliases = [], []
    for name, module in polhode._MODULES.items():
        package, _, leaf = module.rpartition(".")
        lines.append(f"from {package} import {leaf}" + (f" as {name}" if leaf == name else ""))
        aliases += [f"{name} = {leaf}"] if leaf != name else []
    for module, names in polhode._NAMES.items():
        parts = ", ".join(f"{name} as {name}" for name in sorted(names))
        filled = textwrap.fill(parts.replace(" as ", "~as~"), 114).replace("~", " ")
        lines.append(f"from {module} import (\n{textwrap.indent(filled, '    ')},\n)")
    head = '"""Types of the public names; written by `make generated` from the table in __init__.py."""'
    rest = ["", *aliases, "__version__: str", ""]
    return "\n".join([head, "", "# fmt: off", "# ruff: noqa: I001", *sorted(lines), *rest])


def methods_table() -> str:
    """The methods of integration as a table."""
    rows = ["| name | family | order | chooses its steps | sees constraints by | source |", "| --- " * 6 + "|"]
    for method in polhode.methods.values():
        steps = f"by an estimate of order {method.error_order}" if method.adaptive else ""
        seen = "multipliers" if method.meets_constraints else "v̇"
        rows.append(f"| {method.name} | {method.family} | {method.order} | {steps} | {seen} | {method.source} |")
    return "\n".join(rows)


def simulation_page() -> str:
    """docs/simulation.md with the table of methods as it must be."""
    text = SIMULATION.read_text(encoding="utf-8")
    made, count = re.subn(
        r"(<!-- methods:[^>]*-->\n).*?(\n<!-- end -->)", lambda m: m[1] + methods_table() + m[2], text, flags=re.S
    )
    assert count == 1, "the marks of the table"
    return made


FILES: dict[Path, Callable[[], str]] = {
    Path(polhode.__file__).with_suffix(".pyi"): stub,
    ROOT / "docs/model-schema.json": schema_text,
    SIMULATION: simulation_page,
    index.PAGE: index.render,
}
"""The text that each generated file must have."""


if __name__ == "__main__":
    for path, text in FILES.items():
        path.write_text(text(), encoding="utf-8")
        print(f"wrote {path.name}")
