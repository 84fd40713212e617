"""Real commands behind real gates: their starts, their times, and what becomes of commands that do no I/O."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from halcyon.coordinate.configuration import find_program
from halcyon.delta.commands import Command, Here
from halcyon.delta.gate import Gate
from halcyon.delta.identity import boot, programs
from halcyon.delta.runs import TIE_S, Key, Limits, Setup, Told, opening_ns, run_once
from halcyon.errors import HalcyonSystemError, UnavailableError, UsageError
from halcyon.layers.preload import find_library

LIMITS = Limits(run_s=60.0, arrival_s=30.0)
SHORT = Limits(run_s=60.0, arrival_s=0.5)


pytestmark = pytest.mark.usefixtures("library")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def dd(folder: Path, name: str, mebibytes: int = 4) -> tuple[str, ...]:
    return ("dd", "if=/dev/zero", f"of={folder}/{name}", "bs=1M", f"count={mebibytes}", "status=none")


def setup(folder: Path, a: tuple[str, ...] | None = None, b: tuple[str, ...] | None = None) -> Setup:
    return Setup(Command("A", a or dd(folder, "a")), Command("B", b or dd(folder, "b")), str(folder))


def sleeper(folder: Path) -> tuple[str, ...]:
    """The folder is in its command line, for `_left`."""
    return (sys.executable, "-c", "import time; time.sleep(1000)", str(folder))


def end_ns(told: Told) -> float:
    return told.begin_ns + told.seconds * 1e9


TIE_NS = 50_000_000


@pytest.mark.parametrize(
    ("starts", "opens"),
    [
        ({"A": 0, "B": 0}, {"A": 0, "B": TIE_NS}),
        ({"B": 0, "A": 0}, {"A": 0, "B": TIE_NS}),
        ({"B": 7}, {"B": 7}),
        ({"A": 200_000_000, "B": 0}, {"A": 200_000_000, "B": 0}),
        (dict.fromkeys("CAB", 5), {"A": 5, "B": 5 + TIE_NS, "C": 5 + 2 * TIE_NS}),
        # C would come at the same time as B, which gives way to A.
        ({"A": 0, "B": 0, "C": TIE_NS}, {"A": 0, "B": TIE_NS, "C": 2 * TIE_NS}),
    ],
)
def test_of_equal_starts_the_first_by_name_goes_first(starts: dict[str, int], opens: dict[str, int]) -> None:
    assert opening_ns(starts) == opens


@pytest.mark.parametrize("dt_ns", [-200_000_000, 0, 200_000_000])
def test_b_starts_its_io_so_long_after_a(data: Path, dt_ns: int) -> None:
    run = run_once(Here(), setup(data), Key(dt_ns=dt_ns), LIMITS)
    assert run.a is not None
    assert run.b is not None
    assert run.dt_s is not None
    # A busy machine is late; the run says so.
    assert run.problem is not None or abs(run.dt_s - (dt_ns / 1e9 or TIE_S)) < 0.05
    assert (run.programs, run.boot) == (programs(), boot())
    for told in (run.a, run.b):
        assert told.bytes == 4 << 20
        assert told.processes == 1
        assert sum(phase.bytes for phase in told.phases) == told.bytes
        assert 0 < told.transfer_s <= told.seconds < run.wall_s


def test_one_alone_is_held_and_measured_too(data: Path) -> None:
    run = run_once(Here(), setup(data), Key(alone="B"), LIMITS)
    assert run.a is None
    assert run.b is not None
    assert not (data / "a").exists()


def test_pauses_separate_phases_and_do_not_count(data: Path) -> None:
    file = data / "b"
    script = f"""
import os, time
fd = os.open({str(file)!r}, os.O_CREAT | os.O_WRONLY)
for part in range(3):
    os.write(fd, bytes(1 << 20))
    time.sleep(0.4)
