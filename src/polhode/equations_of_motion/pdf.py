"""A LaTeX document as PDF, by whichever LaTeX is there; it may run nothing, and read nothing outside its folder."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from polhode.errors import PolhodeError

ENGINES = ("pdflatex", "lualatex", "xelatex")
"""In the order in which they are tried."""

SECONDS = 120
"""How long a document may take."""


def write_pdf(text: str, path: Path) -> Path:
    """Typeset a document into a file."""
    engine = next(filter(shutil.which, ENGINES), None)
    if engine is None:
        raise PolhodeError(
            f"equations, {path.name}: no LaTeX to typeset a PDF.\n"
            f"  found none of {', '.join(ENGINES)} on the PATH; expected one of them.\n"
            "  Install one (Debian, Ubuntu: apt install texlive-latex-base; macOS: brew install basictex), "
            "or write .tex or .md instead."
        )
    with TemporaryDirectory() as folder:
        source = Path(folder, "equations.tex")
        source.write_text(text, encoding="utf-8")
        command = [engine, "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", source.name]
        safe = {**os.environ, "openin_any": "p", "openout_any": "p", "TEXMFHOME": folder}
        try:
            run = subprocess.run(
                command,
                cwd=folder,
                env=safe,
                capture_output=True,
                timeout=SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise PolhodeError(f"equations, {path.name}: {engine} took more than {SECONDS} s and was ended.") from None
        made = source.with_suffix(".pdf")
        if run.returncode or not made.exists():
            log = run.stdout.decode("utf-8", "replace").splitlines()
            shown = "\n".join(f"  {line}" for line in log if line.startswith(("!", "l.")))[:600]
            raise PolhodeError(f"equations, {path.name}: {engine} refused the document.\n{shown}")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, path)
    return path
