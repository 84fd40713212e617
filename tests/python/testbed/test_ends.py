"""However a test bed ends, nothing of it is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from halcyon.errors import HalcyonSystemError, UnavailableError, UsageError
from halcyon.testbed import bed as bed_module
from halcyon.testbed.bed import DIRECTORY_VARIABLE, Bed, raise_to_stay, raised, take_down
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

PLAN = Plan(compute=2, storage=2, mounts=2, slurm=True)
MARK = "TEST_BED_OF"
"""In the environment of every process of a bed: whose it is."""
LIMIT_S = 20

needs_bed = pytest.mark.skipif(bool(unavailable(PLAN)), reason=unavailable(PLAN))


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv(MARK, str(tmp_path))
    return f"{MARK}={tmp_path}"


def left_of(mark: str) -> dict[int, str]:
    """Command lines of living processes with the mark, but for this one."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0") and int(folder.name) != os.getpid():
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError, PermissionError):  # gone, or not of this machine's user
            continue
    return found


def wait_until_gone(mark: str) -> None:
    limit = time.monotonic() + LIMIT_S
    while left := left_of(mark):
        assert time.monotonic() < limit, left
        time.sleep(0.02)


def signal_bricks(mark: str, number: int) -> None:
    for process, command in left_of(mark).items():
        if command.startswith("glusterfsd"):
            os.kill(process, number)


def mounts_of(mark: str) -> list[str]:
    """Lines of `mounts`, as the bed's processes see them."""
    found = []
    for process in left_of(mark):
        with suppress(OSError):
            found += Path(f"/proc/{process}/mounts").read_text().splitlines()
    return found


def traces() -> list[str]:
    """Of test beds, on the machine itself: mounts and interfaces."""
    mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if "testbed" in line]
    links = [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines() if ":" in line]
    return [*mounts, *(link for link in links if link.startswith("to-") or link == "switch")]


def steps_of(directory: Path) -> list[str]:
    steps: list[str] = []
    raise_to_stay(PLAN, directory, steps.append)
    take_down(directory)
    return steps


KILLS = """
import os, signal, sys
from pathlib import Path
from halcyon.testbed.bed import raise_to_stay
from halcyon.testbed.plan import Plan

directory, wanted, victim, plan = sys.argv[1:]
seen = 0

def child_of(process):
    return int(Path(f"/proc/{process}/task/{process}/children").read_text())

def on_step(step):
    global seen
    seen += 1
    if seen == int(wanted):
        mine = os.getpid()
        who = {"up": lambda: mine, "launcher": lambda: child_of(mine), "holder": lambda: child_of(child_of(mine))}
        launcher = child_of(mine)
        os.kill(who[victim](), signal.SIGKILL)
        os.waitid(os.P_PID, launcher, os.WEXITED | os.WNOWAIT)  # the kernel has told the holder, too

raise_to_stay(Plan.from_json(plan), Path(directory), on_step)
"""


@needs_bed
@pytest.mark.parametrize("victim", ["up", "launcher", "holder"])
def test_killed_after_each_step_nothing_is_left(tmp_path: Path, mark: str, victim: str) -> None:
    directory = tmp_path / "bed"
    steps = steps_of(directory)
    assert len(steps) == 19, steps
    for number, step in enumerate(steps, start=1):
        command = [sys.executable, "-c", KILLS, directory, str(number), victim, PLAN.to_json()]
        died = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if victim == "up":
            assert died.returncode == -signal.SIGKILL, (step, died.stderr)
        else:
            assert "the test bed cannot be raised: its process ended" in died.stderr, (step, died.stderr)
        wait_until_gone(mark)
        assert traces() == [], step
        take_down(directory)
        with pytest.raises(UnavailableError, match="no test bed stands"):
            Bed.standing(directory)
    raise_to_stay(PLAN, directory)
    assert take_down(directory)
    wait_until_gone(mark)


