"""A disk that fills up when a test says so."""

import errno
import os
from contextlib import contextmanager

import pytest

CALLS = ("write", "fsync", "open", "ftruncate", "replace", "link")


class Disk:
    def __init__(self, monkeypatch):
        self.monkeypatch = monkeypatch

    @contextmanager
    def full_from(self, k):
        """Let the k-th and all later calls that put something on the disk fail; gives the list of calls made."""
        made = []

        def failing(name, original):
            def call(*args, **options):
                made.append(name)
                if len(made) >= k:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return original(*args, **options)

            return call

        with self.monkeypatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, failing(name, getattr(os, name)))
            yield made

    def calls(self, action):
        """The number of such calls that an action makes when all goes well."""
        with self.full_from(10**9) as made:
            action()
        return len(made)


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)
