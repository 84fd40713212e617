"""Programs that use two coordinated file systems."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import PATIENCE_MS, PAUSE_MS, said_by
from coordinator_process import PATIENT, CoordinatorProcess, wait_until
from scripted_agents import Agent, has_turn, run_until
from started_programs import start_program
from turn_programs import Program

Prepare = Callable[..., CoordinatorProcess]
Run = Callable[..., Program]

pytestmark = pytest.mark.usefixtures("library")

WRITES = 100
# Each has the turn at its first file system before either comes to its second one: the phase at the first goes on.
WRITER = f"""
import os, sys, time
mine, others = sys.argv[1:3]
files = [os.open(path, os.O_CREAT | os.O_WRONLY) for path in sys.argv[3:]]
os.pwrite(files[0], bytes(1 << 20), 0)
open(mine, "w").close()
while not os.path.exists(others):
    os.pwrite(files[0], bytes(1 << 20), 0)
    time.sleep(0.001)
for _ in range({WRITES}):
    for file in reversed(files):
        os.pwrite(file, bytes(1 << 20), 0)
"""


def started(config: Path, where: Path, other: Path, files: list[Path]) -> "subprocess.Popen[str]":
    where.mkdir(exist_ok=True)
    halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--no-predict", "--coordinators", str(config)]
    variables = {"HALCYON_COORDINATE_PATIENCE_MS": PATIENCE_MS, "HALCYON_COORDINATE_PAUSE_MS": PAUSE_MS}
    writer = [sys.executable, "-c", WRITER, f"{where}.writes", f"{other}.writes", *map(str, files)]
    return start_program([*halcyon, "--", *writer], cwd=where, env=os.environ | variables)


def handed_back(where: Path) -> int:
    facts = "".join(one.read_text() for one in where.rglob("*.agent"))
    return sum(map(int, re.findall(r"^handed_back (\d+)$", facts, re.MULTILINE)))


def coordinated(prepare: Prepare, folders: list[Path], config: Path) -> list[CoordinatorProcess]:
    """Starts a daemon for each of these folders, and writes the file that names them."""
    daemons = [prepare(paths=[str(folder)], times=PATIENT) for folder in folders]
    for folder, of in zip(folders, daemons, strict=True):
        folder.mkdir(exist_ok=True)
        of.start()
    lines = [
        f'  {folder.name}: {{paths: ["{folder}"], address: "{of.address}"}}'
        for folder, of in zip(folders, daemons, strict=True)
    ]
    config.write_text("\n".join(["halcyon: 1", "coordinators:", *lines]) + "\n")
    return daemons


def test_who_waits_at_one_file_system_hands_back_its_turn_at_the_other(prepare: Prepare, tmp_path: Path) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    config = tmp_path / "coordinators.yaml"
    daemons = coordinated(prepare, folders, config)
    runs = [tmp_path / "one", tmp_path / "other"]
    programs = [
        started(config, runs[0], runs[1], [folder / "one" for folder in folders]),
        started(config, runs[1], runs[0], [folder / "other" for folder in reversed(folders)]),
    ]
    for program in programs:
        assert "out of turn" not in said_by(program)
    assert sum(map(handed_back, runs)) >= 1
    assert [of.count("stalled_holders") for of in daemons] == [0, 0]


def test_who_announces_a_phase_at_one_file_system_keeps_its_turn_at_the_other_until_it_waits(
    prepare: Prepare, run: Run, scratch: Path, tmp_path: Path
) -> None:
    burst = tmp_path / "burst"
    config = tmp_path / "coordinators.yaml"
    of_scratch, of_burst = coordinated(prepare, [scratch, burst], config)
    other = Agent(of_scratch, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--no-predict", "--coordinators", str(config)]
    all_are_one_phase = {"HALCYON_COORDINATE_PAUSE_MS": "600000"}
    one = run(None, "A", before=[*halcyon, "--"], **all_are_one_phase)
    states = lambda of: {each.state for each in of.top().applications if each.job != "other"}  # noqa: E731
    one.do("write", file=str(burst / "file"), mib=1)
    wait_until(lambda: states(of_burst) == {"moving"}, "it has the turn at one file system")
    one.do("inform")
    wait_until(lambda: states(of_scratch) == {"waiting"}, "it has announced a phase at the other one")
    one.do("write", file=str(burst / "file"), mib=1)
    assert states(of_burst) == {"moving"}
    assert of_burst.count("phases") == 1
    one.begin("wait")
    wait_until(lambda: "moving" not in states(of_burst), "it hands back the turn that it does not use")
    other.release()
    one.answer()
    assert (one.status["steps_unasked"], one.status["steps_starving"]) == (0, 0)
