"""Files that are made from the program are up to date."""

import pytest

from generated import FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_generated_file_is_as_it_would_be_made_now(path):
    assert path.read_text(encoding="utf-8") == FILES[path](), "run: make generated"
