"""Under `fair-share`, each command of a Δ-graph has its part of the time, as an account of its own."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import several

from halcyon.coordinate.configuration import find_program
from halcyon.delta.commands import Command, Here
from halcyon.delta.runs import Key, Limits, Setup, Told, run_once
from halcyon.errors import UnavailableError

pytestmark = pytest.mark.usefixtures("library")

LIMITS = Limits(run_s=120.0, arrival_s=60.0)
POLICY = "fair-share"
BLOCK = 4096
# Blocks are of one letter, and both commands append theirs to one file, whose order tells who moved when. A block takes
# 10 ms or more: the commands are long beside a slice of half a second, on any machine.
WRITER = f"""
import os, sys, time
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for _ in range(int(sys.argv[3])):
    os.write(file, sys.argv[2].encode() * {BLOCK})
    time.sleep(0.01)
"""
BLOCKS = {"A": 150, "B": 100}
B_STARTS_NS = 300_000_000
ASKED_S = 0.05
"""Who has the turn waits less, for the answer to each of its questions."""


def command(name: str, file: Path) -> Command:
    return Command(name, (sys.executable, "-c", WRITER, str(file), name, str(BLOCKS[name])))


def of_two(a: Command, b: Command, path: str) -> Mapping[str, Told]:
    return run_once(Here(), Setup(a, b, path), Key(POLICY, B_STARTS_NS), LIMITS).told


def of_several(a: Command, b: Command, path: str) -> Mapping[str, Told]:
    setup = several.Setup((a, b), (1, 1), (1.0, 1.0), path)
    return several.run_several(Here(), setup, several.Key(POLICY, (0, B_STARTS_NS)), LIMITS).told


def order_in(file: Path) -> str:
    """A letter for each block."""
    return file.read_bytes()[::BLOCK].decode()


@pytest.mark.parametrize("measured", [of_two, of_several])
def test_two_long_commands_interrupt_each_other(
    measured: Callable[[Command, Command, str], Mapping[str, Told]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By arrival, B would come when A has ended. Nobody is given a turn because the other one pauses: only its end ends
    a phase here. Where the machine is so busy that B comes late, or after A's end: then once more."""
    try:
        find_program()
    except UnavailableError as why:
        pytest.skip(str(why))
    monkeypatch.setenv("HALCYON_COORDINATE_PAUSE_MS", "600000")
    monkeypatch.setenv("HALCYON_COORDINATE_PATIENCE_MS", "20000")
    folder = tmp_path / "data"
    folder.mkdir()
    for i in range(5):
        file = folder / f"both-{i}"
        told = measured(command("A", file), command("B", file), str(folder))
        order = order_in(file)
        if order.find("B") < order.rfind("A") and min(one.waited_s for one in told.values()) > ASKED_S:
            break
    assert {name: order.count(name) for name in BLOCKS} == BLOCKS
    assert [one.unasked_bytes for one in told.values()] == [0, 0]
    assert order.startswith("A")
    assert order.find("B") < order.rfind("A"), "A goes on after B has begun"
    assert all(one.waited_s > ASKED_S for one in told.values()), told
