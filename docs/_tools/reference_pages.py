"""The reference: a page for each group of public names, made from the package itself.

What a name is, its signature, types, shapes, units and equations come from its docstring and its annotations (autodoc); the example below it
from its docstring, or from docs/reference-examples, where a section `## ph.NAME` has one that runs as pages do. The command line comes
from its own options.
"""

import inspect
import re
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import polhode
from page_blocks import blocks
from page_runner import Printed
from polhode import cli

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "reference-examples"

GROUPS: dict[str, tuple[str, str, list[str]]] = {
    "models": (
        "Models and files",
        "A machine as a value: bodies, joints, frames, a start. Guides: [model files](../models.md), [models made of models](../model-edits.md), [beams](../beams.md).",
        [
            "Model", "Body", "Joint", "BodyFrame", "BodyShape", "Start", "Parameter", "load", "bicycle", "absolute", "with_limits",
            "random_configuration", "same_configuration", "Beam", "BeamEnd", "BeamElement", "Section", "Material",
            "BeamInertia",
            "ModalBody",
            "ModalInterface",
            "FiniteElements",
            "read_finite_elements",
        ],
    ),
    "forces": (
        "Force elements",
        "What acts on bodies and joints. Guide: [forces](../forces.md).",
        [
            "Force", "BodyForce", "ForceFunction", "Spring", "TorsionSpring", "Bushing", "JointFriction", "JointStop", "LimitStop",
            "ImpactStop", "JointLock", "Backlash", "Thrust", "Wrench",
        ],
    ),
    "constraints": (
        "Constraints",
        "Conditions between bodies and joints, and what is known of them before a run. Guides: [constraints](../constraints.md), [engines](../engines.md).",
        ["Constraint", "diagnose", "Diagnosis", "consistent_start", "Consistent"],
    ),
    "system": (
        "System: quantities of a machine",
        "`ph.compile(model)` makes a `System`, whose methods are the quantities: every argument may have leading batch axes. Guide: [coordinates, frames and calls](../system.md).",
        ["compile", "System", "actuation", "contact_impulse"],
    ),
    "runs": (
        "Runs",
        "The motion of a machine as a graded Dataset. Guides: [simulation](../simulation.md), [verdicts](../verdicts.md).",
        [
            "simulate", "record", "simulator", "Simulator", "RunOptions", "Event", "PD", "ComputedTorque", "Table", "Sampled", "gradient",
            "methods", "still", "animate", "mode_motion", "draw_cans",
        ],
    ),
    "studies": (
        "Studies: many runs",
        "Monte Carlo, grids, lists: on lanes, threads, GPUs and clusters. Guide: [ensembles](../ensembles.md).",
        [
            "sweep", "Study", "StudyRunner", "Stop", "Measure", "open_study", "Normal", "Uniform", "LogUniform", "Rotations", "Listed", "Grid",
        ],
    ),
    "analysis": (
        "Rest, stability, modes",
        "Where a machine stays as it is, and small motions about it. Guide: [rest, steady motion, small motions](../analysis.md).",
        ["equilibrium", "steady_motion", "Steady", "linearize", "Linear", "Mode", "campbell", "Campbell", "buckling", "Buckling", "load_path", "LoadPath"],
    ),
    "robots": (
        "Inverse kinematics and identification",
        "Guides: [inverse kinematics](../inverse-kinematics.md), [identification](../identification.md).",
        [
            "inverse_kinematics", "InverseKinematics", "Target", "base_parameters", "BaseParameters", "excitation", "Excitation", "identify",
            "Identified", "write_identification_report",
        ],
    ),
    "equations": (
        "Equations to read, forms of the papers",
        "Guides: [equations of a model](../equations-of-a-model.md), [equations of the papers](../equations.md).",
        ["equations", "Equations", "acceleration", "Acceleration", "forms", "Form", "compare", "SingleBody"],
    ),
    "own-parts": (
        "Parts of your own",
        "Joints, force elements and constraints in your own file: functions on generic scalars. Guide: [extending](../extending.md).",
        [
            "register_joint", "register_force", "register_constraint", "JointKind", "ElementKind", "ForceElement", "ConstraintKind",
            "BodyConstraint", "CoordinateConstraint", "Closing", "ElementEvent", "Hold", "Jump", "Key", "DrawnBeam", "DrawnLine", "MachineState", "BodyMotion",
            "MovingFrame", "REVOLUTE", "PRISMATIC", "SCREW", "BALL",
        ],
    ),
    "scalars": (
        "Scalars and vectors",
        "Functions for user functions: they take floats, arrays and the symbols of the compiler alike.",
        [
            "Vec", "sin", "cos", "tan", "asin", "acos", "atan2", "exp", "log", "sqrt", "minimum", "maximum", "where", "dot", "cross", "length", "is_zero",
        ],
    ),
    "errors": (
        "Errors",
        "An error says where, what was found, what was expected and what to do.",
        [
            "PolhodeError", "InputError", "ModelError", "CompileError", "IntegrationError", "GimbalLockError", "UnknownNameError", "PolhodeWarning",
        ],
    ),
}  # fmt: skip
"""Pages of the reference: title, what it is about, names of `polhode`."""

