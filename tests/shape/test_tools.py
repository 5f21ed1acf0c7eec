"""What `make test` finds or fetches, a browser and a compiler, or the line that says what is missing."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tools

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without a browser: no name on the PATH, nothing downloaded, a download and a package that fail."""
    for name in ("CHROMIUM", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(tools, "BROWSER", tmp_path / "browser")
    monkeypatch.setattr(tools, "PLACES", ())
    monkeypatch.setattr(tools, "works", lambda path: "works" in Path(path).read_text(encoding="utf-8"))
    monkeypatch.setattr(tools, "downloaded", lambda: iter(()))
    monkeypatch.setattr(tools, "by_playwright", lambda: iter(()))
    monkeypatch.setattr(tools, "by_system", lambda: iter(()))
    return tmp_path


def program(folder, name, text="works"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome", "chrome"])
def test_a_browser_on_the_path_is_taken_and_written_down(machine, name, capsys):
    path = program(machine / "bin", name)
    assert tools.provide_browser()
    assert (machine / "browser").read_text(encoding="utf-8").strip() == path == tools.browser()
    assert capsys.readouterr().out == ""


def test_a_name_on_the_path_that_is_no_browser_is_passed_over(machine):
    program(machine / "bin", "chromium", "#!/bin/sh\necho install the snap\n")
    path = program(machine / "bin", "google-chrome")
    assert tools.browser() == path


def test_a_download_comes_before_a_package_and_each_only_where_the_one_before_failed(machine, monkeypatch):
    tried = []
    first, second = program(machine, "broken", "lacks libraries"), program(machine, "packaged")
    monkeypatch.setattr(tools, "by_playwright", lambda: tried.append("download") or iter([first]))
    monkeypatch.setattr(tools, "by_system", lambda: tried.append("package") or iter([second]))
    assert tools.provide_browser()
    assert tried == ["download", "package"]
    assert tools.browser() == second
    assert tools.provide_browser()  # known by now
    assert tried == ["download", "package"]


def test_a_browser_that_went_away_is_looked_for_again(machine):
    (machine / "browser").write_text(str(machine / "gone"), encoding="utf-8")
    assert tools.browser() is None
    path = program(machine / "bin", "chromium")
    assert tools.browser() == path


def test_where_none_is_to_be_had_one_line_says_what_to_install(machine, capsys):
    assert tools.main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert all(words in line for words in ("apt install chromium", "CHROMIUM", "BROWSER=none make test"))


def test_none_is_looked_for_where_none_is_wanted(machine, monkeypatch):
    monkeypatch.setenv("BROWSER", "none")
    assert tools.provide_browser()
    assert not (machine / "browser").exists()
    monkeypatch.setenv("BROWSER", "firefox")  # desktops set it
    assert not tools.left_out()


@pytest.mark.parametrize(
    ("user", "sudo", "rights"), [(0, False, []), (1000, True, ["sudo", "-n"]), (1000, False, None)]
)
def test_packages_are_installed_by_root_or_without_a_password(machine, monkeypatch, user, sudo, rights):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    program(machine / "bin", "sudo", f"#!/bin/sh\nexit {0 if sudo else 1}\n")
    assert tools.as_root() == rights


def test_a_package_manager_updates_first_and_stops_at_a_step_that_fails(machine, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("PATH", f"{machine}/bin{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(tools, "as_root", list)
    monkeypatch.setattr(tools, "NAMES", ("a-browser",))
    monkeypatch.setattr(tools, "PLACES", ())
    monkeypatch.setattr(tools, "PACKAGES", {"a-manager": [["update"], ["install", "it"]]})
    told = machine / "told"
    program(machine / "bin", "a-manager", f'#!/bin/sh\necho "$@" >> {told}\n[ "$1" != "$FAILS" ]\n')
    browser = program(machine / "bin", "a-browser")
    assert list(tools.by_system()) == [browser]
    assert told.read_text(encoding="utf-8").split("\n") == ["update", "install it", ""]
    elsewhere = program(machine, "beside-the-path")
    monkeypatch.setattr(tools, "PLACES", (elsewhere, f"{machine}/none"))
    assert list(tools.by_system()) == [browser, elsewhere]
    monkeypatch.setenv("FAILS", "update")
    assert list(tools.by_system()) == []
    assert told.read_text(encoding="utf-8").count("install") == 2


def test_a_command_that_hangs_is_ended_with_all_it_started(tmp_path):
    begin = time.monotonic()
    held = tmp_path / "child"
    assert not tools.done(["sh", "-c", f"sleep 600 & echo $! > {held}; wait"], 0.5)
    assert time.monotonic() - begin < 300
    child = int(held.read_text(encoding="utf-8"))
    for _ in range(1000):
        state = Path(f"/proc/{child}/stat")
        if not state.exists() or state.read_text(encoding="utf-8").split()[2] in "ZX":
            return
        time.sleep(0.01)
    pytest.fail("the child lives")


def test_tests_that_need_a_browser_are_left_out_and_counted(tmp_path):
    """`BROWSER=none` on a test that needs one and on one that does not."""
    environment = {**os.environ, "BROWSER": "none"}
    chosen = ["tests/show/test_cans.py", "-k", "test_a_browser_opens_it or test_the_marks_on_the_cans"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "2 tests that need a browser were left out (BROWSER=none)" in run.stdout
    assert "4 passed, 2 skipped" in run.stdout
