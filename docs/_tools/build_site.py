"""The site: `make docs` writes it to build/site.

    python docs/_tools/build_site.py                       # all of it
    python docs/_tools/build_site.py --examples '^1[0-9]'  # with some examples of the gallery, while pages are written
    python docs/_tools/build_site.py --pages-only          # pages are run and compared, nothing is built

Three steps. Pages run, each in a process of its own (page_runner.py); what they made is kept in build/pages until page or package change.
build/source is put together: the pages with what they printed and drew, the reference (reference_pages.py), the scripts of the gallery.
Sphinx makes HTML of it, where every warning is an error. Nothing is fetched: the folder works from a disk and from a server alike.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gallery_pages
import reference_pages
from gallery_pages import write
from page_blocks import blocks
from page_runner import PageError, Printed, execute, kept, kept_folder, package_digest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SOURCE = ROOT / "build" / "source"
BESIDE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
"""Pages of the repository's root, and what they are called in the site."""
LEFT_OUT = {"_tools", "_static", "inventories", "reference-examples"}


def pages() -> list[Path]:
    """Every Markdown page of docs/ that the site has."""
    found = sorted(DOCS.rglob("*.md"))
    return [path for path in found if not LEFT_OUT & set(path.relative_to(DOCS).parts)]


def examples_of_reference() -> list[Path]:
    """The pages with the examples that the reference shows."""
    return sorted((DOCS / "reference-examples").glob("*.md"))


def run_pages(chosen: list[Path], workers: int) -> dict[Path, list[Printed]]:
    """What each page printed. Says what is wrong with those that fail, all of them, and ends."""
    wrong, found = [], {}

    def one(path: Path) -> None:
        try:
            found[path] = execute(path)
        except PageError as error:
            wrong.append(str(error))

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, chosen))
    if wrong:
        sys.exit("\n\n".join([*sorted(wrong), f"{len(wrong)} pages do not do what they say."]))
    return found


def with_outputs(text: str, printed: list[Printed]) -> str:
    """The page with what its Python blocks print below them, where it does not say it itself."""
    said = {each.line: each.text for each in printed}
    lines = text.split("\n")
    for block in reversed(blocks(text)):
        out = said.get(block.line, "").rstrip()
        if block.language == "python" and block.expected is None and out:
            indent = re.match(r" *", lines[block.line - 1])[0]
            shown = ["", "```output", *out.split("\n"), "```"]
            lines[block.end : block.end] = [f"{indent}{line}" if line else line for line in shown]
    return "\n".join(lines)


def relinked(text: str, path: Path) -> str:
    """The page with links that lead out of docs/ led to their pages in the site, or, where there is none, to no link."""

    def target(match: re.Match) -> str:
        label, link, anchor = match[1], match[2], match[3] or ""
        there = (path.parent / link).resolve()
        if "://" in link or link.startswith("mailto:") or not there.exists():
            return match[0]
        up = "../" * len(path.relative_to(DOCS).parts[:-1]) if path.is_relative_to(DOCS) else ""
        if there.is_relative_to(ROOT / "examples") and there.suffix == ".py":
            return f"{label}({up}examples/{there.stem}.rst{anchor})"
        if there.parent == ROOT and there.name in BESIDE:
            return f"{label}({up}{BESIDE[there.name]}{anchor})"
        if there == ROOT / "README.md":
            return f"{label}({up}index.md)"
        if there == ROOT / "examples":
            return f"{label}({up}examples/index.rst)"
        if there == DOCS / "decisions":
            return f"{label}({up}decisions/index.md)"
        if there.is_relative_to(DOCS):
            return match[0] if path.is_relative_to(DOCS) else f"{label}({there.relative_to(DOCS).as_posix()}{anchor})"
        return label[1:-1] if not label.startswith("!") else label

    return re.sub(r"(!?\[[^\]]*\])\(([^)#\s]+)(#[^)\s]*)?\)", target, text)


def stage(printed: dict[Path, list[Printed]]) -> None:
    """Puts build/source together; files that did not change keep their times, so that Sphinx reads only the others."""
    wanted = set()

    def put(name: str, text: str) -> None:
        wanted.add(SOURCE / name)
        write(SOURCE / name, text)

    here = {path.relative_to(DOCS).with_suffix("").as_posix() for path in pages()}
    here |= {"reference/index", "examples/index", "decisions/index", *(Path(name).stem for name in BESIDE.values())}
    for path in pages():
        text = with_outputs(path.read_text(encoding="utf-8"), printed[path])
        text = written_parts(relinked(text, path), path, here)
        put(path.relative_to(DOCS).as_posix(), text)
    for name, called in BESIDE.items():
        put(called, relinked((ROOT / name).read_text(encoding="utf-8"), ROOT / name))
    put("decisions/index.md", decisions())
    for name, text in reference_pages.pages(printed).items():
        put(f"reference/{name}", text)
    for path in DOCS.rglob("*"):  # pictures and data beside the pages
        if (
            path.suffix in {".png", ".svg", ".json", ".bib", ".gif", ".mp4", ".webm", ".jpg"}
            and "_static" not in path.parts
        ):
            wanted.add(copied(path, SOURCE / path.relative_to(DOCS)))
    for path in pages():
        for picture in sorted((kept_folder(path) / "made").glob("*")):
            place = SOURCE / path.relative_to(DOCS).parent / "made" / picture.name
            if place in wanted:
                sys.exit(
                    f"{path}: it makes made/{picture.name}, and so does another page of its folder. Give it another name."
                )
            wanted.add(copied(picture, place))
    for path in SOURCE.rglob("*"):
        if (
            path.is_file()
            and path not in wanted
            and not path.is_relative_to(SOURCE / gallery_pages.FOLDER)
            and path.name != "sg_execution_times.rst"
        ):
            path.unlink()


def copied(path: Path, place: Path) -> Path:
    """A copy, made anew only where the file changed."""
    if not place.exists() or place.read_bytes() != path.read_bytes():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return place


def written_parts(text: str, path: Path, here: set[str]) -> str:
    """The page with the entries of its table of contents that there are; others are told, and left out."""
    folder = path.relative_to(DOCS).parent

    def entries(match: re.Match) -> str:
        kept = []
        for line in match[2].split("\n"):
            name = re.sub(r"^.*<(.*)>$", r"\1", line.strip()).removesuffix(".md")
            known = (
                not name
                or name.startswith(":")
                or "*" in name
                or name == "self"
                or (folder / name).as_posix() in here
                or name in here
            )
            kept += [line] if known else []
            if not known:
                print(f"{path.relative_to(ROOT)}: {name} is not written yet, and left out", file=sys.stderr)
        return match[1] + "\n".join(kept)

    return re.sub(r"(```\{toctree\}\n)(.*?)(?=```)", entries, text, flags=re.S)


def decisions() -> str:
    """The page that lists the decisions."""
    names = sorted(path.stem for path in (DOCS / "decisions").glob("[0-9]*.md"))
    return "\n".join(
        [
            "# Decisions",
            "",
            "Choices that are costly to undo: context, choice, cost.",
            "",
            "```{toctree}",
            ":maxdepth: 1",
            "",
            *names,
            "```",
            "",
        ]
    )


def forget_examples() -> None:
    """Pages of scripts that are no more, or not chosen, go; examples run again when the package changed, as pages do."""
    chosen = {path.stem for path in (ROOT / "build" / "examples").glob("*.py")}
    for path in (SOURCE / gallery_pages.FOLDER).glob("[0-9]*.*"):
        if path.name.split(".")[0] not in chosen:
            path.unlink()
    told = ROOT / "build" / "examples" / "package"
    if os.environ.get("POLHODE_DOCS_STALE") == "1" and told.exists():
        return
    if not told.exists() or told.read_text(encoding="utf-8") != package_digest():
        for path in (SOURCE / gallery_pages.FOLDER).glob("*.md5"):
            path.unlink()
        write(told, package_digest())


def check_spelling() -> None:
    """Common misspellings in pages, docstrings and examples (codespell; words of ours are in pyproject.toml)."""
    places = ["docs", "src", "examples", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    found = subprocess.run(
        [sys.executable, "-m", "codespell_lib", *places], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if found.stdout.strip():
        sys.exit(f"{found.stdout}Write them right, or name them in [tool.codespell] of pyproject.toml.")


def main() -> int:
    """Builds the site, or runs its pages alone."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pages-only", action="store_true", help="run pages, build nothing")
    parser.add_argument("--examples", default="", metavar="PATTERN", help="names of the examples that the gallery has")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument(
        "--kept", action="store_true", help="run no page: those that did not run yet are shown as they are written"
    )
    parser.add_argument(
        "--unrun", action="store_true", help="run no example: the gallery has those figures that are there"
    )
    parser.add_argument("--loose", action="store_true", help="warnings are told, and the site is made all the same")
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    begin = time.monotonic()
    chosen = [*pages(), *examples_of_reference()]
    printed = {path: kept(path) or [] for path in chosen} if options.kept else run_pages(chosen, options.workers)
    count = sum(map(len, printed.values()))
    what = "of runs before, none run now" if options.kept else "run and compared"
    print(f"{len(printed)} pages, {count} blocks {what}: {time.monotonic() - begin:.0f} s")
    if options.pages_only:
        return 0
    check_spelling()
    gallery_pages.stage(ROOT / "examples", ROOT / "build" / "examples", options.examples)
    forget_examples()
    stage(printed)
    gallery_pages.write_tags(ROOT / "examples", ROOT / "build" / "static" / "gallery-tags.js")
    from sphinx.cmd.build import main as sphinx

    strict = ([] if options.loose else ["-W"]) + (["-D", "plot_gallery=0"] if options.unrun else [])
    code = sphinx(
        [
            *strict,
            "--keep-going",
            "-n",
            "-q",
            "-j",
            "1",
            "-c",
            str(DOCS),
            "-d",
            str(ROOT / "build" / "doctrees"),
            str(SOURCE),
            str(options.out),
        ]
    )
    print(f"{options.out}/index.html: {time.monotonic() - begin:.0f} s in all")
    return code


if __name__ == "__main__":
    sys.exit(main())
