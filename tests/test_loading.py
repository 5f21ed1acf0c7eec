"""Modules loaded at their first use; garbage collection, paused while modules are loaded and kernels are made."""

import ast
import gc
import importlib
import pickle
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from types import ModuleType

import pytest

import polhode as ph
from polhode import loading
from polhode.loading import DEFERRED, DeferredModule, NamedClasses, collection_paused

SOURCE = Path(loading.__file__).parent


@pytest.fixture(autouse=True)
def _as_before():
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
def test_afterwards_all_is_as_before(enabled):
    (gc.enable if enabled else gc.disable)()
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() == enabled
    with pytest.raises(ZeroDivisionError), collection_paused():
        1 / 0  # noqa: B018
    assert gc.isenabled() == enabled


def run(code):
    """Run a script as a program of its own; these tests are frozen, and collect seldom."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_what_was_made_in_the_block_is_not_looked_through_at_its_end():
    run("""
import gc
from polhode.loading import collection_paused
found = []
gc.callbacks.append(lambda phase, info: found.append(len(gc.get_objects(0))) if phase == "start" else None)
with collection_paused():
    kept = [[k] for k in range(20_000)]
more = [[k] for k in range(5_000)]
assert found and max(found) < 5_000, found
""")


def test_a_program_that_makes_kernels_for_long_is_looked_at_as_ever():
    run("""
import gc
from polhode import loading
found = []
gc.callbacks.append(lambda phase, info: found.append(len(gc.get_objects(0))) if phase == "start" else None)
loading.SPARED = loading.collection_paused.spared + 50_000
kept = []
for _ in range(4):
    with loading.collection_paused():
        kept += [[k] for k in range(20_000)]
    more = [[k] for k in range(2_000)]
    examined, found[:] = max(found), ()
assert examined > 20_000, examined
""")


def test_what_a_program_froze_stays_frozen():
    run("""
import gc
from polhode.loading import collection_paused
gc.freeze()
before = gc.get_freeze_count()
with collection_paused():
    pass
assert gc.get_freeze_count() == before > 0
""")


def test_what_is_frozen_is_counted_once():
    """To count it takes as long as to walk through all of it."""
    run("""
import gc
from polhode.loading import collection_paused
gc.freeze()
count, asked = gc.get_freeze_count, []
gc.get_freeze_count = lambda: asked.append(1) or count()
for _ in range(3):
    with collection_paused():
        pass
assert len(asked) == 1
""")


def test_cycles_of_a_block_are_found_later():
    class Knot:
        pass

    gc.enable()
    with collection_paused():
        knot = Knot()
        knot.self = knot
        seen = weakref.ref(knot)
        del knot
    gc.collect()
    assert seen() is None


def test_of_several_threads_the_last_ends_it():
    """The first that began ends before the second."""
    gc.enable()
    begun, ended = threading.Event(), threading.Event()

    def second():
        with collection_paused():
            begun.set()
            ended.wait()
            seen.append(gc.isenabled())

    seen, thread = [], threading.Thread(target=second)
    with collection_paused():
        thread.start()
        begun.wait()
    ended.set()
    thread.join()
    assert seen == [False]
    assert gc.isenabled()


def tops(tree):
    """What of a module runs when it is loaded: its statements, without bodies of functions and quoted annotations."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parts = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults, node.returns]
            parts += [each.annotation for each in ast.walk(node.args) if isinstance(each, ast.arg)]
            for part in filter(None, parts):
                yield part
                yield from tops(part)
        elif not isinstance(node, ast.Lambda):
            yield node
            yield from tops(node)


def test_deferred_modules_are_used_within_functions():
    """A use while another module is loaded would load them then, and could wait for a thread that waits for it."""
    early = {}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        whole = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        bound = {x.asname or x.name for node in whole for x in node.names if f"{node.module}.{x.name}" in DEFERRED}
        used = {x.value.id for x in tops(tree) if isinstance(x, ast.Attribute) and isinstance(x.value, ast.Name)}
        if used & bound and "from __future__ import annotations" not in text:
            early[path.name] = used & bound
    assert not early


@pytest.mark.parametrize("name", sorted(DEFERRED))
def test_a_deferred_module_is_a_module_and_no_package(name):
    assert (SOURCE.parent / f"{name.replace('.', '/')}.py").is_file()


def test_plain_runs_load_no_deferred_module():
    run("""
import sys, types, warnings
import polhode as ph
from polhode.loading import DEFERRED
warnings.simplefilter("ignore")
for name in ("pendulum", "four-bar"):
    ph.simulate(ph.load(name), duration=0.01)
assert {*DEFERRED} & {*sys.modules}
loaded = [name for name in DEFERRED if type(sys.modules.get(name)) is types.ModuleType]
assert not loaded, loaded
others = [name for name in sys.modules if name.startswith("polhode.model.forces.") and "spring" in name]
assert not others, others
""")


