"""writers: N ranks, N files, M files or one: what lies where, by every way."""

from pathlib import Path

import numpy as np
import pytest
from mini_apps import MiniApps

RANKS, BLOCK, BLOCKS = 4, 1000, 8
SETTINGS = {"block": BLOCK, "blocks": BLOCKS, "blocks_per_call": 4}


def block_of(rank: int, number: int) -> bytes:
    i = np.arange(BLOCK)
    return ((rank * 131 + number * 31 + i * 7 + i // 256) % 256).astype("u1").tobytes()


def interleaved(ranks: int) -> bytes:
    return b"".join(block_of(rank, number) for number in range(BLOCKS) for rank in range(ranks))


def segmented(ranks: int) -> bytes:
    return b"".join(block_of(rank, number) for rank in range(ranks) for number in range(BLOCKS))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("way", ["posix", "view", "collective"])
def test_blocks_of_one_file_lie_between_those_of_other_ranks(mini_apps: MiniApps, way: str) -> None:
    run = mini_apps.run("writers", RANKS, **SETTINGS, files=1, way=way, shift=1)
    assert contents(run) == {"writers.0000": interleaved(RANKS)}


def test_blocks_of_a_rank_may_lie_one_behind_the_other(mini_apps: MiniApps) -> None:
    run = mini_apps.run("writers", RANKS, **SETTINGS, files=1, order="segmented")
    assert contents(run) == {"writers.0000": segmented(RANKS)}


def test_neighbours_share_one_of_fewer_files(mini_apps: MiniApps) -> None:
    run = mini_apps.run("writers", RANKS, **SETTINGS, files=2)
    assert contents(run) == dict.fromkeys(("writers.0000", "writers.0001"), interleaved(RANKS // 2))


def test_a_file_for_each_rank(mini_apps: MiniApps) -> None:
    run = mini_apps.run("writers", RANKS, **SETTINGS, files=0)
    assert contents(run) == {f"writers.{rank:04d}": interleaved(1) for rank in range(RANKS)}


def test_other_bytes_than_were_written_are_an_error(mini_apps: MiniApps) -> None:
    run = mini_apps.run("writers", RANKS, **SETTINGS, do="write")
    file = run / "writers.0000"
    ends = mini_apps.start("writers", RANKS, **SETTINGS, do="read", directory=run.name)
    assert ends.returncode == 0, ends.stderr
    with file.open("r+b") as changed:
        changed.seek(BLOCK * RANKS * BLOCKS - 1)
        changed.write(b"\0")
    ends = mini_apps.start("writers", RANKS, **SETTINGS, do="read", directory=run.name)
    assert ends.returncode != 0
    assert "other bytes than were written" in ends.stdout + ends.stderr


def test_times_of_steps_are_printed(mini_apps: MiniApps) -> None:
    ends = mini_apps.start("writers", RANKS, **SETTINGS, files=1, sync=0)
    bytes_moved = RANKS * BLOCK * BLOCKS
    assert f"wrote {bytes_moved} bytes, 1 files, " in ends.stdout
    assert f"read {bytes_moved} bytes, 1 files, " in ends.stdout


def test_words_that_make_no_sense_are_refused(mini_apps: MiniApps) -> None:
    for words, reason in (
        ({"files": 5}, "at most one for each of the 4 ranks"),
        ({"way": "telepathy"}, "expected posix, view or collective"),
        ({"way": "view", "order": "segmented"}, "expected order=interleaved"),
        ({"blocks": 7}, "expected a multiple of 4"),
    ):
        ends = mini_apps.start("writers", RANKS, **{**SETTINGS, **words})
        assert ends.returncode != 0
        assert reason in ends.stdout + ends.stderr
