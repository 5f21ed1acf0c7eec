"""What the tests need beside Python packages, found or fetched: `python tests/support/tools.py`, a part of `make test`.

A browser draws the pages and a C compiler takes the exported C. Each is looked for on this machine first; what is
missing is fetched by means that need no password. What was found stands in the environment's folder (.venv/browser,
.venv/compiler), where the tests read it.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HOME = Path(sys.prefix)
BROWSER, COMPILER = HOME / "browser", HOME / "compiler"

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "chromium-headless-shell")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/snap/bin/chromium",
    *(f"{folder}/{name}" for folder in ("/usr/bin", "/usr/local/bin") for name in NAMES),  # where PATH has them not
)
"""Where browsers are that are not on the PATH."""
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
"""As root and in containers there is no sandbox and little shared memory."""
START = 60
"""Seconds in which a browser must start."""
DOWNLOAD, PACKAGE = 300, 600
"""Seconds for Playwright's download and for a package of the system."""
DOWNLOADS = HOME / "browsers"
"""Where Playwright downloads to: a home folder may be missing."""

PACKAGES: dict[str, list[list[str]]] = {
    "apt-get": [["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "chromium"]],
    "dnf": [["install", "-y", "-q", "chromium"]],
    "microdnf": [["install", "-y", "chromium"]],
    "yum": [["install", "-y", "-q", "chromium"]],
    "zypper": [["--non-interactive", "--quiet", "install", "chromium"]],
    "pacman": [["-Sy", "--noconfirm", "--needed", "chromium"]],
    "apk": [["add", "--quiet", "--no-cache", "chromium"]],
}
"""How each system's package manager installs Chromium."""
ZIG = "ziglang==0.17.0"
"""A C compiler (Clang) from the Python package index, for machines without gcc."""

NO_BROWSER = (
    "no browser for the tests of pages and drawings: install Chromium (Debian: apt install chromium) or set CHROMIUM to"
    " its path; BROWSER=none make test leaves those tests out and counts them"
)
NO_COMPILER = f"no C compiler for the tests of exported C: install gcc (Debian: apt install gcc) or pip install {ZIG}"


def left_out() -> bool:
    """Whether the tests that need a browser are not wanted. (Desktops set BROWSER to names of programs.)"""
    return os.environ.get("BROWSER", "").lower() == "none"


# the browser


@contextmanager
def launched(path: str) -> Iterator:
    """A browser of Playwright, run from this executable."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = os.environ.get("HOME", "")
        home = home if os.path.isabs(home) and os.access(home, os.W_OK) else folder  # a browser writes there
        environment = {**os.environ, "HOME": home}
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS, timeout=1e3 * START, env=environment)
        yield browser
        browser.close()


def works(path: str) -> bool:
    """Whether an executable is a browser that opens a page: a name on the PATH may be a note where to get one."""
    from playwright.sync_api import Error

    try:
        with launched(path) as browser:
            return browser.new_page().evaluate("6 * 7") == 42
    except (Error, OSError):
        return False


def on_this_machine() -> Iterator[str]:
    """Executables that may be a browser."""
    if given := os.environ.get("CHROMIUM"):
        yield given
        return
    yield from installed()
    yield from downloaded()


def installed() -> Iterator[str]:
    """Those on the PATH, and in the usual places beside it."""
    yield from filter(None, map(shutil.which, NAMES))
    yield from (place for place in PLACES if os.access(place, os.X_OK))


def downloaded() -> Iterator[str]:
    """What Playwright has downloaded, to its usual place or to ours."""
    code = "from playwright.sync_api import sync_playwright as p\nwith p() as q: print(q.chromium.executable_path)"
    for folder in ({}, {"PLAYWRIGHT_BROWSERS_PATH": str(DOWNLOADS)}):
        run = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **folder}, capture_output=True, text=True, check=False
        )
        if os.access(path := run.stdout.strip(), os.X_OK):
            yield path


def by_playwright() -> Iterator[str]:
    """Playwright's own download."""
    settings = {"PLAYWRIGHT_BROWSERS_PATH": str(DOWNLOADS), "PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "10000"}
    if done([sys.executable, "-m", "playwright", "install", "--no-shell", "chromium"], DOWNLOAD, settings):
        yield from downloaded()


def by_system() -> Iterator[str]:
    """The system's package, where this user may install one."""
    if (rights := as_root()) is None:
        return
    for manager, steps in PACKAGES.items():
        if shutil.which(manager):
            quiet = {"DEBIAN_FRONTEND": "noninteractive"}
            if all(done([*rights, manager, *step], PACKAGE, quiet) for step in steps):
                yield from installed()
            return


def as_root() -> list[str] | None:
    """What goes before a command of the administrator: nothing for root, sudo if it asks no password, else None."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return []
    return ["sudo", "-n"] if shutil.which("sudo") and done(["sudo", "-n", "true"], 20) else None


def done(command: Sequence[str], seconds: float, settings: dict[str, str] | None = None) -> bool:
    """Run a command silently within a time; whether it succeeded."""
    try:
        process = subprocess.Popen(
            command,
            env={**os.environ, **(settings or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with all that it started
        process.wait()
        return False


def browser() -> str | None:
    """The executable that was found before, else one on this machine."""
    if not os.environ.get("CHROMIUM") and BROWSER.is_file():
        known = BROWSER.read_text(encoding="utf-8").strip()
        if os.access(known, os.X_OK):
            return known
    return next(filter(works, on_this_machine()), None)


def provide_browser() -> bool:
    """Find a browser or fetch one, and write down where it is; nothing, where the tests that need it are left out."""
    if left_out():
        return True
    found = browser()
    for how, fetch in (("Playwright's download", by_playwright), ("the system's package", by_system)):
        if found is None and not os.environ.get("CHROMIUM"):
            print(f"no browser yet: trying {how}", flush=True)
            found = next(filter(works, fetch()), None)
    if found is not None:
        BROWSER.write_text(found + "\n", encoding="utf-8")
    return found is not None


# the compiler


def compiler() -> str | None:
    """A C compiler that understands gcc's options: gcc itself, or one in the environment."""
    if found := shutil.which("gcc"):
        return found
    return str(COMPILER / "gcc") if os.access(COMPILER / "gcc", os.X_OK) else None


def provide_compiler() -> bool:
    """Find gcc, or fetch Clang from the Python package index and let it stand for gcc."""
    if compiler() is None:
        print("no gcc: fetching a C compiler from the Python package index", flush=True)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ZIG]
        if not done(pip, PACKAGE):
            return False
        COMPILER.mkdir(exist_ok=True)
        (COMPILER / "gcc").write_text(
            f'#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR="{COMPILER}/cache" ZIG_LOCAL_CACHE_DIR="{COMPILER}/cache"\n'
            f'exec "{sys.executable}" -m ziglang cc -fno-sanitize=undefined "$@"\n',
            encoding="utf-8",
        )
        (COMPILER / "gcc").chmod(0o755)
    return True


def main() -> int:
    """Provide everything; say what is missing in one line."""
    for provide, fault in ((provide_browser, NO_BROWSER), (provide_compiler, NO_COMPILER)):
        if not provide():
            print(f"make test: {fault}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
