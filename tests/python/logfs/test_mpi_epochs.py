"""Ranks that sync or close a file together order their writes by that, whatever their clocks say."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from logfs.logged import halcyon
from logfs.mpi_programs import FAMILIES, LAUNCHERS, ROMIO, built, launcher_or_skip

from halcyon import logfs

# Each rank on a host of its own name: a clock of its own.
HOST = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
exec unshare --uts sh -c 'hostname "$0"; exec "$@"' "node$rank" "$@"
"""
RANKS = {"openmpi": 4, "mpich": 2}
EARLIER, LATER = b"a", b"b"


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    launcher_or_skip(name)
    if os.geteuid() != 0 or subprocess.run(["unshare", "--uts", "true"], check=False).returncode != 0:
        pytest.skip("names of hosts cannot be set here")
    return name


@pytest.fixture(scope="module")
def program(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(family, "epochs.c", tmp_path_factory.mktemp("built"), "-rdynamic")


def written(family: str, program: Path, between: str, behind_s: int, through: str = "logs") -> Path:
    """The container that the ranks wrote, by a path `through` a folder, or by a link of that name."""
    top = program.parent / between
    shutil.rmtree(top, ignore_errors=True)
    (folder := top / "logs").mkdir(parents=True)
    (top / "link").symlink_to("other-link")
    (top / "other-link").symlink_to(folder / "f")
    (top / "linked").symlink_to("logs")
    path = top / through if through == "link" else top / through / "f"
    host = program.parent / "host"
    host.write_text(HOST)
    host.chmod(0o755)
    options = ROMIO[family] if between == "together" else []
    command = [*LAUNCHERS[family], *options, "-n", RANKS[family], host, program, path, between]
    variables = {**os.environ, "BEHIND_S": str(behind_s)}
    done = halcyon("run", "--log", folder, "--", *command, env=variables)
    assert done.returncode == 0, done.stderr
    return folder / "f"


def read(path: Path) -> bytes:
    with logfs.open(path, "rb") as file:
        return bytes(file.read())


@pytest.mark.parametrize("between", ["sync", "close"])
def test_what_is_written_behind_a_collective_call_is_later(family: str, program: Path, between: str) -> None:
    path = written(family, program, between, behind_s=3600)
    assert read(path) == EARLIER * 1024 + LATER * 2048 + EARLIER * 1024
    assert logfs.check(path).conflict_bytes == 0


def test_what_is_written_behind_a_write_of_all_ranks_is_later(family: str, program: Path) -> None:
    """Than what one of them wrote back then: the bytes between the ranks' pieces."""
    path = written(family, program, "together", behind_s=3600)
    assert read(path)[:4096] == EARLIER * 512 + LATER * 16 + EARLIER * 496 + LATER * 2048 + EARLIER * 1024
    assert logfs.check(path).conflict_bytes == 0


def test_what_no_collective_call_orders_is_a_conflict(family: str, program: Path) -> None:
    path = written(family, program, "nothing", behind_s=3600)
    report = logfs.check(path)
    assert report.conflict_bytes == 2048
    assert any("at times that do not say which was last" in each.what for each in report.findings)


def test_a_sync_of_each_rank_alone_orders_nothing(family: str, program: Path) -> None:
    path = written(family, program, "apart", behind_s=0)
    assert logfs.check(path).conflict_bytes == 2048


@pytest.mark.parametrize("through", ["linked", "link"])
def test_links_lead_to_files_whose_writes_are_ordered(family: str, program: Path, through: str) -> None:
    """A link to a folder, or to a file that is not there yet."""
    path = written(family, program, "close", behind_s=3600, through=through)
    assert read(path) == EARLIER * 1024 + LATER * 2048 + EARLIER * 1024
    assert logfs.check(path).conflict_bytes == 0
