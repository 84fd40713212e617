"""Containers that PLFS itself wrote; tests/data/README.md says how."""

from pathlib import Path

import pytest

from halcyon import logfs

DATA = Path(__file__).parents[2] / "data" / "plfs"
_LETTERS = 23


def _written() -> bytes:
    """What writes.txt says, one line after the other: process, offset, bytes, and the letter at offset 0."""
    content = bytearray()
    for line in (DATA / "writes.txt").read_text().splitlines():
        _, offset, size, letter = line.split()
        begin, end = int(offset), int(offset) + int(size)
        content.extend(bytes(max(0, end - len(content))))
        content[begin:end] = bytes(ord(letter) + at % _LETTERS for at in range(begin, end))
    return bytes(content)


@pytest.mark.parametrize(
    ("name", "size", "lost"),
    [("overwritten", 6077, (0, 0)), ("shrunk", 1234, (100, 350)), ("grown", 9000, (0, 0)), ("flattened", 6077, (0, 0))],
)
def test_containers_of_plfs_are_read_as_plfs_reads_them(name: str, size: int, lost: tuple[int, int]) -> None:
    expected = bytearray(_written()[:size].ljust(size, b"\0"))
    expected[slice(*lost)] = bytes(lost[1] - lost[0])
    with logfs.open(DATA / name, "rb") as file:
        assert file.read() == expected
