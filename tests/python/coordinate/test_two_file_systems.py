"""Programs that use two coordinated file systems, in opposite order."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import PATIENCE_MS, PAUSE_MS, said_by
from coordinator_process import PATIENT, CoordinatorProcess
from started_programs import start_program

Prepare = Callable[..., CoordinatorProcess]

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


def test_who_waits_at_one_file_system_hands_back_its_turn_at_the_other(prepare: Prepare, tmp_path: Path) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    daemons = [prepare(paths=[str(folder)], times=PATIENT) for folder in folders]
    for folder, of in zip(folders, daemons, strict=True):
        folder.mkdir()
        of.start()
    config = tmp_path / "coordinators.yaml"
    lines = [
        f'  {folder.name}: {{paths: ["{folder}"], address: "{of.address}"}}'
        for folder, of in zip(folders, daemons, strict=True)
    ]
    config.write_text("\n".join(["halcyon: 1", "coordinators:", *lines]) + "\n")
    runs = [tmp_path / "one", tmp_path / "other"]
    programs = [
        started(config, runs[0], runs[1], [folder / "one" for folder in folders]),
        started(config, runs[1], runs[0], [folder / "other" for folder in reversed(folders)]),
    ]
    for program in programs:
        assert "out of turn" not in said_by(program)
    assert sum(map(handed_back, runs)) >= 1
    assert [of.count("stalled_holders") for of in daemons] == [0, 0]
