"""Kernels that several tests share are compiled once in a session."""

import pytest


@pytest.fixture(scope="session")
def kernels(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(autouse=True)
def _kept(kernels, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE", str(kernels))
