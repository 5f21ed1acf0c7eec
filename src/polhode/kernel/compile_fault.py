"""Why a user function cannot be compiled: the line of the user's file, the call on it, and what to write instead."""

import linecache
import re
import sysconfig
from pathlib import Path
from traceback import FrameSummary, extract_tb

PACKAGE = Path(__file__).parent.parent

INSTEAD = {
    **{name: f"ph.{name}" for name in ("sin", "cos", "tan", "asin", "acos", "atan2", "exp", "log", "sqrt", "where")},
    **{name: f"ph.{name}" for name in ("dot", "cross", "minimum", "maximum")},
    **{"arcsin": "ph.asin", "arccos": "ph.acos", "arctan2": "ph.atan2", "norm": "ph.length", "fabs": "abs"},
    **{"abs": "abs", "absolute": "abs", "array": "ph.Vec", "asarray": "ph.Vec", "pow": "x**n", "power": "x**n"},
    **{"fmin": "ph.minimum", "fmax": "ph.maximum", "min": "ph.minimum", "max": "ph.maximum", "hypot": "ph.length"},
    **{"atan": "ph.atan2(x, 1.0)", "arctan": "ph.atan2(x, 1.0)", "tanh": "1 - 2/(ph.exp(2*x) + 1)"},
    **{"clip": "ph.minimum(ph.maximum(x, low), high)", "sign": "ph.where(x > 0, 1.0, -1.0)"},
    **{"copysign": "ph.where(x > 0, y, -y)", "float": "the number itself", "int": "ph.where", "round": "ph.where"},
    **{"matmul": "A @ x of ph.Vec", "sum": "+", "prod": "*"},
}
"""What stands for a call of `math`, of NumPy or of Python on generic scalars."""

CALL = re.compile(r"(?:\b(?:math|cmath|np|numpy)\.(?:linalg\.)?|(?<![\w.]))(\w+)\(")


def compile_fault(error: BaseException) -> str:
    """Where in a user's file a trace failed, by which call, and what to write instead, on one line; "" where no user
    function was to blame.

    error  what the function raised when it was called with symbols
    """
    told = (str(error).splitlines() or [type(error).__name__])[0]
    frames = [frame for frame in extract_tb(error.__traceback__) if not _is_in(frame, [PACKAGE])]
    libraries = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")]
    own = [
        x for x in frames if not _is_in(x, libraries) and not x.filename.startswith(("<frozen", "<__array"))
    ] or frames
    if not own:
        return ""
    frame = own[-1]
    code = _code(frame)
    return f"{Path(frame.filename).name}:{frame.lineno}, `{code}`: {_advice(code, frame.line or '') or told}"


def _is_in(frame: FrameSummary, folders: list[Path]) -> bool:
    parents = Path(frame.filename).parents
    return any(folder in parents for folder in folders)


def _code(frame: FrameSummary) -> str:
    """The piece of the line that was being worked out, as Python knows it; else the line."""
    line = linecache.getline(frame.filename, frame.lineno or 0).rstrip("\n")
    if frame.end_lineno == frame.lineno and frame.colno is not None and frame.end_colno is not None:
        return line.encode()[frame.colno : frame.end_colno].decode(errors="replace")
    return line.strip()


def _advice(code: str, line: str) -> str:
    """What to write instead of a piece of code."""
    called = CALL.match(code.strip())
    if called and called.group(1) in INSTEAD:
        return f"write {INSTEAD[called.group(1)]}"
    branch = re.search(r"\b(if|while|and|or|not|elif)\b", line)
    if branch and not called:
        word = branch.group(1)
        instead = {"and": "& between conditions", "or": "| between conditions", "not": "~ before the condition"}
        return (
            f"`{word}` on a value that depends on the state: write {instead.get(word, 'ph.where(condition, yes, no)')}"
        )
    return ""
