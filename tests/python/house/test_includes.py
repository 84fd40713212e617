"""A room includes only headers of the rooms that the architecture allows it; public headers stand alone.

The table is the one by which CMake links the rooms. A header without a source needs no link, so CMake lets it pass.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SUFFIXES = {".h", ".hpp", ".c", ".cpp"}


def rooms() -> dict[str, set[str]]:
    """Each room with the rooms it may use."""
    text = (ROOT / "cmake/rooms.cmake").read_text(encoding="utf-8")
    listed = re.search(r"^set\(HALCYON_ROOMS ([\w ]+)\)", text, re.MULTILINE)
    assert listed
    table = {m[1]: set(m[2].split()) for m in re.finditer(r"^set\(HALCYON_MAY_USE_(\w+)([\w ]*)\)", text, re.MULTILINE)}
    assert table.keys() == set(listed[1].split())
    for room, may_use in table.items():
        if room != "base":
            may_use.add("models")
    return table


ROOMS = rooms()


def breaches(room: str, source: Path, may_use: set[str]) -> Iterator[str]:
    known = ROOMS.keys() | {"programs"}
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        included = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not included:
            continue
        first = included[1].split("/")[0]
        if first == "..":
            yield f"{source}:{number}: {included[1]}: name a header from src/"
        elif first in known and "/" in included[1] and first != room and first not in may_use:
            yield f"{source}:{number}: '{room}' may not use '{first}'; it may use: {', '.join(sorted(may_use))}"


def sources(folder: Path) -> list[Path]:
    return sorted(f for f in folder.rglob("*") if f.suffix in SUFFIXES)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_includes_only_rooms_it_may_use(room: str) -> None:
    found = [b for source in sources(ROOT / "src" / room) for b in breaches(room, source, ROOMS[room])]
    assert not found, "\n".join(found)


def test_public_headers_include_nothing_of_the_rooms() -> None:
    headers = sources(ROOT / "include")
    assert headers
    found = [b for header in headers for b in breaches("include", header, set())]
    assert not found, "\n".join(found)


def test_every_folder_of_the_sources_is_a_room_or_where_rooms_meet() -> None:
    folders = {folder.name for folder in (ROOT / "src").iterdir() if folder.is_dir()}
    assert "offload" in folders
    assert folders <= ROOMS.keys() | {"programs"}


def test_a_breach_is_found(tmp_path: Path) -> None:
    header = tmp_path / "layer.hpp"
    header.write_text('#include <vector>\n#include "base/error.hpp"\n#include "predict/grammar.hpp"\n')
    (found,) = breaches("observe", header, ROOMS["observe"])
    assert found.startswith(f"{header}:3: 'observe' may not use 'predict'")
