"""Files that appear under their names only when they are whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from halcyon.errors import HalcyonError, HalcyonSystemError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A hidden name beside `path` to write to; it replaces `path` when the block ends, and vanishes if that raises.

    HalcyonSystemError, of `path`: an OSError of the block, or of the replacement. Errors of ours pass as they are.
    """
    hidden = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield hidden
        hidden.replace(path)
    except HalcyonError:
        raise
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    finally:
        with suppress(OSError):
            hidden.unlink()