MODULES = {
    "quaternion": (
        "Quaternions",
        "`ph.quaternion`: algebra, rotations, rates, other parameters; means, curves, fits. Guide: [rotations](../rotations.md).",
        [],
    ),
    "euler": (
        "Euler angles",
        "`ph.euler`: any sequence of axes, rate matrices, gimbal lock. Guide: [rotations](../rotations.md).",
        [],
    ),
    "spatial": ("Frames and inertia", "`ph.spatial`: poses, twists, inertia, SE(3).", ["Pose"]),
    "exact": ("Closed-form motions", "`ph.exact`: motions by elliptic functions, to check against.", []),
    "fundamental": ("The fundamental equation", "`ph.fundamental`: M, Q, A and b of any origin.", []),
    "plot": ("Plots", "`ph.plot`: figures of a run. Guide: [plots](../plots.md).", []),
}
"""Public modules: title, what it is about, further names of `polhode` on the page."""


def public(module: ModuleType) -> list[str]:
    """The public functions and classes of a public module: its own, without those it imports."""
    home = module.__name__.removesuffix(".kinds")
    found = []
    for name in dir(module):
        each = getattr(module, name)
        if (
            not name.startswith("_")
            and (inspect.isfunction(each) or inspect.isclass(each))
            and each.__module__.startswith(home)
        ):
            found.append(name)
    return found


def quantities() -> list[str]:
    """Methods and properties of `System`, and of `Model`, as addresses below `polhode`."""
    holders = {"System": polhode.System, "Model": polhode.Model}
    found = []
    for holder, kind in holders.items():
        for name in dir(kind):
            each = inspect.getattr_static(kind, name)
            if not name.startswith("_") and (
                inspect.isfunction(each) or isinstance(each, (property, cached_property, staticmethod, classmethod))
            ):
                found.append(f"{holder}.{name}")
    return found


@cache
def addresses() -> list[str]:
    """Every public name, as an address below `polhode`: `simulate`, `quaternion.product`, `System.mass_matrix`."""
    top = [name for name in polhode.__all__ if name != "__version__"]
    inner = [f"{name}.{each}" for name in MODULES for each in public(getattr(polhode, name))]
    return [*top, *inner, *quantities()]


@cache
def is_known(address: str) -> bool:
    """Whether the reference has a place for an address: a public name, or a member of a public class that something is said of."""
    if address in addresses():
        return True
    holder, _, name = address.rpartition(".")
    kind = getattr(polhode, holder, None) if holder in polhode.__all__ else None
    return inspect.isclass(kind) and not issubclass(kind, BaseException) and name in _member_names(kind)


def resolved(address: str) -> Any:
    """The object of an address."""
    found: Any = polhode
    for part in address.split("."):
        found = inspect.getattr_static(found, part) if inspect.isclass(found) else getattr(found, part)
    return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found


def docstring(address: str) -> str:
    """The docstring of an address; a value has that of its kind."""
    found = resolved(address)
    text = inspect.getdoc(found) or ""
    made = inspect.isclass(found) and text.startswith((f"{found.__name__}(", "int(", "float("))
    return "" if made else text


@cache
def written() -> dict[str, tuple[Path, str]]:
    """The sections of docs/reference-examples: page and text by address."""
    found = {}
    for path in sorted(EXAMPLES.glob("*.md")):
        pieces = re.split(r"^## (.+)\n", path.read_text(encoding="utf-8"), flags=re.M)
        for names, text in zip(pieces[1::2], pieces[2::2], strict=True):
            for name in re.findall(r"`(?:ph\.)?([\w.]+)`", names):
                found[name] = (path, text)
    return found


