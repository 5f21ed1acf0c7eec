"""A call by name, little overhead: from system.jacobian(q, "hand", axes="local") to the built-in of that hand.

One function in machine code serves all: it compares the name, and the word that was given by keyword, with those of one
built-in, as objects, and calls it; anything else goes to a Python callable, which looks names up. In Python, a look-up
and the call that follows it take as long as the kernel of a small machine.
"""

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from polhode.kernel.backends.llvm.builtin_text import BYTES_HEADER, SIZE
from polhode.kernel.backends.llvm.compile import small_function
from polhode.kernel.backends.llvm.cpython_call import Context, addresses, new_builtin

CONTEXT = ("count", "name", "keyword", "word", "entry", "built_in", "origin", "fallback", "vectorcall")
"""The context: how many arrays stand before the name, then addresses; 0 where there is none."""

MOST_ARRAYS = 6
"""Arrays before the name."""

_FIELDS = "\n".join(
    f"  %at.{name} = getelementptr i8, ptr %self, i64 {BYTES_HEADER + 8 * k}\n"
    f"  %{name} = load {'i64' if name == 'count' else 'ptr'}, ptr %at.{name}, align 8"
    for k, name in enumerate(CONTEXT)
)

TEXT = f"""
define ptr @named(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{
start:
  %given = alloca [{MOST_ARRAYS + 1} x ptr], align 8
{_FIELDS}
  %behind = add i64 %count, 1
  %fits = icmp eq i64 %nargs, %behind
  br i1 %fits, label %names, label %slow
names:
  %at = getelementptr ptr, ptr %args, i64 %count
  %first = load ptr, ptr %at, align 8
  %same = icmp eq ptr %first, %name
  br i1 %same, label %keywords, label %slow
keywords:
  %plain = icmp eq ptr %keyword, null
  %none = icmp eq ptr %kwnames, null
  br i1 %none, label %without, label %with
without:
  br i1 %plain, label %copy, label %slow
with:
  %at.size = getelementptr i8, ptr %kwnames, i64 {SIZE}
  %size = load i64, ptr %at.size, align 8
  %one = icmp eq i64 %size, 1
  br i1 %one, label %single, label %slow
single:
  %at.first = getelementptr i8, ptr %kwnames, i64 {tuple.__basicsize__}
  %key = load ptr, ptr %at.first, align 8
  %at.value = getelementptr ptr, ptr %args, i64 %behind
  %value = load ptr, ptr %at.value, align 8
  %known = icmp eq ptr %key, %keyword
  %chosen = icmp eq ptr %value, %word
  %both = and i1 %known, %chosen
  br i1 %both, label %copy, label %slow
copy:
  %k = phi i64 [ 0, %without ], [ 0, %single ], [ %next, %copied ]
  %more = icmp ult i64 %k, %count
  br i1 %more, label %copied, label %call
copied:
  %from = getelementptr ptr, ptr %args, i64 %k
  %array = load ptr, ptr %from, align 8
  %to = getelementptr ptr, ptr %given, i64 %k
  store ptr %array, ptr %to, align 8
  %next = add i64 %k, 1
  br label %copy
call:
  %end = getelementptr ptr, ptr %given, i64 %count
  store ptr %origin, ptr %end, align 8
  %pointed = icmp ne ptr %origin, null
  %further = zext i1 %pointed to i64
  %all = add i64 %count, %further
  %found = call ptr %entry(ptr %built_in, ptr %given, i64 %all, ptr null)
  ret ptr %found
slow:
  %answer = call ptr %vectorcall(ptr %fallback, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %answer
}}
"""


@cache
def _function() -> tuple[int, Any]:
    """The address of the function, and what must live as long as it."""
    return small_function("named", TEXT)


def named_call(
    title: str, built_in: Callable, before: int, names: tuple[str, ...], origin: np.ndarray | None, fallback: Callable
) -> Callable | None:
    """A built-in for calls with arrays, then a name, then at most one word by keyword; None if not to be had.

    title     the name of the method
    built_in  for one state: the arrays, then the origin
    before    arrays before the name
    names     the name; the keyword and its word, where one is to be given
    origin    the last array of the built-in, which is not given; None: there is none
    fallback  what takes all other calls
    """
    context = getattr(built_in, "__self__", None)
    if not isinstance(context, Context) or before > MOST_ARRAYS:
        return None
    entry, kept = _function()
    name, keyword, word = (*names, None, None)[:3]
    objects = {"name": name, "keyword": keyword, "word": word, "built_in": context, "origin": origin}
    values = {known: 0 if value is None else id(value) for known, value in objects.items()}
    values |= {"count": before, "entry": context.entry, "fallback": id(fallback)}
    values["vectorcall"] = addresses()["vectorcall"]
    own = Context(struct.pack(f"<{len(CONTEXT)}q", *(values[field] for field in CONTEXT)))
    holder = getattr(fallback, "__self__", None)
    own.owner, own.entry = holder.owner if isinstance(holder, Context) else holder, entry
    return new_builtin(title, entry, own, fallback, (kept, built_in, names, origin))
