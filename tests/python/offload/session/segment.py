"""Reads and damages the shared memory that the processes of a run hold (src/offload/segment/segment.hpp)."""

import struct
from enum import Enum
from pathlib import Path

PAGES = 4096
"""Where the pages of the clients begin; the rings follow on the next page."""
PAGE_BYTES = 192
FIRST_RING = 2 * PAGES


TENURE = 24
"""Where its word lies; the lowest byte is the phase."""
ABANDONED = 3
STORED_THROUGH = 520
"""The last iteration such that it and all before it are stored and counted."""


class Word(Enum):
    """A word of a client's page: its offset and its format."""

    WAITING = (0, "<I")
    CLOSED = (4, "<I")
    ENDED_THROUGH = (64, "<q")
    SKIPPED_BLOCKS = (72, "<Q")
    SPILLED_BLOCKS = (88, "<Q")
    INLINED_BLOCKS = (104, "<Q")
    SIGNALS_TAKEN = (128, "<Q")
    SIGNALS_DONE = (136, "<Q")


def segment_of(process: int) -> Path:
    for name in Path(f"/proc/{process}/fd").iterdir():
        if "halcyon-segment" in str(name.readlink()):
            return name
    raise AssertionError(f"process {process} has no segment")


def words(process: int, word: Word, clients: int) -> list[int]:
    """What each client's page says."""
    offset, form = word.value
    with segment_of(process).open("rb") as segment:
        found = []
        for client in range(clients):
            segment.seek(PAGES + client * PAGE_BYTES + offset)
            found.append(struct.unpack(form, segment.read(struct.calcsize(form)))[0])
    return found


def is_abandoned(process: int) -> bool:
    """Whether the clients know that no server comes any more (src/offload/segment/tenure.hpp)."""
    with segment_of(process).open("rb") as segment:
        segment.seek(TENURE)
        return segment.read(1)[0] == ABANDONED


def stored_through(process: int) -> int:
    with segment_of(process).open("rb") as segment:
        segment.seek(STORED_THROUGH)
        return int(struct.unpack("<q", segment.read(8))[0])


def damage(process: int, offset: int, value: int) -> None:
    """Writes 8 bytes into the segment that a process holds."""
    with segment_of(process).open("r+b") as segment:
        segment.seek(offset)
        segment.write(struct.pack("<Q", value))
