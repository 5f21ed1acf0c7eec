"""Pages are run: their Python blocks from top to bottom, their command lines, and what both print is compared.

    python docs/_tools/page_runner.py docs/howto/damping.md …           # in folders of their own under build/pages
    python docs/_tools/page_runner.py --fill docs/howto/damping.md      # writes what is printed into its output blocks: read it
    python docs/_tools/page_runner.py --fill-all docs/howto/damping.md  # makes output blocks too where there are none

Blocks of one page share one namespace and one folder, both empty at first as a reader's are (examples of the reference have `ph`). A
```python block runs; an ```output block directly after it holds what it prints. A file that they write, and that the page links to as
made/NAME, is kept there. A ```console block holds lines `$ polhode …`, each with what it prints below it. A ```yaml block whose first line
is `# file: NAME` becomes that file. Others are not run. In what is compared `...` stands for any text, and numbers agree within 1e-6 of
themselves. Warnings are errors, but those of Polhode itself, which speak to users.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from page_blocks import Block, blocks, prose

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "pages"
NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
RELATIVE = 1e-6
"""Difference of two numbers that counts as none, in parts of the larger."""
ABSOLUTE = 1e-12
"""Below this a number is 0: what is left by rounding differs between machines."""
LONGEST = 600
"""Seconds after which a page or a command is ended."""


class PageError(AssertionError):
    """A page that does not do what it says: page, line, what was found, what was expected."""


@dataclass(frozen=True)
class Printed:
    """What the block that begins at a line printed."""

    line: int
    text: str


def run_page(path: Path, folder: Path, text: str | None = None, compare: bool = True) -> list[Printed]:
    """What the blocks of a page print, in their order.

    path    the page, named in errors
    folder  where it runs; made if need be
    text    of the page, read from path unless given
    compare whether what is printed must be what the page says
    ->      one record for each block that was run
    Raises PageError where a block fails or prints something else than the page says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    import polhode

    names: dict = {"__name__": f"page_{path.stem.replace('-', '_')}"}
    if path.parent.name == "reference-examples":  # pieces of one page of the reference: each begins in the middle
        names["ph"] = polhode
    found = []
    source = path.read_text(encoding="utf-8") if text is None else text
    with contextlib.chdir(folder), _headless(), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("default", polhode.PolhodeWarning)
        for block in blocks(source):
            if block.file is not None:
                Path(block.file).write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                found.append(Printed(block.line, _python(path, block, names, compare)))
            elif block.language == "console":
                found.append(Printed(block.line, _console(path, block, compare)))
    _keep_made(path, folder, source)
    return found


def _keep_made(path: Path, folder: Path, source: str) -> None:
    """Copies of the files that the page links to as made/NAME, in the folder made: blocks write NAME beside the script."""
    (folder / "made").mkdir(exist_ok=True)
    for name in sorted(set(re.findall(r"\]\(made/([^)#\s]+)\)", prose(source)))):
        if not (folder / name).exists():
            raise PageError(f"{path}: it links to made/{name}; expected a block that writes {name}.")
        shutil.copyfile(folder / name, folder / "made" / name)


def _python(path: Path, block: Block, names: dict, compare: bool) -> str:
    """What a Python block prints."""
    printed = io.StringIO()
    code = "\n" * block.line + block.text  # so that tracebacks give lines of the page
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(path), "exec"), names)
    except Exception as error:
        told = "".join(traceback.format_exception(error)[-3:])
        raise PageError(f"{path}:{block.line}, python block: it raises {type(error).__name__}.\n{told}") from error
    if block.expected is not None and compare:
        _compare(path, block.line, block.expected, printed.getvalue())
    return printed.getvalue()


def _console(path: Path, block: Block, compare: bool) -> str:
    """What the command lines of a block print, as the page shows it: each line, then its output."""
    parts = re.split(r"^\$ ", block.text, flags=re.M)
    if parts[0].strip():
        raise PageError(
            f"{path}:{block.line}, console block: it begins with {parts[0][:40]!r}; expected `$ polhode …`."
        )
    shown = []
    for part in parts[1:]:
        command, _, said = part.partition("\n")
        while command.endswith("\\"):
            further, _, said = said.partition("\n")
            command = f"{command}\n{further}"
        if not re.match(r"(?:[A-Z_]+=\S+ )*(?:polhode|cat|ls|echo|head|tail|mkdir|cd)\b", command):
            raise PageError(f"{path}:{block.line}, `{command}`: console blocks run polhode; other lines go into ```sh.")
        printed = _shell(path, block.line, command)
        if compare:
            _compare(path, block.line, said, printed, f"`$ {command}`")
        shown.append(f"$ {command}\n{printed}")
    return "".join(shown)


