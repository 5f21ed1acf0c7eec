"""One HTML file that opens anywhere, offline: policy, style, body, data and scripts in it."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from polhode import __version__

FOOTER = f"<footer>Made by Polhode {escape(__version__)}. This file is complete: it makes no request.</footer>"


def document(
    title: str, body: Sequence[str], styles: Sequence[str], scripts: Sequence[str] = (), data: Mapping | None = None
) -> str:
    """The text of a page.

    body             its parts as HTML; empty ones are left out, the footer is added
    styles, scripts  names of files in `assets`
    data             plain data that the scripts read, in an element of its own
    """
    code = [_asset(file) for file in scripts]
    hashes = "".join(f" 'sha256-{_digest(script)}'" for script in code)
    allowed = f"script-src{hashes}; " if code else ""
    policy = f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:"
    style = "\n".join(_asset(file) for file in styles)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="generator" content="polhode {escape(__version__)}">',
            '<link rel="icon" href="data:,">',
            f"<title>{escape(title)} – Polhode</title>",
            f"<style>{style}</style>\n</head>\n<body>",
            *filter(None, body),
            FOOTER,
            *([f'<script type="application/json" id="data">{_numbers(data)}</script>'] if data is not None else []),
            *(f"<script>{script}</script>" for script in code),
            *map(_notice, scripts),
            "</body>\n</html>\n",
        ]
    )


def _numbers(data: Any) -> str:
    """Data as JSON in which nothing can end its element."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _asset(name: str) -> str:
    return files("polhode.show.page").joinpath("assets", name).read_text(encoding="utf-8")


def _notice(script: str) -> str:
    """The licence of a script that others wrote, which goes with every copy of it, as a comment; "" of our own."""
    file = files("polhode.show.page").joinpath("assets", f"{script.split('.', maxsplit=1)[0]}.LICENSE")
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return f"<!-- {script}:\n{text.replace('--', '- -').strip()}\n-->" if text else ""


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
