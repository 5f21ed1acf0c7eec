"""Files that are made from the program: the schema of model files, tables of methods, joints and calls, the stub of the
public names, the equation index, the speeds on the page of performance.

make generated          writes them all
"""

import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import index
import polhode
import speed_parts
from polhode.formats.schema import schema_text
from polhode.model import JOINTS
from polhode.system.catalogue.registry import QUANTITIES

ROOT = Path(__file__).resolve().parents[2]
SIMULATION = ROOT / "docs/simulation.md"
SYSTEM = ROOT / "docs/system.md"


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


def joints_table() -> str:
    """q, v and τ of every kind of joint as a table."""
    rows = ["| joint | q | v | τ | along, about |", "| --- " * 5 + "|"]
    for kind in JOINTS.values():
        if type(kind).__module__.partition(".")[0] != "polhode":
            continue  # of a test
        units = [[unit for element, _ in kind.elements for unit in element.units[k]] for k in range(3)]
        letters = ", ".join(axis for _, axis in kind.elements if axis in ("x", "y", "z"))
        axes = [f"{letters} of the joint frame"] * bool(letters)
        axes = "; ".join(
            dict.fromkeys([*axes, *(_axis(*pair) for pair in kind.elements if pair[1] not in ("x", "y", "z"))])
        )
        cells = _with_units(kind.coordinates, units[0]), _with_units(kind.dofs, units[1]), ", ".join(units[2])
        rows.append(f"| {kind.name} | {' | '.join(cell or '–' for cell in cells)} | {axes} |")
    return "\n".join(rows)


def _with_units(names, units):
    """Names with the unit of each, one unit for those in a row that have it."""
    parts = []
    for k, (name, unit) in enumerate(zip(names, units, strict=True)):
        last = k + 1 == len(names) or units[k + 1] != unit
        parts.append(f"{name} ({unit})" if last else name)
    return ", ".join(parts)


def _axis(element, axis):
    if not element.nv:
        return "–"
    if element.quaternion:
        return "quaternion child → joint frame, ω in the child's axes"
    return f"`{axis}`"


def calls_table() -> str:
    """Every call of a System as a table: its arguments, what it gives."""
    rows = ["| call | gives | what |", "| --- " * 3 + "|"]
    for name, quantity in QUANTITIES.items():
        method = getattr(polhode.System, name)
        given = [x for x in inspect.signature(method).parameters.values() if x.name not in ("self", "options")]
        call = ", ".join(x.name if x.default is x.empty else f"{x.name}=…" for x in given)
        shapes = [f"({', '.join(['...', *map(str, axes)])})" for axes in quantity.results]
        fields = getattr(quantity.record, "_fields", None) or list(getattr(quantity.record, "__annotations__", {}))
        gives = ", ".join(f"{field} {shape}" for field, shape in zip(fields or [""] * len(shapes), shapes, strict=True))
        text = re.sub(r"\s+(Zoric|BEYOND|Schwab)\b.*$", "", inspect.getdoc(method).partition("\n\n")[0], flags=re.M)
        text = " ".join(text.split()).replace("|", "\\|")
        rows.append(f"| `{name}({call})` | {gives.strip()} | {text} |")
    return "\n".join(rows)


def system_page() -> str:
    """docs/system.md with the tables of joints and calls as they must be."""
    text = SYSTEM.read_text(encoding="utf-8")
    for mark, table in (("joints", joints_table), ("calls", calls_table)):
        made = re.compile(rf"(<!-- {mark}:[^>]*-->\n).*?(\n<!-- end -->)", re.S)
        text, count = made.subn(lambda m, table=table: m[1] + table() + m[2], text)
        assert count == 1, f"the marks of the table of {mark}"
    return text


FILES: dict[Path, Callable[[], str]] = {
    Path(polhode.__file__).with_suffix(".pyi"): stub,
    ROOT / "docs/model-schema.json": schema_text,
    SIMULATION: simulation_page,
    SYSTEM: system_page,
    index.PAGE: index.render,
    speed_parts.PAGE: speed_parts.performance_page,
    speed_parts.PAPER: speed_parts.paper_page,
}
"""The text that each generated file must have."""


if __name__ == "__main__":
    for path, text in FILES.items():
        path.write_text(text(), encoding="utf-8")
        print(f"wrote {path.name}")