def test_runs_of_models_that_are_no_files_of_ours_load_no_reader_of_them():
    run("""
import sys, warnings
import polhode as ph
warnings.simplefilter("ignore")
body, joint = ph.Body("rod", 1.0, (0.1, 0.1, 0.01)), ph.Joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
run = ph.simulate(ph.Model("pendulum", bodies=[body], joints=[joint]), duration=0.01)
assert "rod: {mass: 1.0" in run.attrs["model_yaml"], run.attrs["model_yaml"]
assert not {"pydantic", "polhode.formats.yaml"} & {*sys.modules}
""")


@pytest.fixture
def deferred(tmp_path, monkeypatch):
    """A deferred module that counts how often it is loaded, and an import of it."""
    (tmp_path / "put_off.py").write_text(
        "import builtins, time\nbuiltins.put_off_loads.append(1)\nfirst = 1\ntime.sleep(0.05)\n"
        "class Kept:\n    pass\n\ndef both():\n    return first + second\n\nsecond = 2\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(loading, "DEFERRED", {"put_off"})
    monkeypatch.setattr("builtins.put_off_loads", [], raising=False)
    monkeypatch.delitem(sys.modules, "put_off", raising=False)
    yield importlib.import_module("put_off")
    sys.modules.pop("put_off", None)


def loads():
    return len(__builtins__["put_off_loads"])


def test_a_module_is_loaded_when_something_of_it_is_first_used(deferred):
    assert importlib.import_module("put_off") is deferred
    assert deferred.__name__ == deferred.__spec__.name == "put_off"
    assert deferred.__file__.endswith("put_off.py")
    assert type(deferred) is DeferredModule
    assert not loads()
    assert deferred.both() == 3
    assert type(deferred) is ModuleType
    assert type(deferred.__loader__).__name__ == "SourceFileLoader"
    assert deferred.both() == 3
    assert loads() == 1
    with pytest.raises(AttributeError, match="third"):
        deferred.third  # noqa: B018


def test_what_is_set_in_a_deferred_module_stays(deferred):
    deferred.second = 5
    assert deferred.both() == 6
    assert loads() == 1


def test_names_of_a_deferred_module_are_listed(deferred):
    assert {"both", "first", "second"} <= {*dir(deferred)}


def test_a_class_of_a_deferred_module_is_pickled_and_found_again(deferred):
    text = pickle.dumps(deferred.Kept())
    assert type(pickle.loads(text)) is deferred.Kept


def test_threads_that_ask_at_once_find_a_whole_module(deferred):
    found, threads = [], [threading.Thread(target=lambda: found.append(deferred.both())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [3] * 8
    assert loads() == 1


def test_a_child_loads_what_a_thread_of_its_parent_was_loading():
    run("""
import os, sys, threading, time
from polhode import loading
held, done = threading.Event(), threading.Event()
if not hasattr(os, "fork"):
    raise SystemExit

def hold():
    with loading.DeferredModules.lock, loading.collection_paused._lock:
        loading._loading.add("polhode.model.differences")
        held.set()
        done.wait()

thread = threading.Thread(target=hold, daemon=True)
thread.start()
held.wait()
if child := os.fork():
    for _ in range(200):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            break
        time.sleep(0.05)
    else:
        os.kill(child, 9)
    done.set()
    assert found and status == 0, status
else:
    from polhode.model import differences
    os._exit(0 if callable(differences.differences) else 1)
""")


def test_a_module_that_cannot_be_loaded_says_so_where_it_is_used(tmp_path, monkeypatch):
    (tmp_path / "put_off_fault.py").write_text("1 / 0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(loading, "DEFERRED", {"put_off_fault"})
    module = importlib.import_module("put_off_fault")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            module.anything  # noqa: B018
    sys.modules.pop("put_off_fault")


def test_named_classes_are_imported_when_they_are_asked_for():
    table = NamedClasses({"fraction": "fractions:Fraction", "int": int})
    assert list(table) == ["fraction", "int"]
    assert len(table) == 2
    assert "fraction" in table
    assert "float" not in table
    assert table["fraction"](1, 2) == 0.5
    table["float"] = float
    del table["int"]
    assert dict(table) == {"fraction": table["fraction"], "float": float}


def test_kinds_of_forces_are_known_without_being_loaded():
    assert ph.Spring is ph.model.forces.registry.FORCES["spring"]
    with pytest.raises(AttributeError, match="no attribute 'Sprang'"):
        ph.model.Sprang  # noqa: B018
    assert "Spring" in dir(ph.model)
