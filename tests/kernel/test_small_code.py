"""Small functions of LLVM's text: compiled once, then from the disk, never from a file that is not whole."""

import pytest

from polhode.kernel.backends.llvm import small_code as module
from polhode.kernel.backends.llvm.small_code import small_code

TEXT = "define i64 @seven() {\n  ret i64 7\n}\n"


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """How often LLVM compiled something, with a cache of its own."""
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path / "kernels"))
    machine, times = module.machine, []
    monkeypatch.setattr(module, "machine", lambda: times.append(1) or machine())
    return times


def test_small_code_is_compiled_once(compiled):
    assert small_code("seven", TEXT) == small_code("seven", TEXT)
    assert len(compiled) == 1


def test_another_text_is_other_code(compiled):
    assert small_code("seven", TEXT) != small_code("seven", TEXT.replace("7", "8"))
    assert len(compiled) == 2


@pytest.mark.parametrize("damage", ["flip", "cut", "open"])
def test_a_file_that_is_damaged_or_open_to_others_is_not_used(compiled, tmp_path, damage):
    first = small_code("seven", TEXT)
    (file,) = [each for each in (tmp_path / "kernels").iterdir() if b"seven" in each.read_bytes()]
    data = bytearray(file.read_bytes())
    if damage == "open":
        file.chmod(0o644)
    elif damage == "cut":
        file.write_bytes(data[:-7])
    else:
        data[-7] ^= 1
        file.write_bytes(data)
    assert small_code("seven", TEXT) == first
    assert len(compiled) == 2
