"""The site is in order before it is built: pages are in a table of contents, links and anchors lead somewhere, blocks are code, every
public name has a docstring and an example, prose is in one kind of English. `make docs` runs the pages and builds it."""

import ast
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from ruamel.yaml import YAML

import american
import page_blocks
import page_runner
import polhode as ph
import reference_pages
from build_site import BESIDE, DOCS, examples_of_reference, pages
from docstring_markup import markup
from gallery_pages import FILMS, LARGEST_FILM, film, staged, tags
from polhode import cli
from polhode.errors import PolhodeWarning

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*pages(), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
MADE = {"reference/index", "examples/index", "decisions/index", *(Path(name).stem for name in BESIDE.values())}
each_page = pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])


def slug(title):
    """The anchor of a heading, as GitHub and MyST make it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower().replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


def anchors(page):
    text = page_blocks.prose(page.read_text(encoding="utf-8"))
    headings = {slug(title) for title in re.findall(r"^#+ (.+)$", text, re.M)}
    return (
        headings
        | set(re.findall(r"^\(([\w-]+)\)=$", text, re.M))
        | set(re.findall(r"<a (?:id|name)=\"([\w-]+)\"", text))
    )


def listed():
    """Every page that a table of contents names, by its address below docs."""
    found = {"index"}
    for page in pages():
        for entries in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
            for line in entries.splitlines():
                if line.strip() and not line.startswith(":"):
                    name = re.sub(r"^.*<(.*)>$", r"\1", line.strip()).removesuffix(".md")
                    found.add((page.parent / name).resolve().relative_to(DOCS).as_posix())
    return found


def test_every_page_is_in_a_table_of_contents():
    written = {page.relative_to(DOCS).with_suffix("").as_posix() for page in pages()}
    assert not {name for name in written - listed() if not name.startswith("decisions/")}


def test_links_pictures_and_anchors_lead_somewhere():
    lost = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target, anchor in re.findall(
            r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)", page_blocks.prose(text)
        ):
            if target.startswith("made/"):
                known = f'"{target.removeprefix("made/")}"' in text  # some block writes it
            elif (
                target in {"reference/index.md", "../reference/index.md"}
                or "reference/" in target
                or target.endswith(".rst")
            ):
                continue  # generated: Sphinx checks it
            else:
                there = (page.parent / target).resolve() if target else page
                known = there.exists() and (not anchor or there.suffix != ".md" or anchor in anchors(there))
            if not known:
                lost.append(f"{page.relative_to(ROOT)}: {target}{'#' + anchor if anchor else ''}")
    assert not lost


@each_page
def test_blocks_are_code(page):
    for block in page_blocks.blocks(page.read_text(encoding="utf-8")):
        where = f"{page.name}:{block.line}"
        if block.language == "python":
            ast.parse(block.text, where)
        elif block.language == "yaml":
            YAML(typ="safe").load(block.text)
        elif block.language == "console":
            assert block.text.startswith("$ "), f"{where}: a console block begins with a command"


@each_page
def test_command_lines_know_their_options_and_files(page):
    """Lines that are not run: the command, its options and the files it names are there all the same."""
    blocks = page_blocks.blocks(page.read_text(encoding="utf-8"))
    files = {block.file for block in blocks}
    for block in blocks:
        for line in re.findall(r"^(?:\$ )?polhode (.+)$", block.text, re.M) if block.language in {"", "sh"} else []:
            words = shlex.split(line.partition(" || ")[0], comments=True)
            where = f"{page.name}:{block.line}, polhode {line}"
            assert words[0] in cli.main.commands or words[0].startswith("-"), where
            named = {word for word in words if word.endswith((".yaml", ".urdf", ".nc"))}
            made = {word for before, word in pairwise(words) if before == "--out"}
            assert named - made <= files, f"{where}: no block of the page is this file"
            if words[0] in cli.main.commands:
                with cli.main.commands[words[0]].make_context(words[0], words[1:], resilient_parsing=True):
                    pass  # an option that it does not have raises


def test_every_public_name_is_explained():
    assert reference_pages.without_docstring() == []
    assert reference_pages.unplaced() == []


def test_every_public_name_has_an_example():
    assert reference_pages.without_example() == []
    assert set(reference_pages.written()) <= {
        *reference_pages.addresses(),
        *(
            f"polhode.{name}"
            for name in ("run", "sweep", "info", "modes", "draw", "plot", "equations", "compare", "animate")
        ),
    }


@pytest.mark.long
@pytest.mark.parametrize("page", examples_of_reference(), ids=lambda page: page.stem)
def test_examples_of_the_reference_run(page, tmp_path):
    assert page_runner.run_page(page, tmp_path)


def test_prose_is_british():
    """Names of functions and keys stay as they are: they stand in code."""
    assert [line for page in [*PAGES, ROOT / "CHANGELOG.md"] for line in american.found(page)] == []


def test_docstrings_become_markup():
    text = """The rate of an attitude.

    ṗ = ½ p∘(0, ω)                    Schwab (16)

A *word*, `code`, |x| and a_ .

p      (..., 4)  attitude
omega  (..., 3)  body axes,
       rad/s
->     (..., 4)"""
    lines = markup(text.split("\n"))
    assert "::" in lines
    assert "   ṗ = ½ p∘(0, ω)                    Schwab (16)" in lines
    assert r"A *word*, ``code``, \|x\| and a\_ ." in lines
    at = lines.index(".. rst-class:: arguments")
    assert lines[at + 2 : at + 9] == [
        "``p``",
        "   (..., 4)  attitude",
        "``omega``",
        "   (..., 3)  body axes,",
        "   rad/s",
        "*returns*",
        "   (..., 4)",
    ]


def test_scripts_become_pages_of_the_gallery():
    text = '"""A top |turns|.\n\nIt is *fast*:\n\n    ω = 5\n"""\nimport polhode as ph\n\nph.simulate(ph.load("heavy-top"))\n'
    shown = staged(text)
    assert shown.startswith('"""\nA top \\|turns\\|\n=================\n')
    assert "::\n\n   ω = 5" in shown
    assert "runs" in tags(text)


