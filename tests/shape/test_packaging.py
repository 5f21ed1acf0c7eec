"""What is shipped: the version, the extras and what is said without them, the licences, the recipe."""

import gc
import re
import subprocess
import sys
import tomllib
from contextlib import nullcontext
from pathlib import Path

import pytest

import polhode as ph
from polhode.show.animation import animate

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")


def test_the_version_is_one_that_installers_take():
    pattern = r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9]+(\.[a-z0-9]+)*)?"
    assert re.fullmatch(pattern, ph.__version__), ph.__version__


def test_sources_without_a_build_have_a_version(tmp_path):
    """As in a tree that git does not know and nothing was built in: the version that the build would fall back on."""
    package = tmp_path / "polhode"
    package.mkdir()
    for name in ("__init__.py", "loading.py", "moved.py"):
        (package / name).write_bytes((ROOT / "src" / "polhode" / name).read_bytes())
    code = "import polhode; print(polhode.__version__)"
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert found.stdout.strip() == PROJECT["tool"]["setuptools_scm"]["fallback_version"]


@pytest.mark.parametrize("collects", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_the_garbage_collector_is_after_a_first_import_what_it_was_before(collects, fails, tmp_path, monkeypatch):
    text = "import gc\nwas_enabled = gc.isenabled()\n" + "1 / 0\n" * fails
    (tmp_path / "first_imported.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    was = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        with pytest.raises(ZeroDivisionError) if fails else nullcontext():
            assert not ph._imported("first_imported").was_enabled
        assert gc.isenabled() == collects
    finally:
        (gc.enable if was else gc.disable)()
        sys.modules.pop("first_imported", None)


def test_every_notice_of_others_is_among_the_licences():
    listed = {path for pattern in PROJECT["project"]["license-files"] for path in ROOT.glob(pattern)}
    assert listed == {ROOT / "LICENSE", *(ROOT / "src").rglob("*.LICENSE")}
    assert len(listed) == 3


def test_a_page_holds_the_notice_of_the_script_in_it():
    from polhode.show.page.document import document

    text = document("t", [], (), ("uplot.min.js",))
    assert "Permission is hereby granted, free of charge" in " ".join(text.split())
    assert "Permission" not in document("t", [], (), ("page.js",))


def requirements(lines):
    """Names and least versions, one spelling for each package."""
    found = (re.match(r"([\w.-]+?)(?:-base)?\s*>=\s*([\d.]+)", line.split(";")[0].strip()) for line in lines)
    return {match[1].lower(): match[2] for match in found if match}


def test_the_recipe_asks_for_what_the_package_does():
    blocks = dict(re.findall(r"^  (run|run_constrained|host):\n((?:    .*\n)+)", RECIPE, re.M))
    lines = {name: [line.strip("- ") for line in text.splitlines()] for name, text in blocks.items()}
    needed = {"python": PROJECT["project"]["requires-python"].removeprefix(">=")}
    assert requirements(lines["run"]) == needed | requirements(PROJECT["project"]["dependencies"])
    assert requirements(PROJECT["build-system"]["requires"]).items() <= requirements(lines["host"]).items()
    extras = PROJECT["project"]["optional-dependencies"]
    names = ("plot", "meshes", "film", "equations", "ensemble", "robots")
    optional = requirements(line for name in names for line in extras[name])
    assert requirements(lines["run_constrained"]) == optional


def swept(**options):
    drawn = {"start.q.hinge": ph.Uniform(0.1, 0.2)}
    return ph.sweep(ph.load("pendulum"), drawn, runs=2, duration=0.1, step=0.01, **options)


MESH = """<robot name="m"><link name="handle">
<visual><geometry><mesh filename="a.stl"/></geometry></visual></link></robot>"""
MJCF = """<mujoco><worldbody><body name="b">
<joint type="hinge" axis="0 1 0"/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>"""


def film(path):
    return animate(ph.simulate(ph.load("t-handle"), duration=0.1), path)


def meshed(tmp_path):
    (tmp_path / "m.urdf").write_text(MESH, encoding="utf-8")
    (tmp_path / "a.stl").write_text("solid a\nendsolid a\n", encoding="utf-8")
    return animate(ph.simulate(ph.load("t-handle"), duration=0.1), tmp_path / "a.html", meshes=tmp_path / "m.urdf")


def mjcf(tmp_path):
    (tmp_path / "m.xml").write_text(MJCF, encoding="utf-8")
    return ph.load(tmp_path / "m.xml")


WITHOUT = {
    "matplotlib": ("plot", lambda _: ph.plot.energies(ph.simulate(ph.load("pendulum"), duration=0.1))),
    "PIL": ("plot", lambda tmp: film(tmp / "a.gif")),
    "trimesh": ("meshes", meshed),
    "sympy": ("equations", lambda _: ph.equations(ph.load("pendulum"))),
    "zarr": ("ensemble", lambda tmp: swept(out=tmp / "study")),
    "distributed": ("ensemble", lambda tmp: swept(out=tmp / "study", scheduler="tcp://127.0.0.1:1")),
    "mujoco": ("robots", mjcf),
    "cupy": ("cuda", lambda _: ph.compile(ph.load("pendulum"), target="cuda").mass_matrix([0.1])),
    "imageio_ffmpeg": ("film", lambda tmp: film(tmp / "a.mp4")),
}
"""Of each optional package: its extra, and a call that needs it."""


@pytest.mark.parametrize("package", WITHOUT)
def test_without_an_optional_package_one_line_says_what_to_install(package, monkeypatch, tmp_path):
    import matplotlib.figure  # noqa: F401  whole, before a part of it is taken away

    extra, call = WITHOUT[package]
    for name in [*sys.modules]:
        if name.split(".")[0] == package:
            monkeypatch.setitem(sys.modules, name, None)
        if name.startswith("polhode.equations_of_motion"):  # which looks for SymPy when it is imported
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    if package == "imageio_ffmpeg":
        monkeypatch.setenv("PATH", "")
    with pytest.raises(ph.PolhodeError) as error:
        call(tmp_path)
    told = [line for line in str(error.value).splitlines() if f"pip install 'polhode[{extra}]'" in line]
    assert len(told) == 1, error.value
    assert len(str(error.value).splitlines()) <= 4
