"""Text from outside enters no generated source: hostile names through every emitter and every command.

A page or a drawing of a machine with hostile names has the very elements that one with harmless names has.
"""

import json
import re
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import fake_cupy
import polhode as ph
from hostile_names import HARMLESS, MARK, PRINTABLE, REFUSED, hostile
from polhode.cli import main
from polhode.errors import escaped, fault_of_name
from polhode.formats.yaml import to_yaml
from polhode.show.page.report import report_page

MACHINES = [hostile(first) for first in (0, 10)]
ids = ["0", "10"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A folder of its own, in which no command of a shell may have run."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not [path for path in tmp_path.rglob("*") if path.name == MARK]


def run_of(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        return ph.simulate(model, duration=0.1, samples=11)


class Elements(HTMLParser):
    """The elements of a page, with the names of their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, sorted(name for name, _ in attrs)))


def elements(text):
    return Elements(text).found


# the function that escapes, and the check of names


@pytest.mark.parametrize("name", [*PRINTABLE, *REFUSED])
def test_escaped_text_is_one_harmless_line(name):
    text = escaped(name)
    assert text.isprintable()
    assert not re.search(r"\*/|/\*|\?\?|\\", text)
    assert text.splitlines() in ([text], [])


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize(
    "record",
    [
        ph.Model,
        lambda n: ph.Body(n, 1.0, (1, 1, 1)),
        lambda n: ph.Joint(n, "revolute", "world", "b"),
        lambda n: ph.Force(n, "b"),
        lambda n: ph.Spring(n, "a", "b"),
        lambda n: ph.ForceFunction(n, lambda t, q, v: [0.0]),
        lambda n: ph.Constraint(n, "weld", body_b="b"),
        lambda n: ph.Constraint(lambda t, q: q[0], rows=(n, "other"), name="c"),
        lambda n: ph.Parameter(n, 1.0),
        lambda n: ph.Event(n, lambda t, q, v: q[0]),
    ],
    ids=["model", "body", "joint", "force", "spring", "function", "constraint", "row", "parameter", "event"],
)
def test_no_record_has_a_name_that_cannot_be_printed(name, record):
    body, joint = ph.Body("b", 1.0, (1, 1, 1)), ph.Joint("j", "revolute", "world", "b")

    def make():
        made = record(name)
        if isinstance(made, ph.Constraint):
            ph.compile(ph.Model("m", bodies=[body], joints=[joint], constraints=[made]))

    with pytest.raises((ph.ModelError, ph.InputError)) as told:
        make()
    assert str(told.value).replace("\n", "").isprintable()
    if name and not len(name) > 200 and "rows" not in str(told.value):
        assert f"U+{ord(next(c for c in name if not c.isprintable())):04X} as character" in str(told.value)


def test_all_printable_names_are_allowed():
    assert not any(map(fault_of_name, PRINTABLE))


# compilers


@pytest.fixture
def compiled(monkeypatch):
    """Every text that LLVM is given."""
    import llvmlite.binding as llvm

    texts, parse = [], llvm.parse_assembly
    monkeypatch.setattr(llvm, "parse_assembly", lambda text, *more: texts.append(text) or parse(text, *more))
    monkeypatch.setenv("POLHODE_CACHE", "")
    return texts


@pytest.mark.parametrize("model", MACHINES, ids=ids)
def test_llvm_reads_no_name(model, compiled):
    paths = [f"bodies.{model.bodies[1].name}.mass", model.bodies[0].mass.name]
    system = ph.compile(model, parameters=paths)
    q, v = model.zero, [0.1] * model.nv
    wrench = {model.bodies[0].name: ([1, 0, 0], [0, 0, 0])}
    system.forward_dynamics(q, v, v, wrench=wrench)
    system.pose(q, model.bodies[1].name)
    events = [ph.Event(model.name, lambda t, q, v: q[0] - 1.0)]
    ph.simulate(model, duration=0.01, events=events)
    assert len(compiled) > 4
    for text in compiled:
        assert MARK not in text
        assert text.isascii()


@pytest.mark.parametrize("model", MACHINES, ids=ids)
def test_shown_source_names_them_in_its_comment_alone(model):
    system = ph.compile(model, parameters=[model.bodies[0].mass.name])
    for text in (system.source("mass_matrix"), system.source("pose", model.bodies[1].name)):
        named = [line for line in text.splitlines() if MARK in line]
        assert named
        assert all(line.startswith("; ") for line in named)


@pytest.mark.parametrize("model", MACHINES, ids=ids)
def test_exported_c_names_them_in_comments_and_legal_identifiers(model):
    system = ph.compile(model, parameters=[model.bodies[0].mass.name])
    text = system.export_c("machine.c").read_text(encoding="utf-8")
    assert "??" not in text
    assert not re.search(r"\\$", text, re.MULTILINE)
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    assert code.isascii()
    assert re.fullmatch(r"[\w\s.,;:()\[\]{}<>=+\-*/!&|?#]*", code)
    assert set(re.findall(r"^[ \t]*#.*$", code, re.MULTILINE)) <= {"#include <math.h>"}
    words = {word for word in re.findall(r"\w+", code) if MARK in word}
    assert all(re.fullmatch(r"[A-Za-z]\w*", word, re.ASCII) for word in words)


@pytest.mark.parametrize("model", MACHINES[:2], ids=ids[:2])
def test_cuda_reads_no_name(model, monkeypatch, request):
    from polhode.kernel.backends import cuda

    request.addfinalizer(cuda.cupy.cache_clear)  # tests to come find no GPU
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy)
    cuda.cupy.cache_clear()
    monkeypatch.setenv("POLHODE_CACHE", "")
    monkeypatch.setattr(fake_cupy, "compiled", texts := [])
    name = model.bodies[0].mass.name
    system = ph.compile(model, target="cuda", parameters=[name])
    system.forward_dynamics(*(fake_cupy.asarray([x]) for x in (list(model.zero), [0.1] * model.nv, [0.0] * model.nv)))
    cuda.cupy.cache_clear()
    assert texts
    for text in texts:
        assert MARK not in text
        assert text.isascii()
    assert MARK in system.source("forward_dynamics")


# pages and pictures


@pytest.mark.parametrize("model", MACHINES, ids=ids)
def test_pages_have_the_elements_of_a_harmless_machine(model):
    run, plain = run_of(model), run_of(HARMLESS)
    assert elements(report_page(run, model)) == elements(report_page(plain, HARMLESS))
    for k, (each, own) in enumerate(((run, model), (plain, HARMLESS))):
        ph.animate(each, f"{k}.html", model=own)
    assert elements(Path("0.html").read_text()) == elements(Path("1.html").read_text())


@pytest.mark.parametrize("model", MACHINES, ids=ids)
def test_pictures_are_xml_that_runs_nothing(model):
    ph.draw_cans(model, "cans.svg")
    for element in ElementTree.parse("cans.svg").iter():
        assert not element.tag.endswith(("}script", "}foreignObject", "}a", "}iframe", "}image"))
        assert not any(name.lower().startswith("on") for name in element.attrib)


@pytest.mark.parametrize("model", MACHINES, ids=ids)
def test_latex_of_names_commands_nothing(model):
    found = ph.equations(model)
    text = found.latex()
    assert not re.search(r"\\(input|write|immediate|catcode|include|openin|openout|read|csname)\b", text)
    assert text.count(r"\end{document}") == 1
    assert "^^" not in text


# files and commands


@pytest.mark.filterwarnings("ignore:Glyph")  # a font without letters of Japanese
@pytest.mark.parametrize("model", [MACHINES[0], pytest.param(MACHINES[1], marks=pytest.mark.long)], ids=ids)
@pytest.mark.long
def test_names_survive_every_command(model):
    Path("machine.yaml").write_text(to_yaml(model), encoding="utf-8")
    assert ph.load("machine.yaml").name == model.name

    def call(*words):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        assert "\x1b" not in done.output
        return done.stdout

    shown = call("info", "machine.yaml")
    assert model.name in shown.replace("\n", "")
    assert json.loads(call("info", "machine.yaml", "--json"))["name"] == model.name
    call("run", "machine.yaml", "--duration", "0.1s", "--out", "out", "--csv")
    assert (Path("out") / "report.html").exists()
    call("plot", "out")
    call("animate", "out")
    call("draw", "machine.yaml", "--out", "out/cans.svg")
    call("equations", "machine.yaml", "--out", "equations.tex")
    assert "\\end{document}" in Path("equations.tex").read_text(encoding="utf-8")
    pictures = list(Path("out").glob("*.svg"))
    assert len(pictures) > 3
    for picture in pictures:
        ElementTree.fromstring(picture.read_text(encoding="utf-8"))
