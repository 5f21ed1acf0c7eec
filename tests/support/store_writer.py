"""A run that is made to be killed: `python store_writer.py DIRECTORY CHUNKS`. Says each chunk it has written."""

import sys

import numpy as np

from polhode.errors import InputError
from polhode.result.store import RunStore

IDENTITY = {"model": "logistic map", "method": "iteration", "step": 1.0}
ROWS, BETWEEN = 40, 3


def advance(x, k):
    """Samples of a chaotic map: any bit that is not restored shows at once."""
    rows = np.empty((ROWS, 2))
    for row in rows:
        x, k = 3.99 * x * (1 - x), k + 1
        row[:] = x
        row[1] *= 1 - x.mean()
    return rows, x, k


def main(directory, chunks):
    try:
        store, state = RunStore.resume(directory, IDENTITY)
        x, k, done = state["x"], state["k"], state["done"]
    except InputError:  # killed before its first checkpoint
        store, x, k, done = RunStore.create(directory, IDENTITY, force=True), np.array([0.1, 0.7]), 0, 0
    while done < chunks:
        start = k
        rows, x, k = advance(x, k)
        store.append({"time": np.arange(start, k, dtype=float), "x": rows})
        done += 1
        if done % BETWEEN == 0:
            store.checkpoint({"x": x, "k": k, "done": done})
        print(done, flush=True)
    store.checkpoint({"x": x, "k": k, "done": done})
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