def without_docstring() -> list[str]:
    """Public names, and members of public classes, that nothing is said of."""
    return [address for address in [*addresses(), *members()] if not docstring(address)]


def members() -> list[str]:
    """Methods and properties of every public class of ours but those in `addresses`, as addresses; inherited ones count."""
    kinds = {name: getattr(polhode, name) for name in polhode.__all__ if inspect.isclass(getattr(polhode, name))}
    found = [f"{holder}.{name}" for holder, kind in kinds.items() for name in _member_names(kind)]
    return [address for address in found if address not in addresses()]


def without_example() -> list[str]:
    """Public names that no example shows: neither a doctest of their own nor a section of docs/reference-examples."""
    shown = written()
    return [a for a in addresses() if a not in shown and ">>>" not in docstring(a) and a not in MODULES]


def unplaced() -> list[str]:
    """Names of `polhode` that no page of the reference has, or more than one."""
    placed = [name for _, _, names in GROUPS.values() for name in names]
    placed += [name for _, _, names in MODULES.values() for name in names] + list(MODULES)
    return [name for name in polhode.__all__ if placed.count(name) != 1 and name != "__version__"]


def pages(printed: dict[Path, list[Printed]]) -> dict[str, str]:
    """The pages of the reference by file name."""
    if missing := unplaced():
        raise SystemExit(f"docs/_tools/reference_pages.py: {', '.join(missing)}: put each on one page, in GROUPS.")
    said = {path: {each.line: each.text for each in lines} for path, lines in printed.items()}
    found = {f"{key}.rst": _page(title, text, names, said) for key, (title, text, names) in GROUPS.items()}
    for key, (title, text, further) in MODULES.items():
        names = [
            *further,
            *(f"{key}.{name}" for name in sorted(public(getattr(polhode, key)), key=str.lower) if name not in further),
        ]
        page = _page(title, text, names, said, plain=True)
        found[f"{key}.rst"] = page.replace("=\n\n", f"=\n\n.. py:module:: polhode.{key}\n\n", 1)
    found["command-line.md"] = command_line(said)
    found["index.md"] = index()
    return found


def index() -> str:
    """The first page of the reference: what is where."""
    rows = []
    for key, (title, text, names) in {**GROUPS, **MODULES}.items():
        listed = names if key in GROUPS else public(getattr(polhode, key))
        some = " ".join(f"`ph.{key + '.' if key in MODULES else ''}{name}`" for name in listed[:6])
        rows.append(f"| [{title}]({key}.rst) | {text.split(' Guide')[0]} | {some}{' …' if len(listed) > 6 else ''} |")
    entries = "\n".join([*GROUPS, *MODULES, "command-line"])
    count = len(addresses())
    return f"""# Reference

Every public name, {count} of them, from the package itself: signature and types, shapes and units, equations, a link to the source, an example that ran.
All code here begins with `import polhode as ph`; `np` is NumPy. `(..., 3)` is an array with any leading batch axes; SI units and radians everywhere.

| page | what it is about | names |
| --- | --- | --- |
{chr(10).join(rows)}
| [Command line](command-line.md) | `polhode COMMAND`: every command, option and exit code | |

```{{toctree}}
:hidden:

{entries}
```
"""


def _page(title: str, text: str, names: list[str], said: dict[Path, dict[int, str]], plain: bool = False) -> str:
    lines = [title, "=" * len(title), "", _rst(text), ""]
    for name in names:
        shown = name.rpartition(".")[2] if plain else name
        lines += [shown, "-" * len(shown), "", *_directive(name, said), ""]
    return "\n".join(lines)


def _rst(text: str) -> str:
    """A line of Markdown as reStructuredText: code, and links to pages."""
    return re.sub(r"\[([^\]]*)\]\(\.\./([\w-]+)\.md\)", r":doc:`\1 </\2>`", re.sub(r"`([^`]+)`", r"``\1``", text))


def _directive(address: str, said: dict[Path, dict[int, str]]) -> list[str]:
    """The directive of autodoc for a name, with its example."""
    found = resolved(address)
    place = f"polhode.{address}"
    if inspect.isclass(found):
        lines = [f".. autoclass:: {place}", *_options(address, found), ""]
    elif inspect.isroutine(found):
        lines = [f".. autofunction:: {place}", ""]
    else:
        lines = [
            f".. py:data:: {place}",
            f"   :type: {type(found).__name__}",
            "",
            *_indented(_value(address, found)),
            "",
        ]
    lines += _indented(_example(address, said))
    if inspect.isclass(found):
        lines += _members(address, said)
    return lines


