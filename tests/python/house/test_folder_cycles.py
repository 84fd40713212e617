"""Folders of a room include each other in one order: no folder needs one that needs it."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[3] / "src"
ROOMS = sorted(folder.name for folder in SOURCES.iterdir() if folder.is_dir())
IN_CYCLES = {"calls", "programs"}
"""Rooms of which some folders depend on each other."""


def cycle(sources: Path, room: str) -> list[str]:
    """Folders of the room, each of which the next one includes; the first is the last. Empty: there are none."""
    included: dict[str, set[str]] = {}
    for source in (sources / room).rglob("*"):
        if source.suffix not in {".h", ".hpp", ".c", ".cpp"}:
            continue
        folder = source.parent.relative_to(sources).as_posix()
        headers = re.findall(rf'^\s*#\s*include "({room}/[^"]+)"', source.read_text(encoding="utf-8"), re.MULTILINE)
        included.setdefault(folder, set()).update(Path(each).parent.as_posix() for each in headers)
        included[folder].discard(folder)
    try:
        TopologicalSorter(included).prepare()
    except CycleError as why:
        return list(why.args[1])
    return []


@pytest.mark.parametrize("room", sorted(set(ROOMS) - IN_CYCLES))
def test_folders_of_a_room_include_each_other_in_one_order(room: str) -> None:
    assert not cycle(SOURCES, room)


@pytest.mark.parametrize("room", sorted(IN_CYCLES))
def test_a_room_that_is_left_out_has_a_cycle(room: str) -> None:
    assert cycle(SOURCES, room), f"{room}: its folders have an order by now; take the room out of IN_CYCLES"


def test_a_cycle_is_found(tmp_path: Path) -> None:
    for folder, includes in (("election", "daemon"), ("daemon", "election"), ("page", "page")):
        (tmp_path / "coordinate" / folder).mkdir(parents=True)
        (tmp_path / "coordinate" / folder / "one.hpp").write_text(f'#include "coordinate/{includes}/one.hpp"\n')
    assert set(cycle(tmp_path, "coordinate")) == {"coordinate/election", "coordinate/daemon"}
