"""Where a model's other files may lie: its folder and its package roots, nowhere else."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

LEVELS = 8
"""How many folders above a model are looked at for a package."""


@dataclass(frozen=True)
class Folders:
    """The folder of a model file (None for a text) and the package roots the user named."""

    home: Path | None
    packages: tuple[Path, ...] = ()

    def inside(self, path: Path) -> bool:
        """Whether a path, links followed, stays in the model's folder or a package root."""
        real = path.resolve()
        return any(real.is_relative_to(root.resolve()) for root in self._roots())

    def _roots(self) -> Iterable[Path]:
        if self.home is not None:
            yield self.home
        yield from self.packages

    def beside(self, name: str) -> Path | None:
        """The path of a file given relative to the model's folder; None if it leaves the folders."""
        return None if self.home is None else self.near(self.home, name)

    def near(self, folder: Path, name: str) -> Path | None:
        """The path of a file given relative to one of the model's folders; None if it leaves them."""
        path = folder / name
        try:
            return path if self.inside(path) else None
        except (OSError, RuntimeError, ValueError):  # a loop of links, too long a name, a zero byte
            return None

    def package(self, uri: str) -> Path | None:
        """The path of package://NAME/rest; None if it leaves NAME's folder, or there is no such package.

        NAME is a folder in a package root (or a root itself), a folder above the model, or a folder
        beside one of those that holds a package.xml.
        """
        name, _, rest = uri.removeprefix("package://").partition("/")
        if name in ("", ".", "..") or "\\" in name or PurePosixPath(rest).is_absolute():
            return None
        try:
            for folder in self._package_folders(name):
                path = folder / rest
                if path.resolve().is_relative_to(folder.resolve()) and path.exists():
                    return path
        except (OSError, RuntimeError, ValueError):
            pass
        return None

    def _package_folders(self, name: str) -> Iterable[Path]:
        for root in self.packages:
            yield from (folder for folder in (root / name, root) if folder.name == name and folder.is_dir())
        above = list(self.home.resolve().parents)[:LEVELS] if self.home is not None else []
        for folder in [self.home.resolve(), *above] if self.home is not None else []:
            if folder.name == name:
                yield folder
            elif (folder / name / "package.xml").is_file():
                yield folder / name


def folders_of(source: str | Path, is_text: bool, packages: Iterable[str | Path] = ()) -> Folders:
    """The folders of a model that was given as a path or as a text."""
    return Folders(None if is_text else Path(source).parent, tuple(Path(p) for p in packages))