def _options(address: str, kind: type) -> list[str]:
    exception = issubclass(kind, BaseException)
    return ["   :show-inheritance:"] if exception else []


def _members(address: str, said: dict[Path, dict[int, str]]) -> list[str]:
    """The methods and properties of a class that have something said of them, in the order of the source."""
    kind = resolved(address)
    if issubclass(kind, BaseException):
        return []
    found = []
    for name in _member_names(kind):
        each = inspect.getattr_static(kind, name)
        what = "autoproperty" if isinstance(each, (property, cached_property)) else "automethod"
        found += [
            "",
            f"   .. {what}:: polhode.{address}.{name}",
            "",
            *_indented(_indented(_example(f"{address}.{name}", said))),
        ]
    return found


def _member_names(kind: type) -> list[str]:
    names = []
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("polhode"):
            for name, each in vars(base).items():
                told = isinstance(each, (property, cached_property, staticmethod, classmethod)) or inspect.isfunction(
                    each
                )
                if told and not name.startswith("_") and name not in names:
                    names.append(name)
    return names


def _value(address: str, found: Any) -> list[str]:
    from docstring_markup import markup

    return markup((inspect.getdoc(found) or "").split("\n"))


def _indented(lines: list[str]) -> list[str]:
    return [f"   {line}" if line else "" for line in lines]


def _example(address: str, said: dict[Path, dict[int, str]]) -> list[str]:
    """The example of a name, and what it printed."""
    if address not in written():
        return []
    path, text = written()[address]
    whole = path.read_text(encoding="utf-8")
    offset = whole[: whole.index(text)].count("\n")
    lines = [".. rubric:: Example", ""]
    for block in blocks(text):
        if block.language == "output":
            continue
        lines += [f".. code-block:: {block.language or 'text'}", "", *_indented(block.text.rstrip().split("\n")), ""]
        out = said.get(path, {}).get(block.line + offset, "").rstrip()
        shown = out if block.expected is None else block.expected.rstrip()  # compared when it ran
        if shown and block.language == "python":
            lines += [".. code-block:: output", "", *_indented(shown.split("\n")), ""]
    return lines


def command_line(said: dict[Path, dict[int, str]]) -> str:
    """The page of the command line, from its own options."""
    import click

    context = click.Context(cli.main, info_name="polhode")
    lines = [
        "# Command line",
        "",
        "`polhode COMMAND`: every command and option. `polhode COMMAND --help` says the same in a terminal.",
        "",
    ]
    for name in sorted(cli.main.commands):
        command = cli.main.commands[name]
        inner = click.Context(command, info_name=f"polhode {name}", parent=None)
        usage = " ".join(command.collect_usage_pieces(inner))
        lines += [
            f"## polhode {name}",
            "",
            "```text",
            f"polhode {name} {usage}",
            "```",
            "",
            _markdown(inspect.cleandoc(command.help or "")),
            "",
        ]
        records = [param.get_help_record(inner) for param in command.params]
        rows = [(_cell(record[0]), _cell(record[1])) for record in records if record and record[1]]
        if rows:
            lines += [
                "| option | what it does |",
                "| --- | --- |",
                *(f"| `{option}` | {text} |" for option, text in rows),
                "",
            ]
        key = f"polhode.{name}"
        if key in written():
            lines += ["Example:", "", _transcript(key, said), ""]
    del context
    return "\n".join(lines)


def _transcript(key: str, said: dict[Path, dict[int, str]]) -> str:
    """The section of a command, its transcripts as they ran."""
    path, text = written()[key]
    whole = path.read_text(encoding="utf-8")
    offset = whole[: whole.index(text)].count("\n")
    lines = text.split("\n")
    for block in reversed(blocks(text)):
        if ran := said.get(path, {}).get(block.line + offset):
            lines[block.line : block.end - 1] = ran.rstrip("\n").split("\n")
    return "\n".join(lines).strip()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _markdown(text: str) -> str:
    """Help of click as Markdown: paragraphs marked `\\b` keep their lines."""
    shown = []
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("\b"):
            body = paragraph.removeprefix("\b").strip("\n")
            shown.append(f"```text\n{body}\n```")
        else:
            shown.append(paragraph.replace("*", "\\*"))
    return "\n\n".join(shown)
