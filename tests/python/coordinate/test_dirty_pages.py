"""Bytes in the node's caches are still moving: the next turn begins when they have reached the storage."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from coordinator_process import PATIENT, CoordinatorProcess, wait_until
from image_disk import Disk, image_disk
from scripted_agents import Agent, has_turn, run_until

Start = Callable[..., CoordinatorProcess]

pytestmark = pytest.mark.usefixtures("library")

PAGE, PAGES = 4096, 256
TRIES = 5
"""The system writes pages by itself every 5 s."""
# Writes that many pages, each of which begins with the word that a line names.
WRITER = f"""
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
for line in sys.stdin:
    page = line.strip().encode().ljust({PAGE}, b".")
    os.write(fd, page * {PAGES})
    print("written", flush=True)
"""


class Writer:
    """A program with buffered writes on `disk`, under `halcyon run --coordinate`. Its phases end after so much time."""

    def __init__(self, of: CoordinatorProcess, disk: Disk, pause_ms: int) -> None:
        halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--no-predict"]
        self.disk = disk
        self.process = subprocess.Popen(
            [*halcyon, "--coordinators", str(of.config), "--", sys.executable, "-c", WRITER, disk.folder / "file"],
            cwd=disk.folder.parent, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=os.environ
            | {"HALCYON_COORDINATE_PATIENCE_MS": "20000", "HALCYON_COORDINATE_PAUSE_MS": str(pause_ms)},
        )  # fmt: skip
        self._words = (f"{os.urandom(8).hex()}-{number}." for number in count())

    def write(self) -> bytes:
        """In turn. The word, of which nothing has reached the disk yet."""
        while True:
            word = self.write_once()
            if self.disk.count(word) == 0:  # the system has written none by itself
                return word

    def write_once(self) -> bytes:
        """In turn. The word."""
        word = next(self._words)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "written\n"
        return word.encode()

    def end(self) -> None:
        _, said = self.process.communicate()
        assert self.process.returncode == 0, said
        assert "out of turn" not in said
        assert "did not clean" not in said


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with image_disk(tmp_path / "scratch") as made:
        yield made


def states(of: CoordinatorProcess) -> list[str]:
    return [one.state for one in of.top().applications if one.job != "other"]


def has_turn_with_pages_on_disk(other: Agent, disk: Disk, word: bytes) -> None:
    run_until([other], has_turn(other), "the other one has the turn")
    assert disk.count(word) == PAGES, "the pages of the one before are still in the cache"


def between_phases(start: Start, disk: Disk, lease: int) -> tuple[Writer, Agent]:
    """A program that has written once and has no standing turn, and another application; with leases of this size."""
    of = start(paths=[str(disk.folder)], lease={"first": lease, "most": lease, "least": lease}, times=PATIENT)
    writer = Writer(of, disk, pause_ms=100)
    writer.write()
    other = Agent(of, "other")
    run_until([other], lambda: states(of) == ["computing"], "nobody has a standing turn")
    return writer, other


def test_an_interrupted_program_has_written_its_pages_when_the_next_one_has_the_turn(start: Start, disk: Disk) -> None:
    of = start(paths=[str(disk.folder)], policy="interrupt", times=PATIENT | {"stop": "60 s"})
    writer = Writer(of, disk, pause_ms=60_000)
    word = writer.write()
    wait_until(lambda: states(of) == ["moving"], "the phase goes on")
    other = Agent(of, "other")
    other.begin()
    has_turn_with_pages_on_disk(other, disk, word)
    assert of.count("recalls") >= 1
    other.release()
    run_until([other], lambda: states(of) == ["moving"], "the phase goes on")
    writer.write()
    writer.end()


def test_a_standing_turn_is_given_back_when_the_pages_of_the_last_phase_are_written(start: Start, disk: Disk) -> None:
    of = start(paths=[str(disk.folder)], times=PATIENT | {"stop": "60 s"})
    writer = Writer(of, disk, pause_ms=10)
    word = writer.write()
    wait_until(lambda: states(of) == ["may begin"], "the phase is over")
    other = Agent(of, "other")
    other.begin()
    has_turn_with_pages_on_disk(other, disk, word)
    other.release()
    writer.end()


def test_a_phase_is_over_when_its_pages_are_written(start: Start, disk: Disk) -> None:
    writer, other = between_phases(start, disk, lease=PAGE * PAGES // 2)
    for _ in range(TRIES):
        word = writer.write_once()
        other.begin()
        has_turn_with_pages_on_disk(other, disk, word)
        other.release()
    writer.end()


def test_pages_that_nobody_would_notice_stay_in_the_cache(start: Start, disk: Disk) -> None:
    writer, other = between_phases(start, disk, lease=50 * PAGE * PAGES)
    for _ in range(TRIES):
        word = writer.write()
        other.begin()
        run_until([other], has_turn(other), "the other one has the turn")
        left_in_cache = disk.count(word) == 0
        other.release()
        if left_in_cache:
            break
    assert left_in_cache, "a release waits for all of the caches, other than the manual says"
    writer.end()
