"""halcyon run --log --flatten background, --stage, and halcyon log drain"""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from log_containers import names, strided, wait_until
from logfs.logged import halcyon

from halcyon import logfs
from halcyon.errors import UsageError
from halcyon.installed_program import find_installed
from halcyon.layers.log_agent import REPORT
from halcyon.layers.logs import Logs, Stage
from halcyon.logfs.draining import drain


def agents_of(directory: Path) -> list[int]:
    """Agents that work below a directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"halcyon-log-agent") and any(os.fsencode(str(directory)) in word for word in words[1:]):
            found.append(int(process.name))
    return found


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    (tmp_path / "node").mkdir()
    return tmp_path / "node"


def ended(logs: Path) -> None:
    wait_until(lambda: not agents_of(logs))


def test_containers_become_plain_files_behind_the_command(logs: Path) -> None:
    command = f"mkdir {logs}/inner; echo one > {logs}/one; seq 100000 > {logs}/inner/two; cat {logs}/one"
    done = halcyon("run", "--log", logs, "--flatten", "background", "--", "sh", "-c", command)
    assert (done.returncode, done.stdout) == (0, "one\n"), done.stderr
    ended(logs)
    assert (logs / "one").read_text() == "one\n"
    assert (logs / "inner/two").read_text().splitlines() == [str(number) for number in range(1, 100001)]
    assert names(logs) == ["inner", "one"]


def test_a_program_goes_on_with_what_became_plain(logs: Path) -> None:
    """The agent and the command work at the same time, and nothing is lost."""
    script = (
        "import os, sys, time\n"
        "path = sys.argv[1] + '/f'\n"
        "for i in range(60):\n"
        "    with open(path, 'ab') as file: file.write(b'%d ' % i)\n"
        "    with open(path, 'rb') as file: assert file.read().split()[-1] == b'%d' % i\n"
        "    time.sleep(0.02)\n"
    )
    agent = find_installed("halcyon-log-agent", "HALCYON_LOG_AGENT")
    other = subprocess.Popen([agent, "--flatten", "--quiet", "0", "--job", str(os.getpid()), logs])
    try:
        done = halcyon("run", "--log", logs, "--", sys.executable, "-c", script, logs)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: (logs / "f").is_file())
    finally:
        other.kill()
        other.wait()
    assert (logs / "f").read_bytes().split() == [b"%d" % i for i in range(60)]


def test_what_is_left_alone_is_told(logs: Path) -> None:
    strided(logs / "held")
    strided(logs / "free")
    agent = find_installed("halcyon-log-agent", "HALCYON_LOG_AGENT")
    with logfs.open(logs / "held", "rb"):
        words = [agent, "--flatten", "--patience", "1", "--report", logs / REPORT, logs]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 1
        assert "held: a process has it open" in done.stderr
        assert "held: a process has it open" in (logs / REPORT).read_text()
        assert (logs / "free").is_file()
    assert subprocess.run(words, check=False, timeout=120).returncode == 0
    assert names(logs) == ["free", "held"]


def test_an_agent_that_cannot_be_started_keeps_no_command_from_running(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALCYON_LOG_AGENT", "/bin/false")
    done = halcyon("run", "--log", logs, "--flatten", "background", "--", "sh", "-c", f"echo x > {logs}/x")
    assert done.returncode == 0
    assert "--flatten: containers stay what they are: /bin/false ended with exit code 1" in done.stderr
    assert (logs / "x").is_dir()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--flatten", "background"), "add --log DIR"),
        (("--stage", "/tmp"), "add --log DIR"),
        (("--log", "LOGS", "--flatten-rate", "1 MB"), "add --flatten background"),
        (("--log", "LOGS", "--flatten", "background", "--flatten-rate", "fast"), "'fast' is no size"),
        (("--log", "LOGS", "--stage-rate", "1 MB"), "add --stage DIR"),
        (("--log", "LOGS", "--stage", "here"), "expected the absolute path"),
        (("--log", "LOGS", "--stage", "LOGS/in"), "lies below --log"),
        (("--log", "LOGS", "--log-targets", "0"), "expected 1 or more"),
        (("--log", "LOGS", "--backends", "LOGS,LOGS/absent"), "no such directory"),
        (("--logs-per", "node"), "add --log DIR"),
        (("--log", "LOGS", "--logs-per", "node", "--stage", "/node"), "leave one of them out"),
        (("--log-checks",), "add --log DIR"),
        (("--log", "LOGS", "--logs-per", "node", "--log-checks"), "leave one of them out"),
    ],
)
def test_options_that_make_no_sense_are_refused(logs: Path, options: tuple[str, ...], reason: str) -> None:
    done = halcyon("run", *(word.replace("LOGS", str(logs)) for word in options), "--", "true")
    assert done.returncode == 2
    assert reason in done.stderr
    assert not agents_of(logs)


# --- staging ---

WRITE = (
    "import os, sys\n"
    "fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)\n"
    "os.write(fd, b'x' * 100000)\n"
    "if sys.argv[2] == 'sync': os.fsync(fd)\n"
    "os.write(fd, b'y' * 100000)\n"
    "assert os.pread(fd, 3, 99999) == b'xyy'\n"
)


def staged_run(logs: Path, stage: Path, *words: str, sync: str = "no") -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-c", WRITE, f"{logs}/f", sync)
    return halcyon("run", "--log", logs, "--stage", stage, *words, "--", *command)


def test_data_go_by_the_node_into_the_container(logs: Path, stage: Path) -> None:
    done = staged_run(logs, stage)
    assert done.returncode == 0, done.stderr
    ended(logs)
    assert list(logs.glob("f/hostdir.*/staged.*")) == []
    assert logfs.stats(logs / "f").durable_bytes == 200000
    assert [path for path in stage.rglob("*") if path.is_file() and not path.name.startswith("agent.")] == []
    with logfs.open(logs / "f", "rb") as file:
        assert file.read() == b"x" * 100000 + b"y" * 100000


def test_nothing_is_durable_before_it_is_in_the_container(
    logs: Path, stage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an agent, it stays on the node."""
    monkeypatch.setenv("HALCYON_LOG_AGENT", "/bin/false")
    done = staged_run(logs, stage, sync="sync")
    assert done.returncode == 0
    assert "no agent could be started on this node" in done.stderr
    assert "1 log not durable yet: on disks of 1 node" in done.stderr
    figures = logfs.stats(logs / "f")
    assert (figures.durable_bytes, figures.staged_bytes) == (100000, 100000)
    assert figures.staged_on == (os.uname().nodename,)
    shown = halcyon("log", "stats", logs / "f").stdout
    assert "durable" in shown
    assert os.uname().nodename in shown
    # Elsewhere: what is synced, and an error that says why not more.
    stage.rename(stage.with_name("of another node"))
    with logfs.open(logs / "f", "rb", 0) as file:
        assert file.read(100000) == b"x" * 100000
        with pytest.raises(OSError, match="halcyon log drain") as why:
            file.read(1)
        assert why.value.errno == 61
    cat = halcyon("run", "--log", logs, "--", "cat", logs / "f")
    assert cat.returncode != 0
    assert "No data available" in cat.stderr
    assert f"lie on node {os.uname().nodename}, in {stage}" in cat.stderr
    assert halcyon("log", "drain", "--no-wait", logs).returncode == 1
    stage.with_name("of another node").rename(stage)
    drained = halcyon("log", "drain", logs)
    assert drained.returncode == 0, drained.stderr
    assert "1 container; 100 kB brought from this node" in drained.stdout
    assert logfs.stats(logs / "f").durable_bytes == 200000