@needs_bed
@pytest.mark.parametrize("number", [1, 6, 11, 19])
def test_down_ends_what_a_stopped_up_has_made(tmp_path: Path, mark: str, number: int) -> None:
    """`up` stands still in the middle, and holds its bed: `down` ends that of a bed with a record, and else says so."""
    directory = tmp_path / "bed"
    script = KILLS.replace("signal.SIGKILL", "signal.SIGSTOP")
    with subprocess.Popen(
        [sys.executable, "-c", script, directory, str(number), "up", PLAN.to_json()], stderr=subprocess.DEVNULL
    ) as up:
        os.waitid(os.P_PID, up.pid, os.WSTOPPED | os.WNOWAIT)
        with pytest.raises(UsageError, match="a test bed stands already"):
            raise_to_stay(PLAN, directory)
        up.kill()
    wait_until_gone(mark)
    take_down(directory)
    assert not take_down(directory)
    assert traces() == []


@needs_bed
def test_down_names_an_up_that_stands_still(tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bed_module, "GONE_S", 0.2)
    script = KILLS.replace("signal.SIGKILL", "signal.SIGSTOP")
    with subprocess.Popen(
        [sys.executable, "-c", script, tmp_path, "1", "up", PLAN.to_json()], stderr=subprocess.DEVNULL
    ) as up:
        os.waitid(os.P_PID, up.pid, os.WSTOPPED | os.WNOWAIT)
        with pytest.raises(HalcyonSystemError, match=rf"halcyon testbed up \(process {up.pid}\) is raising it"):
            take_down(tmp_path)
        up.kill()
    wait_until_gone(mark)


@needs_bed
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_a_command_on_a_host_ends_with_what_started_it(by: signal.Signals) -> None:
    with raised(Plan(compute=1, storage=0, mounts=0)) as bed:
        running = bed.popen("c1", ["sleep", "601"])
        limit = time.monotonic() + LIMIT_S
        runs = ["pgrep", "-x", "-f", "sleep 601"]
        while bed.run("c1", runs, capture_output=True).returncode != 0:
            assert time.monotonic() < limit, "the command starts"
            time.sleep(0.01)
        os.kill(running.pid, by)
        running.wait(LIMIT_S)
        while bed.run("c1", runs, capture_output=True).returncode == 0:
            assert time.monotonic() < limit, "the command goes on"
            time.sleep(0.01)


