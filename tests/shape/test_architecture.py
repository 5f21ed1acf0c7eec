"""docs/architecture.md and CONTRIBUTING.md tell of the house as it is."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("docs/architecture.md", "CONTRIBUTING.md")
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:[\w.]+/)*[\w.]+\.(?:py|pyi|toml)|(?:[\w.]+/)+)(?:`|\s)", text)
    assert named
    missing = [path for path in named if not ((ROOT / "src/polhode" / path).exists() or (ROOT / path).exists())]
    assert not missing


def test_the_table_of_rooms_is_the_contract():
    """Every room once, from the top layer to the lowest."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(c for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    layers = [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]
    table = ARCHITECTURE.partition("## Rooms and layers")[2].partition("\nThree rooms")[0]
    rooms = re.findall(r"^\| [^|]*\| `(\w+)` \|", table, flags=re.MULTILINE)
    built = {path.parent.name for path in (ROOT / "src/polhode").glob("*/__init__.py")}
    built |= {path.stem for path in (ROOT / "src/polhode").glob("*.py")} - {"__init__", "_version", "moved"}
    assert sorted(rooms) == sorted(built)
    depth = {room: k for k, layer in enumerate(layers) for room in layer}
    assert [depth[room] for room in rooms] == sorted(depth[room] for room in rooms)


def test_each_kind_of_change_names_its_file_and_its_registry():
    rows = ARCHITECTURE.partition("## Where a change goes")[2].strip().splitlines()[2:]
    assert len(rows) >= 15
    assert all(row.count("|") == 6 for row in rows)
    folders = {folder for row in rows for folder in re.findall(r"`(tests/\w+)`", row)}
    assert all((ROOT / folder).is_dir() for folder in folders)
