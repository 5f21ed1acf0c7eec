"""Several modules in one piece of memory: a kernel and the routines that it shares with others."""

import struct
from collections.abc import Sequence

MAGIC = b"polhode modules\n"


def joined(parts: Sequence[bytes]) -> bytes:
    """Object code, or bitcode, of several modules as one; that of one module is as it is."""
    if len(parts) == 1:
        return parts[0]
    return b"".join((MAGIC, struct.pack(f"<{1 + len(parts)}Q", len(parts), *map(len, parts)), *parts))


def divided(whole: bytes) -> list[bytes]:
    """The parts that `joined` made one; a ValueError where it did not."""
    if not whole.startswith(MAGIC):
        return [whole]
    at = len(MAGIC)
    try:
        (count,) = struct.unpack_from("<Q", whole, at)
        lengths = struct.unpack_from(f"<{count}Q", whole, at + 8) if count <= len(whole) // 8 else ()
    except struct.error as error:
        raise ValueError("no table of modules") from error
    at += 8 * (1 + count)
    if len(lengths) != count or at + sum(lengths) != len(whole):
        raise ValueError("modules of other lengths")
    found = []
    for length in lengths:
        found.append(whole[at : at + length])
        at += length
    return found
