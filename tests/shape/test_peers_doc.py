"""docs/peers.md: every name on our side exists."""

import re
from pathlib import Path

import polhode as ph
from polhode.system.system import System

PAGE = Path(__file__).parents[2] / "docs" / "peers.md"
HOLDERS = {"system": System, "model": ph.Model, "ph": ph}


def test_every_name_of_ours_exists():
    rows = [line.split("|")[2] for line in PAGE.read_text().splitlines() if line.startswith("| ")][2:]
    names = [name for row in rows for name in re.findall(r"`((?:system|model|ph)\.[\w.]+)", row)]
    assert len(names) > 60
    for name in names:
        first, *rest = name.split(".")
        found = HOLDERS[first]
        for part in rest:
            known = hasattr(found, part) or part in getattr(found, "__dataclass_fields__", {})
            assert known, f"docs/peers.md names {name}, which is not there"
            found = getattr(found, part, None)
