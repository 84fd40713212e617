"""Bytes of containers that several writers wrote at times that do not say which was last."""

from collections.abc import Iterable
from pathlib import Path

from halcyon.compiled import load_compiled
from halcyon.errors import HalcyonError
from halcyon.logfs import tools
from halcyon.quantities import size

MOST_WRITERS, MOST_INDEX_BYTES = 256, 4 << 20
"""What is looked at behind a command, of all containers together: some tenths of a second."""


def conflicts_in_words(path: Path | str, conflict_bytes: int, *, is_plain: bool = False) -> str:
    """A sentence, with what to do next. `is_plain`: a plain file was made of the container."""
    return str(load_compiled("_logfs").conflict_in_words(path, size(conflict_bytes), is_plain))


def found_soon(containers: Iterable[Path]) -> dict[Path, int]:
    """Bytes of those containers that have any. Those that were published last are looked at first, and only for as long
    as their indexes are small: what is left out may have some, too."""
    found: dict[Path, int] = {}
    writers_left, bytes_left = MOST_WRITERS, MOST_INDEX_BYTES
    for container in sorted(containers, key=_published_ns, reverse=True):
        indexes = list(container.glob("hostdir.*/index.*"))
        writers_left -= len(indexes)
        if writers_left < 0:
            break
        try:
            bytes_left -= sum(index.stat().st_size for index in indexes)
            if bytes_left < 0:
                break
            if len(indexes) > 1 and (bytes_of_it := tools.conflict_bytes(container)):
                found[container] = bytes_of_it
        except (HalcyonError, OSError):
            continue  # it was removed, or made plain, a moment ago; or it is damaged, which is said elsewhere
    return found


def _published_ns(container: Path) -> int:
    try:
        return (container / "halcyon-descriptor").stat().st_mtime_ns
    except OSError:
        return 0
