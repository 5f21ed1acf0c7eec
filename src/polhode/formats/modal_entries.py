"""Modal bodies of a model file: their keys, and the records of them.

modal:
  bracket: {file: bracket.npz, interfaces: {bolt: 12, pin: [340, 341, 342]}, modes: 12, damping_ratio: 0.01}
"""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Discriminator, StrictInt, StrictStr, Tag

from polhode.errors import ModelError, message
from polhode.formats.entries.entry_values import frozen
from polhode.formats.file_values import Entry, Value, needed, optional
from polhode.formats.finite_elements.read import raw_matrices
from polhode.formats.folders import Folders
from polhode.model.modal.body import ModalBody


class MatrixFilesEntry(Entry):
    """Matrices in files of their own."""

    mass: StrictStr = needed("the mass matrix, .mtx")
    stiffness: StrictStr = needed("the stiffness matrix, .mtx")
    nodes: StrictStr = needed("lines of x y z, or number x y z")


_FILE = Annotated[
    Annotated[MatrixFilesEntry, Tag("three files")] | Annotated[StrictStr, Tag("a file")],
    Discriminator(lambda value: "three files" if isinstance(value, dict) else "a file"),
]
_NODES = Annotated[
    Annotated[list[StrictInt], Tag("nodes")] | Annotated[StrictInt, Tag("a node")],
    Discriminator(lambda value: "nodes" if isinstance(value, list) else "a node"),
]
_RATIOS = Annotated[
    Annotated[list[Value], Tag("one each")] | Annotated[Value, Tag("one for all")],
    Discriminator(lambda value: "one each" if isinstance(value, list) else "one for all"),
]


class ModalEntry(Entry):
    """A flexible body by modes of its finite-element matrices."""

    file: _FILE = needed(
        "matrices: .npz, .sti, .bdf, …, beside the model file; or mass, stiffness, nodes of .mtx files"
    )
    interfaces: dict[str, _NODES] = needed("nodes by name: one, or several that move as one rigid piece")
    modes: StrictInt = optional("with the interfaces held; 12 unless given")
    damping_ratio: _RATIOS = optional("of all modes, or one each; 0 unless given")
    frame: StrictStr = optional("the interface that the frame of the body is fixed to; unless given, it floats")
    units: StrictStr = optional("of the file: 'm, kg, s' unless given, or 'mm, t, s', …")
    mass: Value = optional("that it should have, kg")


def modal_of(pairs: Iterator[tuple[str, ModalEntry]], folders: Folders) -> list[ModalBody]:
    """The modal bodies of a file."""
    found = []
    for name, entry in pairs:
        given = {key: frozen(value) for key, value in entry.__dict__.items() if key in entry.model_fields_set}
        given["interfaces"] = entry.interfaces
        source, where = given.pop("file"), f"modal '{name}', file"
        if isinstance(entry.file, MatrixFilesEntry):
            source = {
                part: _inside(where, folders, getattr(entry.file, part)) for part in ("mass", "stiffness", "nodes")
            }
        else:
            source = _inside(where, folders, source)
        _, raw = raw_matrices(source)
        made = raw._asdict()
        found.append(ModalBody.from_matrices(name, made.pop("M"), made.pop("K"), made.pop("nodes"), **given, **made))
    return found


def _inside(where: str, folders: Folders, name: str) -> Any:
    """The path of a file beside the model file."""
    path = folders.beside(name)
    if path is None:
        found = "a text has no folder" if folders.home is None else repr(name)
        raise ModelError(message(where, "not beside the model file", found, "a file in the folder of the model"))
    return path
