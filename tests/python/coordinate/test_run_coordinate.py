"""`halcyon run --coordinate`: unmodified programs take turns with others."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import impatient_agent, run_until_it_waits, said_by, write
from coordinator_process import LIMIT_S, PATIENT, CoordinatorProcess
from scripted_agents import Agent, has_turn, heard, run_until

from halcyon.cli import main

Prepare = Callable[..., CoordinatorProcess]


pytestmark = pytest.mark.usefixtures("library")


FORKED = """
import os, sys
for i in range(4):
    if os.fork() == 0:
        fd = os.open(f"{sys.argv[1]}/file{i}", os.O_CREAT | os.O_WRONLY)
        for _ in range(2):
            os.write(fd, bytes(1 << 20))
        os._exit(0)
for i in range(4):
    os.wait()
"""


def test_a_program_waits_until_the_turn_is_given_back(start: Prepare, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    of = start(paths=[str(folder)], times=PATIENT)
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    program = write(of, folder)
    run_until_it_waits(program, of, other)
    assert program.poll() is None
    assert (folder / "file").stat().st_size == 0
    other.release()
    run_until([other], lambda: program.poll() is not None, "the program ends")
    said = said_by(program)
    assert "1 process took turns: 8.39 MB in turn" in said
    assert "out of turn" not in said
    assert (folder / "file").stat().st_size == 8 << 20


READS = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
for i in range(8):
    assert len(os.pread(fd, 1 << 20, i << 20)) == 1 << 20
"""