@needs_bed
def test_killed_while_a_brick_hangs_nothing_is_left(tmp_path: Path, mark: str) -> None:
    """A process that asks its mount then cannot be killed before the mount is."""
    script = (
        "import sys; from pathlib import Path; from halcyon.testbed.bed import raise_to_stay\n"
        "from halcyon.testbed.plan import Plan\n"
        "def on_step(step): print(step, flush=True); sys.stdin.readline()\n"
        "raise_to_stay(Plan(compute=1, storage=1, mounts=1), Path(sys.argv[1]), on_step)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as up:
        assert up.stdin is not None
        assert up.stdout is not None
        for step in up.stdout:
            if step == "bricks that listen\n":
                signal_bricks(mark, signal.SIGSTOP)
            up.stdin.write("\n")
            up.stdin.flush()
            if step == "mount c1/0\n":
                break
        limit = time.monotonic() + LIMIT_S
        while not any("/run/testbed/mounts/c1/0" in line for line in mounts_of(mark)):
            assert time.monotonic() < limit
            time.sleep(0.02)
        up.kill()
    wait_until_gone(mark)
    assert traces() == []


@needs_bed
def test_a_brick_that_ends_before_the_bed_stands_is_named(tmp_path: Path, mark: str) -> None:
    def on_step(step: str) -> None:
        if step == "bricks that listen":
            signal_bricks(mark, signal.SIGKILL)

    with pytest.raises(HalcyonSystemError, match="the test bed cannot be raised: brick s1 ended"):
        raise_to_stay(Plan(compute=1, storage=1, mounts=1), tmp_path, on_step)
    wait_until_gone(mark)


@needs_bed
def test_a_killed_holder_takes_everything_along(tmp_path: Path, mark: str) -> None:
    directory = tmp_path / "bed"
    bed = raise_to_stay(PLAN, directory)
    running = bed.popen("c1", ["sleep", "600"])
    os.kill(bed.holder, signal.SIGKILL)
    assert running.wait(LIMIT_S) != 0
    wait_until_gone(mark)
    assert traces() == []
    take_down(directory)
    with pytest.raises(UnavailableError, match="no test bed stands; raise one: halcyon testbed up"):
        Bed.standing(directory)
    assert not take_down(directory)


@needs_bed
def test_down_ends_what_runs_on_the_bed(tmp_path: Path, mark: str) -> None:
    directory = tmp_path / "bed"
    bed = raise_to_stay(PLAN, directory)
    write = 'exec dd if=/dev/zero of="$TESTBED_MOUNT/x" bs=1M oflag=direct count=100000'
    running = bed.popen("c1", ["sh", "-c", write], stderr=subprocess.DEVNULL)
    assert take_down(directory)
    assert running.wait(LIMIT_S) != 0
    wait_until_gone(mark)
    assert traces() == []


@needs_bed
def test_a_second_bed_is_refused_and_the_first_one_stays(tmp_path: Path) -> None:
    bed = raise_to_stay(PLAN, tmp_path)
    try:
        with pytest.raises(UsageError, match="a test bed stands already; end it first: halcyon testbed down"):
            raise_to_stay(PLAN, tmp_path)
        assert Bed.standing(tmp_path).holder == bed.holder
        assert bed.run("c1", ["true"]).returncode == 0
    finally:
        assert take_down(tmp_path)


@needs_bed
def test_a_bed_of_a_block_ends_with_its_process(mark: str) -> None:
    script = (
        "import os, signal; from halcyon.testbed.bed import raised; from halcyon.testbed.plan import Plan\n"
        "with raised(Plan(compute=1, storage=1, mounts=1)): os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == -signal.SIGKILL
    wait_until_gone(mark)
    assert traces() == []


@needs_bed
def test_an_error_in_the_block_ends_the_bed_too(mark: str) -> None:
    def fail() -> None:
        with raised(Plan(compute=1, storage=0, mounts=0)):
            raise ValueError("of the block")

    with pytest.raises(ValueError, match="of the block"):
        fail()
    wait_until_gone(mark)


@needs_bed
@pytest.mark.parametrize("path", ["/usr/bin:/bin", None])
def test_daemons_outside_of_the_path_are_started(tmp_path: Path, path: str | None) -> None:
    """As in scheduled jobs, whose path lacks the folders of the administrator's programs."""
    environment = {name: value for name, value in os.environ.items() if name != "PATH"}
    environment |= {DIRECTORY_VARIABLE: str(tmp_path)} | ({"PATH": path} if path else {})
    up = [sys.executable, "-m", "halcyon", "testbed", "up", "--compute", "1", "--storage", "1", "--mounts", "1"]
    done = subprocess.run(up, env=environment, capture_output=True, text=True, timeout=60)
    assert take_down(tmp_path), done.stderr
    assert done.returncode == 0


def lacking(tool: str) -> Callable[[str], str | None]:
    return lambda name: None if name == tool else f"/usr/bin/{name}"


@pytest.mark.parametrize(
    ("tool", "plan", "package"),
    [
        ("glusterfsd", Plan(), "glusterfs-server"),
        ("slurmd", Plan(slurm=True), "slurmd"),
        ("tc", Plan(), "iproute2"),
    ],
)
def test_without_a_tool_the_package_is_named(
    monkeypatch: pytest.MonkeyPatch, tool: str, plan: Plan, package: str
) -> None:
    monkeypatch.setattr("halcyon.testbed.requirements.find", lacking(tool))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert unavailable(plan) == f"not installed: `{tool}` (Debian packages: {package})"


@pytest.mark.parametrize("call", [lambda: raise_to_stay(Plan()), Bed.standing, take_down])
def test_without_root_each_command_says_so(monkeypatch: pytest.MonkeyPatch, call: Callable[[], object]) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, "/proc/no-place-for-a-bed")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(UnavailableError, match="a test bed needs root: it makes network namespaces and mounts"):
        call()
