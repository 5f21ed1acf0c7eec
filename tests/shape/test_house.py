"""The house is in order: rooms of a size, no cycles, one name for one idea, tests beside what they test."""

import ast
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.forces.registry import FORCES
from polhode.model.joints.registry import JOINTS

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "polhode"
TESTS = ROOT / "tests"

ROOM = 26
"""Modules side by side in one folder."""

OWN = {"campaigns", "data", "hostile", "laws", "peers", "reference", "shape", "support"}
"""Folders of tests that are not about one package."""


@cache
def modules():
    """The syntax tree of every module, by its dotted name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("polhode", *path.relative_to(SOURCE).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported(tree, nodes=None):
    """The modules of ours that a tree imports."""
    for node in ast.walk(tree) if nodes is None else nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "polhode")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "polhode":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules() else node.module


def test_no_module_leads_back_to_itself():
    edges = {name: {x for x in imported(tree) if x in modules() and x != name} for name, tree in modules().items()}
    while edges:
        leaves = {name for name, others in edges.items() if not others & edges.keys()}
        assert leaves, f"cycles among {sorted(edges)}"
        edges = {name: others for name, others in edges.items() if name not in leaves}


def test_a_room_is_not_crowded():
    count = Counter(path.parent for path in SOURCE.rglob("*.py") if path.name != "__init__.py")
    crowded = {str(folder.relative_to(ROOT)): n for folder, n in count.items() if n > ROOM}
    assert not crowded


def test_a_class_name_occurs_once():
    found = defaultdict(list)
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(name)
    assert not {name: places for name, places in found.items() if len(places) > 1}


def test_own_modules_are_imported_at_the_top():
    late = {}
    for name, tree in modules().items():
        functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        late[name] = list(imported(None, [node for function in functions for node in ast.walk(function)]))
    assert not {name: found for name, found in late.items() if found and not name.startswith("polhode.cli")}


def test_tests_stand_under_the_name_of_what_they_test():
    strangers = []
    for path in TESTS.glob("*/**/test_*.py"):
        folder = path.relative_to(TESTS).parts[0]
        if folder in OWN:
            continue
        room = SOURCE / folder
        known = [folder, *(path.stem for path in room.rglob("*"))]
        topic = path.stem.removeprefix("test_")
        if not any(topic == name or topic.startswith(f"{name}_") for name in known):
            strangers.append(str(path.relative_to(TESTS)))
    assert not strangers


def asked_by_name(tree):
    """Comparisons of `x.type` or `x.kind.name` with the name of a kind; questions for the class of a force element."""
    names, classes = {*JOINTS, *CONSTRAINTS, *FORCES}, {kind.__name__ for kind in FORCES.values()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            asks = any(isinstance(x, ast.Attribute) and ast.unparse(x).endswith((".type", "kind.name")) for x in sides)
            words = {x.value for side in sides for x in ast.walk(side) if isinstance(x, ast.Constant)}
            if asks and words & names:
                yield ast.unparse(node)
        is_asked = isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"
        if is_asked and {x.id for x in ast.walk(node.args[1]) if isinstance(x, ast.Name)} & classes:
            yield ast.unparse(node)


def test_nobody_asks_for_a_kind_by_its_name():
    own = ("polhode.model.joints.", "polhode.model.forces.", "polhode.model.constraints.")
    own += ("polhode.bench.peers.",)  # say our kinds in the words of other programs
    found = {name: list(asked_by_name(tree)) for name, tree in modules().items() if not name.startswith(own)}
    assert not {name: places for name, places in found.items() if places}
