"""`halcyon delta` as a whole command: measured, killed, resumed, printed and drawn; and what it refuses."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from measured_runs import SETUP, alone, both

from halcyon.delta.data_file import DataFile
from halcyon.delta.run_folder import run_folder
from halcyon.delta.runs import Key

LIMIT_S = 120


def command(folder: Path, *options: str, b: tuple[str, ...] = ()) -> list[str]:
    """Delays of 0 and 50 ms, two runs of each point."""
    dd = ("dd", "if=/dev/zero", "bs=1M", "count=4", "status=none")
    wanted = ("--dt", "0,50ms", "--repeat", "2", "--most", "2", "--path", str(folder), "--data", "runs.jsonl")
    return [
        sys.executable, "-m", "halcyon", "delta", *wanted, *options, "--", *dd, f"of={folder}/a", "--",
        *(b or (*dd, f"of={folder}/b")),
    ]  # fmt: skip


def delta(tmp_path: Path, words: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.fixture
def folder(library: None, tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    return made


def test_a_graph_is_measured_printed_and_drawn(folder: Path, tmp_path: Path) -> None:
    done = delta(tmp_path, command(folder, "-o", "delta.png", "--half-width", "1000000"))
    assert done.returncode == 0, done.stderr
    assert "Interference factors" in done.stdout
    assert "not met" not in done.stdout
    assert done.stderr.splitlines()[0].startswith("halcyon: 1 of ")
    assert (tmp_path / "delta.png").read_bytes().startswith(b"\x89PNG")
    again = delta(tmp_path, [sys.executable, "-m", "halcyon", "delta", "--data", "runs.jsonl", "--json"])
    told = json.loads(again.stdout)
    assert {(point["policy"], point["dt_ns"], point["runs"]) for point in told["points"]} == {
        ("none", 0, 2), ("none", 50_000_000, 2),
    }  # fmt: skip


def test_a_range_of_delays_may_begin_before_0(folder: Path, tmp_path: Path) -> None:
    words = command(folder, "--from", "-50ms", "--to", "50ms", "--steps", "3")
    listed = words.index("--dt")
    del words[listed : listed + 2]
    done = delta(tmp_path, words)
    assert "Interference factors" in done.stdout, done.stderr
    runs = map(json.loads, (tmp_path / "runs.jsonl").read_text().splitlines()[1:])
    measured = {run["key"]["dt_ns"] for run in runs if run["key"]["alone"] is None}
    assert measured == {-50_000_000, 0, 50_000_000}


def test_progress_is_a_bar_on_a_terminal(folder: Path, tmp_path: Path) -> None:
    words = command(folder, "--dt", "0", "--repeat", "1", "--most", "1")
    terminal, of_command = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    shown = b""
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=of_command
    ) as process:
        os.close(of_command)
        with suppress(OSError):  # nobody has the other end any more
            while select.select([terminal], [], [], LIMIT_S)[0]:
                shown += os.read(terminal, 1 << 16)
        assert process.wait(LIMIT_S) in (0, 1), shown
    os.close(terminal)
    text = shown.decode()
    assert "halcyon: 1 of " not in text
    assert re.search(r"none, B 0\.00 s after A|[AB] alone", text)
    assert re.search(r"(?<!\d)([3-9]|\d\d)/\1(?!\d)", text), "all runs, of as many"


def test_a_point_that_is_not_known_well_enough_fails_the_command(folder: Path, tmp_path: Path) -> None:
    done = delta(tmp_path, command(folder, "--half-width", "0.0000001"))
    assert done.returncode == 1, done.stderr
    assert "* not met: 2 points of 2" in done.stdout


def test_a_file_with_a_policy_of_which_no_run_counts_fails_the_command(tmp_path: Path) -> None:
    alone_runs = [alone(name, 1.0) for name in "AB" for _ in range(3)]
    with DataFile(tmp_path / "runs.jsonl", SETUP, None) as file:
        for run in [*alone_runs, *[both(Key(), 2.0, 2.0)] * 3, both(Key("fcfs"), 1.0, 2.0, "late")]:
            file.add(run)
    done = delta(tmp_path, [sys.executable, "-m", "halcyon", "delta", "--data", "runs.jsonl"])
    assert done.returncode == 1, done.stderr
    assert "not met: fcfs, B starts 0 s: its only run does not count: late" in done.stdout


def test_a_path_through_a_symbolic_link_holds_the_files_behind_it(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    once = ("--dt", "0", "--repeat", "1", "--most", "1", "--half-width", "1000000")
    done = delta(tmp_path, command(link, *once))
    assert "ended before any I/O" not in done.stderr
    assert {run["key"]["alone"] for run in map(json.loads, (tmp_path / "runs.jsonl").read_text().splitlines()[1:])} == {
        "A", "B", None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("number", "policies", "keys"), [(signal.SIGKILL, "none,fcfs", 6), (signal.SIGTERM, "none", 4)]
)
def test_a_measurement_that_was_ended_goes_on(
    folder: Path, tmp_path: Path, number: signal.Signals, policies: str, keys: int
) -> None:
    words = command(folder, "--half-width", "1000000", "--policy", policies)
    data = tmp_path / "runs.jsonl"
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: data.exists() and data.read_bytes().count(b"\n") >= 4, process)
        os.kill(process.pid, number)
    before = data.read_bytes()
    done = delta(tmp_path, words)
    assert done.returncode == 0, done.stderr
    assert "goes on after" in done.stderr
    assert data.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    runs = map(json.loads, data.read_text().splitlines()[1:])
    counts = Counter(json.dumps(run["key"]) for run in runs if run["problem"] is None)  # a busy machine has some more
    assert set(counts.values()) == {2}
    assert len(counts) == keys


@contextmanager
def under_way(folder: Path, tmp_path: Path) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    """A measurement in its first run with turns, and its folder of temporary files: the coordinator and both commands
    have been started, and B waits before it does any I/O."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    waits = f'[ -z "$HALCYON_COORDINATORS" ] || read -r line < {fifo}; '
    b = ("sh", "-c", f"{waits}dd if=/dev/zero bs=1M count=4 of={folder}/b")
    words = command(folder, "--policy", "fcfs", "--dt", "0", b=b)
    opened: list[int] = []

    def b_waits() -> bool:
        with suppress(OSError):  # nobody reads yet
            opened.append(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
        return bool(opened)

    # Names of sockets are short. Agents outlive their programs, and may write meanwhile.
    with tempfile.TemporaryDirectory(prefix="delta-", ignore_cleanup_errors=True) as temporary:
        environment = os.environ | {"TMPDIR": temporary}
        running = subprocess.Popen(
            words, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        with running as process:
            try:
                wait_until(b_waits, process)
                assert coordinators(Path(temporary))
                yield process, Path(temporary)
            finally:
                process.kill()
                for end in opened:
                    os.close(end)


def coordinators(temporary: Path) -> list[int]:
    return processes_with(f"{temporary}/", "coordinators.yaml")


def test_a_measurement_that_was_killed_leaves_no_coordinator(folder: Path, tmp_path: Path) -> None:
    with under_way(folder, tmp_path) as (process, temporary):
        process.kill()
        process.wait(LIMIT_S)
        wait_until(lambda: not coordinators(temporary))
        for left in processes_with(str(folder)):
            with suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)


def test_the_next_run_removes_what_a_measurement_that_was_killed_has_left(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with under_way(folder, tmp_path) as (process, temporary):
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))
        (first,) = temporary.glob("halcyon-delta-*")
        with run_folder() as second:
            assert set(temporary.glob("halcyon-delta-*")) == {first, second}, "the first run goes on"
        process.kill()
        process.wait(LIMIT_S)
        wait_until(lambda: not coordinators(temporary))
        for left in processes_with(str(folder)):
            with suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)
        wait_until(lambda: not processes_with(str(folder)))
        with run_folder() as third:
            assert list(temporary.glob("halcyon-delta-*")) == [third]


