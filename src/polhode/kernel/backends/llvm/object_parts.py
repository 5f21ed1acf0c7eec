"""Several modules in one piece of memory: a kernel and the routines that it shares with others."""

import struct
import sys
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


def is_object(image: bytes) -> bool:
    """Whether object code is whole, as far as that shows: that of each of its modules."""
    try:
        return all(map(_is_whole, divided(image)))
    except ValueError:
        return False


def _is_whole(image: bytes) -> bool:
    """Whether an ELF file (of other formats the linker judges) has the tables its head tells of: LLVM trusts them."""
    if image[:4] != b"\x7fELF":
        return not sys.platform.startswith("linux")
    if len(image) < 64:
        return False
    (at,) = struct.unpack_from("<Q", image, 40)
    size, count, names = struct.unpack_from("<3H", image, 58)
    if size != 64 or not names < count or at + size * count > len(image):
        return False
    sections = [struct.unpack_from("<IIQQQQ", image, at + size * k) for k in range(count)]
    inside = all(kind in (0, 8) or offset + length <= len(image) for _, kind, _, _, offset, length in sections)
    return inside and sections[names][1] == 3  # kinds: 0 none, 8 no data in the file, 3 text
