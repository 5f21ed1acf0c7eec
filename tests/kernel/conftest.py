"""Tests of the compiler compile what they test; those of the cache have one of their own."""

import pytest


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE", "")