def test_a_folder_of_a_run_that_another_user_put_there_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "halcyon-delta-link"
    elsewhere.mkdir()
    (elsewhere / "held").touch()
    link.symlink_to(elsewhere)
    with run_folder():
        assert (elsewhere / "held").exists()
        assert link.is_symlink()


def test_a_measurement_that_is_ended_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    with under_way(folder, tmp_path) as (process, temporary):
        process.terminate()
        assert process.wait(LIMIT_S) == 130
        wait_until(lambda: not coordinators(temporary))
        wait_until(lambda: not processes_with(str(folder)))
        assert list(temporary.glob("halcyon-delta-*")) == []


def wait_until(holds: Callable[[], object], process: "subprocess.Popen[bytes] | None" = None) -> None:
    """As long as the process runs."""
    limit = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < limit
        assert process is None or process.poll() is None
        time.sleep(0.002)


def processes_with(*words: str) -> list[int]:
    """Those in whose command lines all the words are."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = path.read_text(errors="replace")
            found += [int(path.parent.name)] if all(word in line for word in words) else []
    return found


def test_a_command_without_io_ends_the_measurement_with_its_reason(folder: Path, tmp_path: Path) -> None:
    done = delta(tmp_path, command(folder, b=("sh", "-c", "echo I write nothing")))
    assert done.returncode == 1
    assert "halcyon: B ended before any I/O below" in done.stderr
    assert "I write nothing" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--policy", "fcsf", "--path", "/x", "--", "a", "--", "b"],
            "--policy fcsf: not known; known: none, interfere, fcfs",
        ),
        (["--policy", "fcfs", "--", "a", "--", "b"], "turns are given for a file system; name it: --path DIR"),
        (["--dt", "0", "--to", "1s", "--", "a", "--", "b"], "--dt lists all delays: leave out --from and --to"),
        (["--a-on", "c1", "--", "a", "--", "b"], "--a-on and --b-on go together"),
        (["--place", "f=s1", "--", "a", "--", "b"], "--place puts files onto storage hosts of a test bed"),
        (["--metric", "speed", "--", "a", "--", "b"], "--metric speed: not known; known: sum-of-times, sum-of"),
        (["--confidence", "90,95", "--", "a", "--", "b"], "'90,95' is no percentage from 0 to 100"),
        (["--", "a"], "two commands are needed, A and B: halcyon delta … -- A … -- B …"),
        (["--data", "none.jsonl"], "none.jsonl: no such file; to measure, give two commands"),
        (["-o", "delta.pdf", "--", "a", "--", "b"], "expected a name that ends in .svg or .png"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(tmp_path: Path, options: list[str], message: str) -> None:
    done = delta(tmp_path, [sys.executable, "-m", "halcyon", "delta", *options])
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []
