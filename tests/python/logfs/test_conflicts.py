"""Bytes that processes of several nodes wrote at times that do not say which was last."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from log_containers import strided
from logfs.logged import halcyon

from halcyon import logfs
from halcyon.logfs import conflicts

SOURCE = Path(__file__).resolve().parents[2] / "logfs/programs/standing_clock.c"
SAID = "2 B were written by several writers at times that do not say which was last: "


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written by two nodes, with what was said behind the command beside it."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    if os.geteuid() != 0 or subprocess.run(["unshare", "--uts", "true"], check=False).returncode != 0:
        pytest.skip("names of hosts cannot be set here")
    folder = tmp_path_factory.mktemp("conflicts")
    clock = folder / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", clock, SOURCE], check=True, timeout=60)
    (folder / "logs").mkdir()
    write = 'printf %s | LD_PRELOAD="$2:$LD_PRELOAD" dd of="$1" conv=notrunc status=none'
    other = f"hostname node1; {write % 'bb'}"
    script = f'{write % "aaaa"}; unshare --uts sh -c \'{other}\' sh "$1" "$2"'
    path = folder / "logs/file"
    done = halcyon("run", "--log", path.parent, "--", "sh", "-c", script, "sh", path, clock)
    assert done.returncode == 0, done.stderr
    (folder / "said").write_text(done.stderr)
    return path


def test_the_end_of_a_run_says_so_and_what_to_do(container: Path) -> None:
    said = (container.parents[1] / "said").read_text()
    assert f"halcyon: {container}: {SAID}`halcyon log check {container}` says where; MPI_File_sync of all" in said
    checked = json.loads(halcyon("log", "check", "--json", container).stdout)
    assert [one["concerns"].split(" hostdir.")[0] for one in checked["findings"]] == [
        "2 B of the file, from byte 0 on: those of"
    ]


def test_stats_and_flatten_say_so(container: Path, tmp_path: Path) -> None:
    assert f"{container}: {SAID}`halcyon log check" in halcyon("log", "stats", container).stdout
    flat = tmp_path / "flat"
    assert f"{flat}: {SAID}the file has those of one of them" in halcyon("log", "flatten", container, "-o", flat).stdout
    copied = shutil.copytree(container.parent, tmp_path / "logs", symlinks=True) / "file"
    drained = halcyon("log", "drain", "--flatten", copied.parent).stdout
    assert f"{copied}: {SAID}the file has those of one of them" in drained
    assert copied.is_file()


def test_the_look_behind_a_run_is_a_short_one(container: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strided(tmp_path / "other")
    assert conflicts.found_soon([tmp_path / "other", container]) == {container: 2}
    assert logfs.check(container).conflict_bytes == 2
    monkeypatch.setattr(conflicts, "MOST_WRITERS", 1)
    assert conflicts.found_soon([container]) == {}
    monkeypatch.undo()
    monkeypatch.setattr(conflicts, "MOST_INDEX_BYTES", 4096)
    assert conflicts.found_soon([container]) == {}
