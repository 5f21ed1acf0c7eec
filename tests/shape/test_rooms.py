"""What the listing of a room says is there."""

import re
from pathlib import Path

import pytest

import polhode

ROOMS = ("ensemble", "formats", "integrate", "result")


@pytest.mark.parametrize("room", ROOMS)
def test_the_docstring_of_a_room_names_each_of_its_modules(room):
    folder = Path(polhode.__file__).parent / room
    named = set(re.findall(r"\w+", (folder / "__init__.py").read_text(encoding="utf-8").split('"""')[1]))
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} <= named
