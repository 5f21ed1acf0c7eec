"""Types of the public surface: a user's file is clean under `mypy --strict`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import polhode

HERE = Path(__file__).parent
SOURCE = Path(polhode.__file__).parent
LARGE = (
    "PIL", "click", "cupy", "dask", "distributed", "h5py", "llvmlite", "matplotlib", "mujoco", "pandas", "pydantic",
    "rich", "ruamel", "scipy", "sympy", "trimesh", "zarr",
)  # fmt: skip
"""Packages that are not read."""
STRICT = f"""
[mypy]
strict = True
follow_imports = silent
[mypy-{",".join(f"{name}.*" for name in LARGE)}]
follow_imports = skip
ignore_missing_imports = True
"""
"""What users see of an installed package: errors of their own file alone."""


def checked(tmp_path_factory, text):
    folder = tmp_path_factory.getbasetemp() / "typing"
    folder.mkdir(exist_ok=True)
    (folder / "strict.ini").write_text(STRICT)
    (folder / "users_file.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--config-file", "strict.ini", "--cache-dir", "cache", "users_file.py"]
    done = subprocess.run(
        command, cwd=folder, env={"MYPYPATH": str(SOURCE.parent)}, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_a_users_file_is_clean_under_strict(tmp_path_factory):
    found = checked(tmp_path_factory, (HERE / "users_file.py").read_text())
    assert found.startswith("Success"), found


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ph.load('heavy-top').bodys", '"Model" has no attribute "bodys"'),
        ("system: ph.System = ph.load('heavy-top')", "Incompatible types in assignment"),
        ("ph.plot.energies()", "Missing positional argument"),
    ],
)
def test_a_wrong_use_is_found(tmp_path_factory, line, told):
    assert told in checked(tmp_path_factory, f"import polhode as ph\n\n{line}\n")


def test_the_file_uses_most_public_names():
    used = set(re.findall(r"\bph\.(\w+)", (HERE / "users_file.py").read_text()))
    public = set(polhode.__all__)
    assert len(public & used) > 0.8 * len(public), sorted(public - used)


def test_types_are_shipped():
    assert (SOURCE / "py.typed").exists()
    settings = (SOURCE.parents[1] / "pyproject.toml").read_text()
    assert 'polhode = ["py.typed", "__init__.pyi"]' in settings