class TestRunner:
    """Pages that are run."""

    def run(self, text, tmp_path):
        return page_runner.run_page(tmp_path / "page.md", tmp_path / "run", text)

    def test_blocks_share_a_namespace_and_a_folder(self, tmp_path):
        text = "```yaml\n# file: a.yaml\nx: 1\n```\n\n```python\nx = __import__('pathlib').Path('a.yaml').read_text()\n```\n\n```python\nprint(len(x))\n```\n\n```output\n20\n```\n"
        assert [each.text for each in self.run(text, tmp_path)] == ["", "20\n"]

    def test_a_block_has_nothing_that_a_reader_has_not(self, tmp_path):
        with pytest.raises(page_runner.PageError, match="NameError"):
            self.run("```python\nph.load('pendulum')\n```\n", tmp_path)
        with pytest.raises(page_runner.PageError, match="FileNotFoundError"):
            self.run("```python\nopen('made/x.png', 'w')\n```\n", tmp_path)

    def test_a_file_that_the_page_shows_is_kept(self, tmp_path):
        text = "```python\nopen('x.png', 'w').close()\nopen('y.png', 'w').close()\n```\n\n![A picture](made/x.png)\n"
        self.run(text, tmp_path)
        assert [path.name for path in (tmp_path / "run" / "made").iterdir()] == ["x.png"]
        with pytest.raises(page_runner.PageError, match=r"links to made/z\.png; expected a block that writes z\.png"):
            self.run(text.replace("made/x", "made/z"), tmp_path)

    def test_other_output_is_an_error_with_its_line(self, tmp_path):
        with pytest.raises(
            page_runner.PageError,
            match=r"page\.md:3, python block: it prints something else(.|\n)*found\n2\n(.|\n)*expected\n3",
        ):
            self.run("# A\n\n```python\nprint(2)\n```\n\n```output\n3\n```\n", tmp_path)

    def test_an_exception_is_told_with_its_line(self, tmp_path):
        with pytest.raises(page_runner.PageError, match=r"page\.md:1(.|\n)*line 3(.|\n)*ZeroDivisionError"):
            self.run("```python\nx = 0\n1 / x\n```\n", tmp_path)

    def test_a_warning_is_an_error_unless_it_is_ours(self, tmp_path):
        text = '```python\nimport warnings\nimport polhode as ph\nwarnings.warn("it is", ph.PolhodeWarning)\n```\n'
        with pytest.warns(PolhodeWarning):
            self.run(text, tmp_path)
        with pytest.raises(page_runner.PageError, match="UserWarning"):
            self.run('```python\nimport warnings\nwarnings.warn("it is")\n```\n', tmp_path)

    def test_commands_run(self, tmp_path):
        (printed,) = self.run(
            "```console\n$ polhode --version\npolhode, version ...\n$ echo done\ndone\n```\n", tmp_path
        )
        assert printed.text.startswith("$ polhode --version\n")
        with pytest.raises(page_runner.PageError, match="console blocks run polhode"):
            self.run("```console\n$ rm x\n```\n", tmp_path)

    @pytest.mark.parametrize(
        ("expected", "found", "same"),
        [
            ("1.0000001", "1.0000002", True),
            ("1.001", "1.002", False),
            ("a ... c", "a b\nb c", True),
            ("[1 2]", "[1   2]", True),
            ("x = 1e-17", "x = -3e-18", True),
            ("q1", "q2", False),
            ("−3 m", "-3 m", True),
            ("", "text", False),
        ],
    )
    def test_texts_agree_up_to_rounding(self, expected, found, same):
        assert page_runner.agrees(expected, found) is same

    def test_blocks_inside_tabs_and_notes_count(self):
        text = ":::{note}\n```python\na = 1\n```\n:::\n\n````{tab-item} x\n```python\nb = 2\n```\n````\n\n```{math}\nx\n```\n\n```\nplain\n```\n"
        assert [(b.language, b.text) for b in page_blocks.blocks(text)] == [
            ("python", "a = 1\n"),
            ("python", "b = 2\n"),
            ("", "plain\n"),
        ]

    def test_results_are_kept_until_page_or_package_change(self, tmp_path, monkeypatch):
        monkeypatch.setattr(page_runner, "kept_folder", lambda path: tmp_path / "kept")
        page = tmp_path / "page.md"
        page.write_text("text\n", encoding="utf-8")
        assert page_runner.kept(page) is None
        assert page_runner.execute(page) == page_runner.kept(page) == []
        page.write_text("other\n", encoding="utf-8")
        assert page_runner.kept(page) is None
        page_runner.execute(page)
        monkeypatch.setattr(page_runner, "package_digest", lambda: "another")
        assert page_runner.kept(page) is None


@pytest.mark.parametrize("name", FILMS)
def test_a_film_of_the_gallery_is_of_a_run_that_its_script_has(name):
    text = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    assigned = {
        target.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign)
        for part in node.targets
        for target in (part.elts if isinstance(part, ast.Tuple) else [part])
        if isinstance(target, ast.Name)
    }
    assert set(FILMS[name]) <= assigned


def test_a_film_is_small_enough_for_a_page(tmp_path):
    model = ph.load("double-pendulum")
    film(ph.simulate(model, duration=1.0), model, tmp_path / "film.mp4")
    assert 1000 < (tmp_path / "film.mp4").stat().st_size <= LARGEST_FILM
