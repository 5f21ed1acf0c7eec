"""The kinds of model files: one row each, and a module that is imported when the first such file is read."""

from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.loading import imported
from polhode.model import Model


class FileFormat(NamedTuple):
    """A kind of model file.

    name      as messages call it
    suffixes  endings of its files; .xml files are told apart by their first element
    loader    "module.function" of (path, **options) -> Model
    root      the first element of its files, for kinds of XML
    options   the options of `load` that its loader takes
    """

    name: str
    suffixes: tuple[str, ...]
    loader: str
    root: str = ""
    options: tuple[str, ...] = ()


FORMATS = (
    FileFormat("our YAML", (".yaml", ".yml"), "polhode.formats.yaml.load_yaml"),
    FileFormat(
        "URDF",
        (".urdf", ".xml"),
        "polhode.formats.urdf.load_urdf",
        "robot",
        ("base", "mimic", "friction", "packages", "srdf"),
    ),
    FileFormat(
        "SDF",
        (".sdf", ".world", ".xml"),
        "polhode.formats.sdf.reader.load_sdf",
        "sdf",
        ("mimic", "friction", "packages"),
    ),
    FileFormat(
        "Drake's directives",
        (".dmd.yaml",),
        "polhode.formats.directives.load_directives",
        options=("mimic", "friction", "packages"),
    ),
    FileFormat(
        "USD", (".usd", ".usda", ".usdc", ".usdz"), "polhode.formats.usd.reader.load_usd", options=("packages",)
    ),
    FileFormat("MJCF", (".xml",), "polhode.formats.mjcf.reader.load_mjcf", "mujoco", ("friction", "packages")),
)


FRICTION = ("ignore", "regularised", "events")
"""What becomes of dry friction of joints in a file: it is ignored and told, or a `JointFriction` by this method."""


def by_suffix() -> dict[str, list[FileFormat]]:
    """The formats of each suffix, by name."""
    suffixes = dict.fromkeys(suffix for row in FORMATS for suffix in row.suffixes)
    return {suffix: sorted(row for row in FORMATS if suffix in row.suffixes) for suffix in suffixes}


def takers(option: str) -> list[str]:
    """The names of the formats whose loaders take an option of `load`."""
    return [row.name for row in FORMATS if option in row.options]


def function_named(path: str) -> Callable[..., Any]:
    """A function by its module and name, imported when it is used.

    Not by plain imports: all readers together would add 40 ms, a tenth, to the first `ph.load` of a bundled model.
    """
    module, _, name = path.rpartition(".")
    return getattr(imported(module), name)


def model_of_text(text: str, where: str) -> Model:
    """The model of a text in our YAML; where: what errors call it."""
    return function_named("polhode.formats.yaml.model_from_yaml")(text, where)
