"""Inventories of other sites: where their names are explained. Kept in docs/inventories, so that the site is built without a network.

    python docs/_tools/inventories.py         # `make inventories`: fetches those that their sites publish

`NAME.inv` is as published; `NAME.txt` was written here for sites that publish none, or whose inventory could not be had: a line is a name
of Python and the page it is explained on, below the address of the first line. Once `NAME.inv` is there, it is taken.
"""

import io
import sys
import urllib.request
import zlib
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
KEPT = DOCS / "inventories"
MADE = DOCS.parent / "build" / "inventories"
SITES = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "xarray": "https://docs.xarray.dev/en/stable/",
    "matplotlib": "https://matplotlib.org/stable/",
    "mujoco": "https://mujoco.readthedocs.io/en/stable/",
    "pinocchio": "https://stack-of-tasks.github.io/pinocchio/",
}
"""Addresses by name."""


def mapping() -> dict[str, tuple[str, str]]:
    """The inventories that are kept: name → (address, file)."""
    found = {}
    for name, address in SITES.items():
        published, written = KEPT / f"{name}.inv", KEPT / f"{name}.txt"
        if published.exists():
            found[name] = (address, str(published))
        elif written.exists():
            lines = written.read_text(encoding="utf-8").splitlines()
            found[name] = (lines[0], str(_compiled(name, lines[1:])))
    return found


def _compiled(name: str, lines: list[str]) -> Path:
    """The inventory of written lines, `NAME ROLE PAGE`, in Sphinx's format."""
    MADE.mkdir(parents=True, exist_ok=True)
    path = MADE / f"{name}.inv"
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    body = "".join(f"{entry} py:{role} 1 {page} -\n" for entry, role, page in rows)
    head = f"# Sphinx inventory version 2\n# Project: {name}\n# Version: \n# The remainder of this file is compressed using zlib.\n"
    path.write_bytes(head.encode() + zlib.compress(body.encode()))
    return path


def fetch() -> int:
    """Fetches every inventory that is published; says which could not be had, and leaves what is kept."""
    failed = 0
    for name, address in SITES.items():
        try:
            with urllib.request.urlopen(f"{address}objects.inv", timeout=30) as answer:
                data = answer.read()
        except OSError as error:
            failed += 1
            print(f"{name}: {address}objects.inv: {error}; what is kept stays", file=sys.stderr)
            continue
        if not io.BytesIO(data).readline().startswith(b"# Sphinx inventory version"):
            failed += 1
            print(f"{name}: {address}objects.inv is no inventory; what is kept stays", file=sys.stderr)
            continue
        (KEPT / f"{name}.inv").write_bytes(data)
        print(f"{name}: {len(data)} bytes")
    return 1 if failed == len(SITES) else 0


if __name__ == "__main__":
    sys.exit(fetch())
