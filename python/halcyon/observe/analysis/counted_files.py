"""Files of a source that kept reads and writes as calls and counted all others: Darshan with DXT."""

from collections.abc import Iterable
from dataclasses import replace

from halcyon.observe.analysis.files import File


def with_counters(called: Iterable[File], counted: Iterable[File]) -> list[File]:
    """`called` with the opens, stats, syncs and times of `counted`, and the files that are only there."""
    known = {file.file: file for file in counted}
    merged = []
    for file in called:
        other = known.pop(file.file, None)
        if other is not None:
            own = {name: getattr(other, name) for name in ("opens", "stats", "syncs", "seconds")}
            file = replace(file, **own)
        merged.append(file)
    merged += known.values()
    return sorted(merged, key=lambda one: (-(one.bytes_read + one.bytes_written), -one.seconds, one.file))
