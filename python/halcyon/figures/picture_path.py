"""Where a picture can be saved; asked before anything is computed, without what draws it."""

from pathlib import Path

from halcyon.errors import UsageError

ENDINGS = (".svg", ".png")


def picture_path(path: Path) -> Path:
    """The path, where a picture can be saved there. UsageError: its ending is of no picture, or it has no folder."""
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"-o {path}: expected a name that ends in {' or '.join(ENDINGS)}")
    if not path.parent.is_dir():
        raise UsageError(f"-o {path}: {path.parent} is no directory; create it, or name another one")
    if path.is_dir():
        raise UsageError(f"-o {path}: a directory of this name exists; expected the name of a file")
    return path
