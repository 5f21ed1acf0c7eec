"""Time as a quiet machine of our day would take it: processor time, against work of known size done beside it."""

import time

KNOWN = 0.06
"""Seconds that the known work takes where the bounds were set: one core of a server."""


def known_work():
    """Processor time of dictionaries, tuples and calls in Python, as algebra on symbols is."""
    begin = time.process_time()
    table, f = {}, lambda k: (k, k % 97)
    for k in range(200_000):
        key = f(k)
        table[key] = table.get(key, 0) + len(key)
    return time.process_time() - begin


class Stopwatch:
    """Measures a block; a slow machine, or one under load, is slow at the known work before and after it too."""

    def __enter__(self):
        self.before, self.begin = known_work(), time.process_time()
        return self

    def __exit__(self, *_):
        spent = time.process_time() - self.begin
        self.seconds = spent / max(1.0, self.before / KNOWN, known_work() / KNOWN)
