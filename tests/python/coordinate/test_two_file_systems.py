"""Programs that use two coordinated file systems, in opposite order."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import PATIENCE_MS
from coordinator_process import LIMIT_S, CoordinatorProcess

Prepare = Callable[..., CoordinatorProcess]

pytestmark = pytest.mark.usefixtures("library")

WRITES = 100
# A block at the first file system, and at once one at the second: the phase at the first has not ended by then.
WRITER = f"""
import os, sys
files = [os.open(path, os.O_CREAT | os.O_WRONLY) for path in sys.argv[1:]]
for _ in range({WRITES}):
    for file in files:
        os.pwrite(file, bytes(1 << 20), 0)
"""


def started(config: Path, where: Path, files: list[Path]) -> "subprocess.Popen[str]":
    where.mkdir()
    halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--no-predict", "--coordinators", str(config)]
    return subprocess.Popen(
        [*halcyon, "--", sys.executable, "-c", WRITER, *map(str, files)],
        cwd=where, env=os.environ | {"HALCYON_COORDINATE_PATIENCE_MS": PATIENCE_MS}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def handed_back(where: Path) -> int:
    facts = "".join(one.read_text() for one in where.rglob("*.agent"))
    return sum(map(int, re.findall(r"^handed_back (\d+)$", facts, re.MULTILINE)))


def test_who_waits_at_one_file_system_hands_back_its_turn_at_the_other(prepare: Prepare, tmp_path: Path) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    daemons = [prepare(paths=[str(folder)]) for folder in folders]
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
        started(config, runs[0], [folder / "one" for folder in folders]),
        started(config, runs[1], [folder / "other" for folder in reversed(folders)]),
    ]
    for program in programs:
        said, _ = program.communicate(timeout=LIMIT_S)
        assert program.returncode == 0, said
        assert "out of turn" not in said
    assert sum(map(handed_back, runs)) >= 1
    assert [of.count("stalled_holders") for of in daemons] == [0, 0]
