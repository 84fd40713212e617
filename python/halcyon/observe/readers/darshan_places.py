"""Where the modules of a Darshan log lie: its library tells how long they are, and not where."""

import struct
from pathlib import Path

FIRST_PLACES = (24, 32)
"""Where the table of places begins: behind version, magic number, compression and flags, longer since version 3.41."""
MOST_BYTES = 16 * 65
"""The table is no longer: two numbers of 64 bits, offset and bytes, of the names and of 64 modules."""


def places_of(path: Path, lengths: dict[int, int]) -> dict[int, range]:
    """The bytes of the file that each module takes; none where the header does not agree with all `lengths`.

    `lengths`: of the modules in the log, in bytes, by their indices. (Those of the file differ: older logs have fewer
    modules, and the library renumbers them in the same order.)
    """
    with path.open("rb") as file:
        header = file.read(FIRST_PLACES[-1] + MOST_BYTES)
    indices = sorted(lengths)
    for first in FIRST_PLACES:
        table = header[first : first + (len(header) - first) // 16 * 16]
        modules = [place for place in list(struct.iter_unpack("<QQ", table))[1:] if place[1] > 0][: len(indices)]
        if [length for _, length in modules] == [lengths[index] for index in indices]:
            return {
                index: range(begin, begin + length) for index, (begin, length) in zip(indices, modules, strict=True)
            }
    return {}