def test_an_agent_that_is_killed_is_followed_by_the_next_one(logs: Path, stage: Path) -> None:
    script = (
        "import os, sys\n"
        "for i in range(20):\n"
        "    with open(f'{sys.argv[1]}/f{i}', 'wb') as file: file.write(bytes([i]) * 3_000_000)\n"
        "print('written', flush=True); sys.stdin.read()\n"
    )
    words = [sys.executable, "-m", "halcyon", "run", "--log", logs, "--stage", stage, "--stage-rate", "20 MB", "--"]
    run = subprocess.Popen(
        [*map(str, words), sys.executable, "-c", script, str(logs)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert run.stdin is not None
    assert run.stdout is not None
    assert run.stdout.readline() == b"written\n"
    for agent in agents_of(logs):
        os.kill(agent, signal.SIGKILL)
    run.stdin.close()
    run.wait(120)
    run.stdout.close()
    ended(logs)
    assert list(logs.glob("f*/hostdir.*/staged.*")) != []
    assert drain(logs).left == {}
    for i in range(20):
        with logfs.open(logs / f"f{i}", "rb") as file:
            assert hashlib.sha256(file.read()).digest() == hashlib.sha256(bytes([i]) * 3_000_000).digest()


def test_staged_and_then_flattened(logs: Path, stage: Path) -> None:
    done = staged_run(logs, stage, "--flatten", "background")
    assert done.returncode == 0, done.stderr
    ended(logs)
    assert (logs / "f").read_bytes() == b"x" * 100000 + b"y" * 100000
    assert names(logs) == ["f"]


def test_a_writer_that_goes_on_is_waited_for(logs: Path, stage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALCYON_LOG_AGENT", "/bin/false")
    script = "import sys; f = open(sys.argv[1], 'wb', 0); f.write(b'x'); print(1, flush=True); sys.stdin.read()"
    words = ["run", "--log", logs, "--stage", stage, "--", sys.executable, "-c", script, logs / "f"]
    run = subprocess.Popen(
        [sys.executable, "-m", "halcyon", *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert run.stdin is not None
    assert run.stdout is not None
    run.stdout.readline()
    done = drain(logs, wait_s=0)
    assert done.left == {str(logs / "f"): "1 process of this node still writes"}
    told: list[dict[str, str]] = []

    def end(left: dict[str, str]) -> None:
        told.append(left)
        assert run.stdin is not None
        run.stdin.close()

    assert drain(logs, on_wait=end).left == {}
    run.wait(120)
    run.stdout.close()
    assert len(told) == 1


def test_drain_flattens(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    whole = strided(tmp_path / "inner/file")
    done = halcyon("log", "drain", "--flatten", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 container made plain" in done.stdout
    assert (tmp_path / "inner/file").read_bytes() == whole
    assert halcyon("log", "drain", tmp_path).returncode == 0
    assert halcyon("log", "drain", tmp_path / "absent").returncode == 2


def test_a_stage_is_checked(logs: Path) -> None:
    with pytest.raises(UsageError, match="512 bytes"):
        Logs((str(logs),), Stage("/" + "x" * 600)).variables()
    wanted = Logs((str(logs),), Stage("/node/", "10 MB", takes_turns=True)).variables()
    assert wanted["HALCYON_LOG_STAGE"] == "/node"
    assert wanted["HALCYON_LOG_AGENT_WORDS"] == "--rate 10000000 --turns"


def test_a_rate_is_kept(logs: Path) -> None:
    with logfs.open(logs / "f", "wb") as file:
        file.write(bytes(1) + b"x" * 30_000_000)
    agent = find_installed("halcyon-log-agent", "HALCYON_LOG_AGENT")
    begin = time.monotonic()
    subprocess.run([agent, "--flatten", "--rate", "20000000", logs], check=True, timeout=120)
    assert time.monotonic() - begin > 1


# --- where logs lie ---


def test_logs_are_spread_over_backends(logs: Path, tmp_path: Path) -> None:
    backends = [tmp_path / name for name in "abc"]
    for backend in backends:
        backend.mkdir()
    script = f"for i in 1 2 3 4 5 6 7 8 9; do /bin/echo $i >> {logs}/f; done; cat {logs}/f; mv {logs}/f {logs}/g"
    done = halcyon("run", "--log", logs, "--backends", ",".join(map(str, backends)), "--", "sh", "-c", script)
    assert done.stdout.split() == list("123456789"), done.stderr
    assert "of 9 writers" in done.stderr
    assert sum(any(backend.iterdir()) for backend in backends) > 1
    with logfs.open(logs / "g", "rb") as file:
        assert file.read().split() == [b"%d" % i for i in range(1, 10)]
    removed = halcyon("run", "--log", logs, "--", "rm", logs / "g")
    assert removed.returncode == 0, removed.stderr
    assert [each for backend in backends for each in backend.iterdir()] == []


def test_processes_of_a_node_write_one_log(logs: Path) -> None:
    each = f"seq $i 6 60000 | sed s/^/$i-/ > {logs}/$i; cat {logs}/$i >> {logs}/all"
    script = f"for i in 1 2 3 4 5 6; do ({each}) & done; wait"
    done = halcyon("run", "--log", logs, "--logs-per", "node", "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    data = list(logs.glob("all/hostdir.*/data.*"))
    assert len(data) == 6
    assert len({each.stat().st_ino for each in data}) == 1
    with logfs.open(logs / "all", "rb") as file:
        found = sorted(file.read().decode().split())
    assert found == sorted(f"{i}-{n}" for i in range(1, 7) for n in range(i, 60001, 6))
    assert logfs.check(logs / "all").is_sound


def test_a_crowd_is_told_of(logs: Path) -> None:
    command = ("mpirun", "-n", "4", "true")
    done = halcyon("run", "--log", logs, "--log-targets", "1", "--", *command)
    assert "4 processes that write one file make 4 logs on 1 storage target: load 4.00" in done.stderr
    done = halcyon("run", "--log", logs, "--log-targets", "1", "--logs-per", "node", "--", *command)
    assert "storage target" not in done.stderr