def _shell(path: Path, line: int, command: str) -> str:
    """What a command line prints, both streams together, with `polhode` the one of this Python."""
    environment = {**os.environ, "PATH": f"{_bin()}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100", "TERM": "dumb"}
    environment |= {"NO_COLOR": "1", "MPLBACKEND": "agg", "PYTHONUTF8": "1"}
    try:
        run = subprocess.run(
            ["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, env=environment,
            encoding="utf-8", timeout=LONGEST, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise PageError(f"{path}:{line}, `{command}`: not done after {LONGEST} s.") from error
    return run.stdout + run.stderr


@cache
def _bin() -> Path:
    """A folder with a `polhode` that runs the package which this process imports."""
    import polhode

    source = Path(polhode.__file__).resolve().parents[1]
    folder = ROOT / "build" / "pages" / ".bin"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "polhode"
    code = "from polhode.cli import main; main()"
    text = f'#!/bin/sh\nPYTHONPATH="{source}" exec "{sys.executable}" -c "{code}" "$@"\n'
    if not program.exists() or program.read_text(encoding="utf-8") != text:
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)
    return folder


@contextlib.contextmanager
def _headless() -> Iterator[None]:
    """Figures without windows; those that a page leaves open are closed."""
    before = os.environ.get("MPLBACKEND")
    os.environ["MPLBACKEND"] = "agg"
    try:
        yield
    finally:
        if before is None:
            del os.environ["MPLBACKEND"]
        else:
            os.environ["MPLBACKEND"] = before
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")


def _compare(path: Path, line: int, expected: str, found: str, what: str = "python block") -> None:
    if not agrees(expected, found):
        raise PageError(
            f"{path}:{line}, {what}: it prints something else than the page says.\n"
            f"--- found\n{found.rstrip()}\n--- expected\n{expected.rstrip()}\n--- Put what was found into the page if it is right."
        )


def agrees(expected: str, found: str) -> bool:
    """Whether a text is as expected: `...` stands for any text, spaces at ends of lines for nothing, numbers agree to 1e-6."""
    pattern, numbers = [], []
    for piece in re.split(r"(\.\.\.)", _plain(expected)):
        if piece == "...":
            pattern.append("(?s:.*?)")
            continue
        last = 0
        for number in NUMBER.finditer(piece):
            pattern += [re.escape(piece[last : number.start()]), f"({NUMBER.pattern})"]
            numbers.append(number[0])
            last = number.end()
        pattern.append(re.escape(piece[last:]))
    fixed = re.sub(r"(?:\\ )+", r" +", "".join(pattern))  # columns may be set wider
    match = re.fullmatch(fixed, _plain(found))
    return match is not None and all(map(_same_number, numbers, match.groups()))


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n")).strip()


def _same_number(one: str, other: str) -> bool:
    x, y = (float(text.replace("−", "-")) for text in (one, other))
    return abs(x - y) <= max(ABSOLUTE, RELATIVE * max(abs(x), abs(y)))


@cache
def package_digest() -> str:
    """SHA-256 of the package's source: results of older sources are not taken for new ones."""
    total = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in {".py", ".yaml", ".csv", ".js", ".css"}:
            total.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def kept_folder(path: Path) -> Path:
    """Where a page of the repository runs and its results are kept."""
    return KEPT / path.resolve().relative_to(ROOT).with_suffix("")


def kept(path: Path) -> list[Printed] | None:
    """What the page printed when it ran last, if neither it nor the package changed since; else None."""
    record = kept_folder(path) / "printed.json"
    if not record.exists():
        return None
    data = json.loads(record.read_text(encoding="utf-8"))
    stale = os.environ.get("POLHODE_DOCS_STALE") == "1"  # while pages are written: results of an older package will do
    if data["page"] != _digest(path) or (data["package"] != package_digest() and not stale):
        return None
    return [Printed(**each) for each in data["printed"]]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def execute(path: Path) -> list[Printed]:
    """What a page prints, from a run in a process of its own, or as it was kept."""
    known = kept(path)
    if known is not None:
        return known
    folder = kept_folder(path)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if any(block.language in {"python", "console"} for block in blocks(path.read_text(encoding="utf-8"))):
        command = [sys.executable, str(Path(__file__)), "--here", str(path.resolve()), str(folder)]
        run = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=2 * LONGEST, check=False)
        if run.returncode:
            raise PageError(run.stderr.strip().split("PageError: ")[-1])
        printed = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    else:
        printed = []
    record = {"page": _digest(path), "package": package_digest(), "printed": printed}
    (folder / "printed.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    return [Printed(**each) for each in printed]


def fill(path: Path, add: bool) -> None:
    """Writes what the blocks of a page print into the page: into its output blocks and below its command lines.

    add  also below Python blocks that print and have no output block yet
    """
    source = path.read_text(encoding="utf-8")
    folder = kept_folder(path)
    shutil.rmtree(folder, ignore_errors=True)
    lines = source.split("\n")
    found = {each.line: each.text.rstrip("\n") for each in run_page(path, folder, source, compare=False)}
    for block in reversed(blocks(source)):
        if block.language == "console":
            lines[block.line : block.end - 1] = found[block.line].split("\n")
        elif block.expected is not None and "..." not in block.expected:
            begin = next(k for k in range(block.end, len(lines)) if lines[k].strip() == "```output") + 1
            end = next(k for k in range(begin, len(lines)) if lines[k].strip().startswith("```"))
            lines[begin:end] = found[block.line].split("\n")
        elif block.expected is None and add and found.get(block.line):
            lines[block.end : block.end] = ["", "```output", *found[block.line].split("\n"), "```"]
    path.write_text("\n".join(lines), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Runs the pages that are named; says what each took, or what is wrong."""
    if arguments[:1] == ["--here"]:
        page, folder = map(Path, arguments[1:])
        found = run_page(page, folder)
        (folder / "found.json").write_text(json.dumps([asdict(each) for each in found]), encoding="utf-8")
        return 0
    if arguments[:1] in (["--fill"], ["--fill-all"]):
        for name in arguments[1:]:
            fill(Path(name).resolve(), arguments[0] == "--fill-all")
        return 0
    wrong = 0
    for name in arguments:
        try:
            print(f"{name}: {len(execute(Path(name)))} blocks run")
        except PageError as error:
            wrong += 1
            print(error, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
