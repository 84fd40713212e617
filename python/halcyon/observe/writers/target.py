"""Where an export goes: a name that nothing has yet, given only to what is whole."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halcyon.errors import HalcyonError, HalcyonSystemError, UsageError

EXPORTED = "exported-by-halcyon"
"""A file in an exported archive that tells it from the trace of a run of its own; it names the run's source."""


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A hidden name for a file or folder to be made; it becomes `path` when the block ends without an error."""
    if path.exists():
        raise UsageError(f"{path}: exists already; name a file or folder that does not, or remove it")
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.absolute().parent))
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    try:
        yield folder / path.name
        (folder / path.name).replace(path)
    except HalcyonError:
        raise
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    finally:
        shutil.rmtree(folder, ignore_errors=True)