def test_a_program_that_reads_waits_as_well(start: Prepare, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    (folder / "file").write_bytes(bytes(8 << 20))
    of = start(paths=[str(folder)], times=PATIENT)
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    program = write(of, folder, command=[sys.executable, "-c", READS, str(folder / "file")])
    run_until_it_waits(program, of, other)
    other.release()
    run_until([other], lambda: program.poll() is not None, "the program ends")
    said = said_by(program)
    assert "1 process took turns: 8.39 MB in turn" in said
    assert "out of turn" not in said


FILES = 200
REMOVES = f"""
import os, sys
for i in range({FILES}):
    os.unlink(f"{{sys.argv[1]}}/{{i}}")
"""


def test_a_program_that_removes_many_files_waits_as_well(start: Prepare, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    for i in range(FILES):
        (folder / str(i)).touch()
    of = start(paths=[str(folder)], times=PATIENT)
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    program = write(of, folder, command=[sys.executable, "-c", REMOVES, str(folder)])
    run_until_it_waits(program, of, other)
    assert 0 < len(list(folder.iterdir())) < FILES, "the first ones are removed without a turn"
    other.release()
    run_until([other], lambda: program.poll() is not None, "the program ends")
    said = said_by(program)
    assert "1 process took turns: " in said
    assert "out of turn" not in said
    assert list(folder.iterdir()) == []


WRITES_TO_BOTH = """
import os, sys
files = [os.open(f"{folder}/file", os.O_CREAT | os.O_WRONLY) for folder in sys.argv[1:]]
for i in range(64):
    os.pwrite(files[i % 2], bytes(1 << 16), i << 16)
"""


def test_all_paths_of_a_coordinator_have_one_turn(start: Prepare, tmp_path: Path) -> None:
    folders = [tmp_path / "scratch", tmp_path / "projects"]
    for folder in folders:
        folder.mkdir()
    of = start(paths=[str(folder) for folder in folders], times=PATIENT)
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    program = write(of, folders[0], command=[sys.executable, "-c", WRITES_TO_BOTH, *map(str, folders)])
    own = lambda: [(one.state, one.nodes) for one in of.top().applications if one.job != "other"]  # noqa: E731
    run_until([other], lambda: own() == [("waiting", 1)], "the program waits")
    assert all((folder / "file").stat().st_size == 0 for folder in folders)
    other.release()
    run_until([other], lambda: program.poll() is not None, "the program ends")
    said = said_by(program)
    assert "1 process took turns: 4.19 MB in turn" in said
    assert "broke" not in said
    assert "out of turn" not in said


def test_a_program_that_starves_gets_its_turn_from_the_coordinator(start: Prepare, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    of = start(paths=[str(folder)], bounds={"starvation": "1 s"}, times=PATIENT | {"stop": "60 s"})
    other = Agent(of, "other")
    other.begin()  # a phase without end
    run_until([other], has_turn(other), "the other one has the turn")
    program = write(of, folder)
    run_until([other], lambda: program.poll() is not None, "the program ends")
    said = said_by(program)
    assert "1 process took turns: 8.39 MB in turn" in said
    assert "out of turn" not in said
    assert heard(other, "stop")()


@pytest.mark.parametrize(
    ("options", "variables", "account"),
    [
        (["--account", "physics"], {"HALCYON_ACCOUNT": "chemistry", "SLURM_JOB_ACCOUNT": "biology"}, "physics"),
        ([], {"HALCYON_ACCOUNT": "chemistry", "SLURM_JOB_ACCOUNT": "biology"}, "chemistry"),
        ([], {"SLURM_JOB_ACCOUNT": "biology"}, "biology"),
    ],
)
def test_an_account_is_named_by_an_option_a_variable_or_slurm(
    start: Prepare, tmp_path: Path, options: list[str], variables: dict[str, str], account: str
) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    of = start(paths=[str(folder)], times=PATIENT)
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    program = write(of, folder, options=options, variables=os.environ | variables)
    waits = lambda: [one.account for one in of.top().applications if one.state == "waiting"] == [account]  # noqa: E731
    run_until([other], waits, "the program waits under its account")
    other.release()
    run_until([other], lambda: program.poll() is not None, "the program ends")
    said_by(program)


def test_a_refusal_is_in_the_summary_with_its_reason(start: Prepare, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    of = start(paths=[str(folder)], limits={"applications": 1}, times=PATIENT)
    other = Agent(of, "other")
    run_until([other], heard(other, "registered"), "another application has the only place")
    program = write(of, folder, patience_ms="3000")
    run_until([other], lambda: program.poll() is not None, "the program ends")
    said = said_by(program)
    assert "a coordinator refused the job: 1 time\n" in said
    assert "1 agent heard last from a coordinator: too many applications: user" in said


def test_processes_go_on_at_once_where_the_agent_cannot_run(prepare: Prepare, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    agent = tmp_path / "agent"
    agent.write_text(f"#!/bin/sh\necho started >> {tmp_path}/starts\nprintf '0this node has no memory' >&3\n")
    agent.chmod(0o755)
    shell = ["sh", "-c", f"for i in 1 2 3; do dd if=/dev/zero of={folder}/$i bs=1M count=1; done"]
    variables = os.environ | {"HALCYON_AGENT": str(agent)}
    program = write(prepare(paths=[str(folder)]), folder, command=shell, variables=variables)
    said = said_by(program)
    assert "I/O is not coordinated: the agent cannot run: this node has no memory" in said
    assert (tmp_path / "starts").read_text() == "started\n"


@pytest.mark.parametrize("tool", ["python", "fio"])
def test_forked_writers_wait_until_the_turn_is_given_back(start: Prepare, tmp_path: Path, tool: str) -> None:
    if tool == "fio" and shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    folder = tmp_path / "scratch"
    folder.mkdir()
    commands = {
        "python": [sys.executable, "-c", FORKED, str(folder)],
        "fio": ["fio", "--name=w", f"--directory={folder}", "--rw=write", "--ioengine=psync", "--bs=64k",
                "--size=2m", "--numjobs=4", "--fallocate=none"],
    }  # fmt: skip
    of = start(paths=[str(folder)], times=PATIENT)
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    program = write(of, folder, command=commands[tool])
    run_until_it_waits(program, of, other)
    assert program.poll() is None
    other.release()
    run_until([other], lambda: program.poll() is not None, "the program ends")
    said = said_by(program)
    assert "4 processes took turns: 8.39 MB in turn" in said
    assert "out of turn" not in said
    assert sum(one.stat().st_size for one in folder.iterdir()) == 8 << 20


# The summary waits for the agent for two seconds only.
AWAITS_FACTS = """
"$1" -c "$2" "$3/file" &
killed=$!
wait $killed
folder="$3"
until set -- "$HALCYON_TRACE_DIR"/*."$killed".*.coordinate && [ -e "$1" ]; do sleep 0.01; done
dd if=/dev/zero of="$folder/other" bs=1M count=7
"""


def test_what_a_killed_process_moved_is_in_the_summary(start: Prepare, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    of = start(paths=[str(folder)], times=PATIENT)
    killed = "import os, signal, sys; os.write(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY), bytes(1 << 20)); "
    killed += "os.kill(os.getpid(), signal.SIGKILL)"
    program = write(of, folder, command=["sh", "-c", AWAITS_FACTS, "sh", sys.executable, killed, str(folder)])
    said = said_by(program)
    assert "halcyon: 1 process died; its agent told of its turns\n" in said
    assert "halcyon: 2 processes took turns: 8.39 MB in turn" in said


def test_without_a_coordinator_a_program_goes_on_and_says_so(prepare: Prepare, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    program = write(prepare(paths=[str(folder)]), folder, variables=os.environ | impatient_agent(tmp_path, 200))
    said = said_by(program)
    assert "8.39 MB moved out of turn: no coordinator answered" in said
    assert "a coordinator was silent for too long: 1 time" in said
    assert (folder / "file").stat().st_size == 8 << 20


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--coordinator", "/a=unix:/b"],
            "--coordinator, --coordinators and --account say how turns are given: add --coordinate",
        ),
        (["--account", "physics"], "say how turns are given: add --coordinate"),
        (["--coordinate", "--coordinator", "/a"], "--coordinator /a: expected PATH=ADDRESS"),
        (
            ["--coordinate", "--coordinator", "/a=unix:/b", "--coordinators", "c.yaml"],
            "--coordinator and --coordinators say the same in two ways",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(words: list[str], message: str) -> None:
    line = [sys.executable, "-m", "halcyon", "run", *words, "--", "true"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 2
    assert message in done.stderr


def test_requests_of_libaio_are_said_not_to_have_waited(start: Prepare, tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    folder = tmp_path / "scratch"
    folder.mkdir()
    of = start(paths=[str(folder)])
    fio = ["fio", "--name=j", "--rw=write", "--bs=4k", "--size=64k", f"--directory={folder}", "--thread",
           "--output=/dev/null", "--ioengine=libaio", "--fallocate=none"]  # fmt: skip
    said, _ = write(of, folder, command=fio).communicate(timeout=LIMIT_S)
    assert "halcyon: requests of io_submit (libaio) that did not wait, on files anywhere: 16\n" in said, said


def test_a_folder_that_cannot_be_made_is_said_with_the_option_that_names_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HALCYON_AGENT", "/bin/true")
    monkeypatch.chdir("/proc")  # where nobody makes folders
    asked = ["run", "--coordinate", "--coordinator", f"{tmp_path}=unix:@x"]
    assert main([*asked, "--", "true"]) == 1
    assert capfd.readouterr().err == (
        "halcyon: true.halcyon: No such file or directory (/proc); name a folder elsewhere: -o DIR, of srun "
        "--halcyon-output=DIR\n"
    )
    assert main([*asked, "-o", "/proc/x", "--", "true"]) == 1
    assert capfd.readouterr().err == "halcyon: /proc/x: No such file or directory\n"
