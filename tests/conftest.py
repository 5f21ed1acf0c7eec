"""Settings for every test: the same on every machine."""

import atexit
import gc
import os
import random
import shutil
import signal
import tempfile

import pytest
from hypothesis import HealthCheck, settings

import daily
import tools

settings.register_profile(
    "polhode",
    max_examples=int(os.environ.get("POLHODE_EXAMPLES", "30")),  # `make test-all` asks for more
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),  # there the same examples every time; elsewhere new ones
)
settings.load_profile("polhode")

gc.set_threshold(50_000, 20, 50)  # traces make millions of tuples, none in a cycle: looking for some took a tenth

signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background, which ignores it

if "PYTEST_XDIST_WORKER" not in os.environ:  # one folder a session, shared by all its processes
    session = tempfile.mkdtemp(prefix="polhode-tests-")  # of the user alone
    atexit.register(shutil.rmtree, session, ignore_errors=True)
    os.environ["POLHODE_TEST_SESSION"] = session
session = os.environ["POLHODE_TEST_SESSION"]

os.environ["POLHODE_CACHE"] = os.path.join(
    session, "kernels"
)  # compiled once; tests of the compiler and the cache have settings of their own
os.environ["POLHODE_OPTIMISE"] = (
    "never"  # kernels as they are first used; `tests/kernel` compares them with optimised ones
)
os.environ["MPLCONFIGDIR"] = str(tools.HOME / "matplotlib")  # nobody's own settings; a home may be missing
os.environ["PATH"] += os.pathsep + str(tools.COMPILER)  # what stands for a gcc that is missing

_setattr = pytest.MonkeyPatch.setattr


def _changed(self, target, *args, **options):
    """A test that changes the program neither finds kernels of the unchanged one nor leaves its own to others."""
    where = (
        target if isinstance(target, str) else getattr(target, "__module__", None) or getattr(target, "__name__", "")
    )
    if str(where).startswith("polhode") and os.environ["POLHODE_CACHE"].startswith(session):
        self.setenv("POLHODE_CACHE", tempfile.mkdtemp(prefix="changed-", dir=session))
    return _setattr(self, target, *args, **options)


pytest.MonkeyPatch.setattr = _changed


def pytest_collection_finish():
    """What is there before the first test stays: no collection looks at it again."""
    gc.collect()
    gc.freeze()


LEFT_OUT = "BROWSER=none: needs a browser"


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items):
    """Any order, where POLHODE_ORDER is a seed; without what needs a browser, where none is wanted."""
    for place in daily.campaigns([item.nodeid for item in items]):
        items[place].add_marker(pytest.mark.long)
    if seed := os.environ.get("POLHODE_ORDER"):  # files in any order, and the tests of each
        dice = random.Random(seed)
        files = {item.path: dice.random() for item in items}
        items.sort(key=lambda item: (files[item.path], dice.random()))
    if tools.left_out():
        for item in items:
            if "browser" in item.fixturenames:
                item.add_marker(pytest.mark.skip(reason=LEFT_OUT))


def pytest_terminal_summary(terminalreporter):
    """How many tests were left out for want of a browser."""
    skipped = terminalreporter.stats.get("skipped", [])
    if count := sum(LEFT_OUT in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(f"{count} tests that need a browser were left out (BROWSER=none)")


@pytest.fixture(scope="session")
def browser():
    """A real browser, in which pages and pictures are opened."""
    path = tools.browser()
    if path is None:
        pytest.fail(tools.NO_BROWSER, pytrace=False)
    with tools.launched(path) as opened:
        yield opened
