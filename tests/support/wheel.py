"""A wheel as a user gets it: `python tests/support/wheel.py FILE.whl` installs it alone, measures it and runs it."""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

MOST_BYTES = 60e6
"""What the package itself may take beside its dependencies, byte code included."""

NEEDED = (
    "polhode/py.typed",
    "polhode/__init__.pyi",
    "polhode/_version.py",
    "polhode/formats/models/t-handle.yaml",
    "polhode/show/page/assets/uplot.min.js",
    "polhode/show/page/assets/uplot.LICENSE",
    "polhode/show/vector/assets/typeface.txt",
    "polhode/show/vector/assets/typeface.LICENSE",
)
"""Files that are not Python and that a user would miss, and the notices of what others wrote."""


def missing(wheel: Path) -> list[str]:
    """What a wheel lacks: files of NEEDED, and the licences in its dist-info."""
    names = zipfile.ZipFile(wheel).namelist()
    lacking = [name for name in NEEDED if name not in names]
    licences = [name for name in names if ".dist-info/licenses/" in name]
    for notice in ("LICENSE", "uplot.LICENSE", "typeface.LICENSE"):
        lacking += [] if any(name.endswith(f"/{notice}") for name in licences) else [f"dist-info/licenses/…/{notice}"]
    return lacking


def size(folder: Path) -> int:
    """Bytes of the package as it is installed, its byte code and metadata included."""
    return sum(path.stat().st_size for part in folder.glob("polhode*") for path in part.rglob("*") if path.is_file())


def main(wheel: str) -> None:
    """Check a wheel, or end with what is wrong."""
    if lacking := missing(Path(wheel)):
        sys.exit(f"{wheel} lacks {', '.join(lacking)}")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "venv", with_pip=True)
        bin_ = home / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        subprocess.run([bin_ / "python", "-m", "pip", "install", "--quiet", str(Path(wheel).resolve())], check=True)
        where = "import pathlib, polhode; print(pathlib.Path(polhode.__file__).parent.parent)"
        place = subprocess.run([bin_ / "python", "-c", where], check=True, capture_output=True, text=True, cwd=home)
        taken = size(Path(place.stdout.strip()))
        print(f"{Path(wheel).name}: {taken / 1e6:.1f} MB installed")
        if taken > MOST_BYTES:
            sys.exit(f"more than {MOST_BYTES / 1e6:g} MB")
        subprocess.run([bin_ / "polhode", "--version"], check=True, cwd=home)
        subprocess.run([bin_ / "polhode", "run", "--check"], check=True, cwd=home)


if __name__ == "__main__":
    main(sys.argv[1])
