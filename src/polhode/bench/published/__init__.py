"""Published and independently computed numbers of reference problems, each file with its origin and precision."""

import csv
from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the files are."""


def published(name: str) -> list[dict[str, str]]:
    """The rows of a file, as they are printed there."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))
