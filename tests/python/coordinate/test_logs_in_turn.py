"""`halcyon run --log --coordinate`: the turns are those of the file systems to which the logs go."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import PATIENCE_MS, run_until_it_waits, said_by, write
from coordinator_process import PATIENT, CoordinatorProcess
from logfs.logged import halcyon
from scripted_agents import Agent, has_turn, run_until
from started_programs import start_program

Start = Callable[..., CoordinatorProcess]

logfs = pytest.importorskip("halcyon.logfs")
pytest.importorskip("halcyon._logfs", reason="the compiled modules are not built")
pytestmark = pytest.mark.usefixtures("library")

BYTES = 8 << 20
"""That `write` has dd write."""


def held(start: Start, folder: Path) -> tuple[CoordinatorProcess, Agent]:
    """A coordinator, and somebody else who has the turn."""
    of = start(paths=[str(folder)], times=PATIENT)
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    return of, other


def made(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).mkdir()
    return [folder / name for name in names]


def bytes_below(folder: Path, pattern: str) -> int:
    return sum(one.stat().st_size for one in folder.rglob(pattern) if one.is_file())


def ends(program: "subprocess.Popen[str]", other: Agent) -> str:
    """What it said, with the other one alive meanwhile."""
    run_until([other], lambda: program.poll() is not None, "the program ends")
    return said_by(program)


def test_logs_wait_until_the_turn_is_given_back(start: Start, scratch: Path) -> None:
    of, other = held(start, scratch)
    program = write(of, scratch, options=["--log", str(scratch)])
    run_until_it_waits(program, of, other)
    assert bytes_below(scratch, "data.*") == 0
    other.release()
    said = ends(program, other)
    assert "1 process took turns: 8.39 MB in turn" in said
    assert "out of turn" not in said
    assert logfs.status(scratch / "file").size == BYTES


READS_BACK = """
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
for i in range(8):
    os.pwrite(fd, bytes(1 << 20), i << 20)
    assert len(os.pread(fd, 1 << 20, i << 20)) == 1 << 20
os.fsync(fd)
"""


def test_what_goes_to_the_disk_of_the_node_waits_for_nobody_and_a_sync_brings_it_in_turn(
    start: Start, scratch: Path, tmp_path: Path
) -> None:
    (stage,) = made(tmp_path, "node")
    of, other = held(start, scratch)
    script = '"$1" -c "$2" "$3" && cat "$3" | wc -c'
    command = ["sh", "-c", script, "sh", sys.executable, READS_BACK, f"{scratch}/file"]
    program = write(of, scratch, command=command, options=["--log", str(scratch), "--stage", str(stage)])
    run_until_it_waits(program, of, other)  # the agent of the node, too
    run_until(
        [other], lambda: bytes_below(stage, "data.*") == BYTES, "all is written, and read, while others have the turn"
    )
    run_until([other], lambda: len(waiting(of)) == 2, "the sync waits as well")
    assert bytes_below(scratch, "copied.*") == 0
    other.release()
    said = ends(program, other)
    assert f"{BYTES}\n" in said
    assert "out of turn" not in said
    assert logfs.stats(scratch / "file").durable_bytes == BYTES


def test_what_the_disk_of_the_node_does_not_take_waits_as_soon_as_that_is_known(
    start: Start, scratch: Path, tmp_path: Path
) -> None:
    (stage,) = made(tmp_path, "node")
    (stage / "halcyon-staged").touch()  # in the place of a folder
    of, other = held(start, scratch)
    program = write(of, scratch, options=["--log", str(scratch), "--stage", str(stage)])
    run_until_it_waits(program, of, other)
    assert bytes_below(scratch, "data.*") == 1 << 20
    other.release()
    said = ends(program, other)
    assert "1 process took turns: 7.34 MB in turn" in said
    assert "logs of this process go to" in said


def waiting(of: CoordinatorProcess) -> list[str]:
    return [one.job for one in of.top().applications if one.state == "waiting"]


def test_logs_on_another_file_system_take_its_turn(start: Start, tmp_path: Path) -> None:
    names, other_system = made(tmp_path, "names", "other")
    of, other = held(start, other_system)
    script = 'dd if=/dev/zero of="$1" bs=1M count=8 status=none; cat "$1" > /dev/null'
    options = ["--log", str(names), "--backends", str(other_system)]
    program = write(of, names, command=["sh", "-c", script, "sh", f"{names}/file"], options=options)
    run_until_it_waits(program, of, other)
    assert bytes_below(other_system, "data.*") == 0
    other.release()
    said = ends(program, other)
    assert "2 processes took turns: 16.8 MB in turn" in said
    assert "out of turn" not in said
    assert bytes_below(other_system, "data.*") == BYTES


FORKS = """
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
child = os.fork()
if child == 0:
    os.write(fd, bytes(1 << 20))
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_forked_child_takes_the_turn_of_where_its_log_goes(start: Start, tmp_path: Path) -> None:
    names, other_system = made(tmp_path, "names", "other")
    of, other = held(start, other_system)
    options = ["--log", str(names), "--backends", str(other_system)]
    program = write(of, names, command=[sys.executable, "-c", FORKS, f"{names}/file"], options=options)
    run_until_it_waits(program, of, other)
    assert bytes_below(other_system, "data.*") == 0
    other.release()
    assert "out of turn" not in ends(program, other)
    assert bytes_below(other_system, "data.*") == 1 << 20


def test_names_alone_take_no_turns(start: Start, scratch: Path, tmp_path: Path) -> None:
    (other_system,) = made(tmp_path, "other")
    of, other = held(start, scratch)
    program = write(of, scratch, options=["--log", str(scratch), "--backends", str(other_system)])
    assert "8.39 MB" not in ends(program, other)
    assert other.has_turn
    assert bytes_below(other_system, "data.*") == BYTES


def test_a_drain_waits_for_its_turn(start: Start, scratch: Path, tmp_path: Path) -> None:
    (stage,) = made(tmp_path, "node")
    command = ["dd", "if=/dev/zero", f"of={scratch}/file", "bs=1M", "count=8"]
    variables = os.environ | {"HALCYON_LOG_AGENT": "/bin/false"}  # nobody brings it
    assert halcyon("run", "--log", scratch, "--stage", stage, "--", *command, env=variables).returncode == 0
    of, other = held(start, scratch)
    words = ["log", "drain", "--flatten", "--coordinate", "--coordinators", str(of.config), str(scratch)]
    environment = os.environ | {"HALCYON_COORDINATE_PATIENCE_MS": PATIENCE_MS}
    program = start_program([sys.executable, "-m", "halcyon", *words], cwd=tmp_path, env=environment)
    run_until_it_waits(program, of, other)
    assert bytes_below(scratch, "copied.*") == 0
    other.release()
    said = ends(program, other)
    assert "1 container; 8.39 MB brought from this node; 1 container made plain" in said
    assert "without" not in said
    assert (scratch / "file").read_bytes() == bytes(BYTES)
    assert bytes_below(stage, "data.*") == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--coordinators", "absent.yaml"], "add --coordinate"),
        (["--coordinate", "--coordinators", "absent.yaml"], "absent.yaml: no such file"),
        (["--rate", "fast"], "'fast' is no size"),
    ],
)
def test_a_drain_says_what_is_wrong_with_its_options(scratch: Path, options: list[str], reason: str) -> None:
    done = halcyon("log", "drain", *options, scratch)
    assert done.returncode != 0
    assert reason in done.stderr
