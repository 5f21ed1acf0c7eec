"""What the folder of a study says of its runs."""

import json

import polhode as ph
from polhode.ensemble.on_disk.store import RECEIPTS
from polhode.ensemble.study_runner import STATUS
from study_cases import RUNS


def everyone_once(folder, runs=RUNS):
    """Every run is in exactly one receipt, and none is pending."""
    receipts = [json.loads(path.read_text()) for path in sorted((folder / RECEIPTS).glob("*.json"))]
    there = [k for receipt in receipts for k in range(receipt["first"], receipt["last"])]
    assert sorted(there) == list(range(runs))
    return not (ph.open_study(folder)["status"] == STATUS["pending"]).any()
