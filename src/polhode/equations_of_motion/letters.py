"""How a name is written: as LaTeX that cannot do anything else, and as text."""

import re
import unicodedata

FIRST = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon"
REST = "phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
GREEK = frozenset(f"{FIRST} {REST}".split())
"""Letters that LaTeX knows by these names."""

_CAPITAL = {"GREEK CAPITAL LETTER ": str.capitalize, "GREEK SMALL LETTER ": str.lower}
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "-": "{-}",
    "–": "--",
    "—": "---",
    "−": r"\ensuremath{-}",
    "·": r"\ensuremath{\cdot}",
    "²": r"\ensuremath{^2}",
    "³": r"\ensuremath{^3}",
    "×": r"\ensuremath{\times}",
    "→": r"\ensuremath{\to}",
    "“": "``",
    "”": "''",
    "’": "'",
    "…": r"\dots{}",
}
"""Characters that mean something to LaTeX, or that its fonts lack, in text."""


def escaped(text: str) -> str:
    """Any text as LaTeX text: it prints as it stands and commands nothing. What no font has is named U+XXXX."""
    return "".join(_character(c) for c in unicodedata.normalize("NFC", text))


def _character(c: str) -> str:
    if c in SPECIAL:
        return SPECIAL[c]
    if " " <= c <= "~" or ("\u00a1" <= c <= "\u017f" and c.isalpha()):
        return c
    if name := greek_name(c):
        return rf"\ensuremath{{\{name}}}"
    plain = unicodedata.normalize("NFKD", c)
    if c.isspace():
        return " "
    if plain != c and all(" " <= x <= "~" for x in plain):
        return "".join(map(_character, plain))
    return f"[U+{ord(c):04X}]"


def greek_name(c: str) -> str:
    """What LaTeX calls a Greek letter; "" for all else."""
    title = unicodedata.name(c, "")
    for start, cased in _CAPITAL.items():
        name = cased(title.removeprefix(start).lower().replace("lamda", "lambda"))
        if title.startswith(start) and name in GREEK:
            return name
    return ""


_PLAIN = re.compile(r"([A-Za-z]+?|[^\W\d_])(?:_?([0-9]+[a-z]{0,2})|_([A-Za-z0-9]+))?(?:_([A-Za-z0-9]+))?")


def symbol_latex(name: str, dots: int = 0) -> str:
    """A name in mathematics: theta_1, I_2x and m1 as letters with subscripts, anything else as upright text.

    dots  of a rate: 1 or 2
    """
    base, lower = split_name(name)
    accent = {0: "{}", 1: r"\dot{{{}}}", 2: r"\ddot{{{}}}"}[dots]
    head = accent.format(_base(base)) if base else accent.format(rf"\text{{{escaped(name)}}}")
    if not lower:
        return head
    short = re.fullmatch("[0-9]*[a-z]{0,3}[0-9]*", lower)
    return f"{head}_{{{lower}}}" if short else rf"{head}_{{\text{{{escaped(lower)}}}}}"


def split_name(name: str) -> tuple[str, str]:
    """Letter and subscript of a name; ("", "") where it is not made of them."""
    found = _PLAIN.fullmatch(name)
    if not found:
        head, _, tail = name.partition("_")
        return (head, tail) if tail and _is_letter(head) else ("", "")
    base, number, word, second = found.groups()
    lower = ", ".join(part for part in (number or word, second) if part)
    return base, lower


def subscripted(letter: str, tail: str) -> str:
    """A letter with a subscript in front of the one it has: I_x of 2 is I_2x."""
    head, _, old = letter.partition("_")
    return f"{head}_{tail}{old}" if tail.isdigit() or not old else f"{head}_{tail}_{old}"


def _is_letter(base: str) -> bool:
    return base in GREEK or (len(base) == 1 and base.isalpha())


def _base(base: str) -> str:
    if base in GREEK:
        return f"\\{base}"
    if len(base) == 1 and (name := greek_name(base)):
        return f"\\{name}"
    return base if len(base) == 1 and base.isascii() else rf"\mathrm{{{escaped(base)}}}"


def markdown_text(text: str) -> str:
    """Any text as Markdown text: what would format it is escaped."""
    flat = " ".join(text.split())
    escaped_ = re.sub(r"([\\`*_{}<>|$#~])", r"\\\1", flat)
    return escaped_.replace("[", "&#91;").replace("]", "&#93;")  # \\[ would begin a formula in some readers
