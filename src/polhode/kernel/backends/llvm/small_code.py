"""Object code of a few lines of LLVM's text, the same for all kernels: from the disk, or compiled now."""

from polhode.kernel.backends.llvm.object_parts import is_object
from polhode.kernel.backends.llvm.target_machine import machine, processor_identity
from polhode.kernel.cache import FACTS, CachedKernel, key, load, save


def small_code(name: str, text: str) -> bytes:
    """The object code of a text; name: what it is, for its file."""
    import llvmlite.binding as llvm

    full = key(name, text, processor_identity())
    entry = load(full, suffix=FACTS)
    if entry is None or entry.facts != {"name": name} or not is_object(entry.image):
        entry = CachedKernel({"name": name}, machine().emit_object(llvm.parse_assembly(text, llvm.create_context())))
        save(full, entry, suffix=FACTS)
    return entry.image
