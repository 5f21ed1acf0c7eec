"""Modules at their old addresses: the same objects, with a warning that names the new address."""

import subprocess
import sys
from importlib import import_module

import pytest

from polhode.moved import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_address_gives_the_module_that_moved(old):
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {MOVED[old]}"):
        found = import_module(old)
    assert found is import_module(MOVED[old])
    assert found.__spec__.name == MOVED[old]


def test_names_come_from_old_addresses():
    code = (
        "from polhode.assemble.single import SingleBody; import polhode as ph; assert SingleBody is ph.SingleBody\n"
        "from polhode.dynamics import chain; from polhode.papers import chain as there; assert chain is there"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_an_address_that_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        import_module("polhode.assemble.nothing")