"""
    told = run_once(
        Here(), replace(setup(data, b=(sys.executable, "-c", script)), pause_s=0.2), Key(alone="B"), LIMITS
    ).b
    assert told is not None
    assert [phase.bytes for phase in told.phases] == [1 << 20] * 3
    assert told.seconds < 0.4


def test_io_elsewhere_is_neither_held_nor_counted(data: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    script = f"dd if=/dev/zero of={elsewhere} bs=1M count=8 status=none; {' '.join(dd(data, 'b'))}"
    told = run_once(Here(), setup(data, b=("sh", "-c", script)), Key(alone="B"), LIMITS).b
    assert told is not None
    assert told.bytes == 4 << 20
    assert elsewhere.stat().st_size == 8 << 20


def test_a_run_of_which_a_process_was_killed_does_not_count(data: Path) -> None:
    script = f"{' '.join(dd(data, 'b'))}; sh -c 'echo more > {data}/c; kill -9 $$'; true"
    run = run_once(Here(), setup(data, b=("sh", "-c", script)), Key(alone="B"), LIMITS)
    assert run.b is not None
    assert run.problem is not None
    assert "was killed, or had not ended: calls of it may be missing" in run.problem


def test_all_processes_of_a_command_go_on_at_once(data: Path) -> None:
    script = "for i in 1 2 3; do " + " ".join(dd(data, "b$i")) + " & done; wait"
    told = run_once(Here(), replace(setup(data, b=("sh", "-c", script)), b_arrive=3), Key(alone="B"), LIMITS).b
    assert told is not None
    assert told.processes == 3
    assert told.bytes == 12 << 20


@pytest.mark.parametrize("launcher", ["mpirun.openmpi", "mpirun.mpich"])
def test_ranks_of_an_mpirun_are_held(data: Path, launcher: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which(launcher) is None:
        pytest.skip(f"no {launcher} on this machine")
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"):
        monkeypatch.setenv(name, "1")
    write = " ".join(dd(data, "b$$"))
    told = run_once(
        Here(), replace(setup(data, b=(launcher, "-n", "2", "sh", "-c", write)), b_arrive=2), Key(alone="B"), LIMITS
    ).b
    assert told is not None
    assert told.processes == 2
    assert told.bytes == 8 << 20


@pytest.mark.parametrize(
    ("b", "words"),
    [
        (("true",), "B ended before any I/O below .*: it said nothing"),
        (("sh", "-c", "echo no input >&2; exit 3"), "B failed with exit status 3: no input"),
        (("sh", "-c", "kill -9 $$"), "B was ended by SIGKILL"),
        (("no-such-command",), "no-such-command: No such file"),
    ],
)
def test_a_command_that_dies_before_the_gate_is_reported(data: Path, b: tuple[str, ...], words: str) -> None:
    with pytest.raises(HalcyonSystemError, match=words):
        run_once(Here(), setup(data, b=b), Key(), LIMITS)
    assert not _left(data)


def test_a_command_that_does_no_io_is_reported_after_the_limit(data: Path) -> None:
    with pytest.raises(HalcyonSystemError, match=r"B: 0 of 1 processes were at their first I/O after 0\.5 s"):
        run_once(Here(), setup(data, b=sleeper(data)), Key(alone="B"), SHORT)
    assert not _left(data)


def test_too_few_processes_at_the_gate_are_reported(data: Path) -> None:
    wanted = replace(setup(data), b_arrive=2)
    with pytest.raises(HalcyonSystemError, match=r"B: [01] of 2 processes were at their first I/O after 0\.5 s"):
        run_once(Here(), wanted, Key(alone="B"), SHORT)


def test_a_command_that_fails_after_the_gate_is_reported(data: Path) -> None:
    script = " ".join(dd(data, "b")) + "; echo full disk >&2; exit 4"
    with pytest.raises(HalcyonSystemError, match="B failed with exit status 4: full disk"):
        run_once(Here(), setup(data, b=("sh", "-c", script)), Key(), LIMITS)


def test_a_run_that_takes_too_long_is_ended(data: Path) -> None:
    script = f"{' '.join(dd(data, 'b'))}; {' '.join(map(shlex.quote, sleeper(data)))}"
    with pytest.raises(HalcyonSystemError, match=r"have not ended after 1 s \(--limit\)"):
        run_once(Here(), setup(data, b=("sh", "-c", script)), Key(alone="B"), Limits(1.0, 30.0))
    assert not _left(data)


def test_a_command_before_comes_first_and_its_failure_is_told(data: Path) -> None:
    (data / "b").write_text("old")
    wanted = replace(setup(data), before=f"rm {data}/b")
    run_once(Here(), wanted, Key(alone="B"), LIMITS)
    (data / "b").unlink()
    with pytest.raises(UsageError, match=r"--before: `rm .*` ended with 1: rm: cannot remove"):
        run_once(Here(), wanted, Key(alone="B"), LIMITS)


def test_under_fcfs_the_second_waits_for_the_first(data: Path) -> None:
    """A writes for much longer than B: who moved at once would end before. Where the machine is so busy that A does not
    run between two calls for as long as separates phases, B's turn comes early, and where nobody is heard for a second,
    bytes move unasked: then once more."""
    try:
        find_program()
    except UnavailableError as why:
        pytest.skip(str(why))
    a, b = (*dd(data, "a", 256), "oflag=dsync"), dd(data, "b", 1)
    for _ in range(10):
        run = run_once(Here(), setup(data, a, b), Key("fcfs", 20_000_000), LIMITS)
        assert run.a is not None
        assert run.b is not None
        if run.a.unasked_bytes == run.b.unasked_bytes == 0 and end_ns(run.b) > end_ns(run.a):
            break
    assert run.a is not None
    assert run.b is not None
    assert run.a.unasked_bytes == run.b.unasked_bytes == 0
    assert end_ns(run.b) > end_ns(run.a)
    assert run.b.waited_s > 0


def test_a_gate_says_who_is_there_and_when_they_went_on(tmp_path: Path, data: Path) -> None:
    """The same bytes as the layer's."""
    with Gate(tmp_path / "gate", 30.0) as gate:
        environment = os.environ | {
            "LD_PRELOAD": str(find_library()), "HALCYON_LAYERS": "gate", **gate.variables(str(data)),
        }  # fmt: skip
        process = subprocess.Popen(dd(data, "file"), env=environment)
        _wait_until(lambda: gate.gathered().arrived == 1)
        so_far = gate.gathered()
        assert so_far.first_arrived_ns == so_far.last_arrived_ns > 0
        assert so_far.passed == so_far.first_passed_ns == 0
        assert process.poll() is None
        opens_ns = time.monotonic_ns() + 10_000_000
        gate.open_at(opens_ns)
        assert process.wait(30) == 0
        done = gate.gathered()
        assert (done.arrived, done.passed, done.let, done.late) == (1, 1, 0, 0)
        assert done.first_passed_ns == done.last_passed_ns >= opens_ns == done.opens_ns


def test_processes_of_a_starter_that_was_killed_go_on_in_the_end(tmp_path: Path, data: Path) -> None:
    with Gate(tmp_path / "gate", 0.2) as gate:
        environment = os.environ | {
            "LD_PRELOAD": str(find_library()), "HALCYON_LAYERS": "gate", **gate.variables(str(data)),
        }  # fmt: skip
        subprocess.run(dd(data, "file"), env=environment, timeout=30, check=True)
        assert gate.gathered().let == 1


def _left(data: Path) -> list[str]:
    """Processes of the commands that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(data) in words:
            found.append(words)
    return found


def _wait_until(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.002)
