"""Programs that become another user (setuid) after their start."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import PATIENCE_MS, impatient_agent
from coordinator_process import LIMIT_S, OTHER_USER, PATIENT, CoordinatorProcess
from turn_programs import Program, ended

Prepare = Callable[..., CoordinatorProcess]
pytestmark = [
    pytest.mark.usefixtures("library"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user"),
]

WRITES = "fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY); os.write(fd, bytes(1 << 20))"

# The child goes on. Its parent ends when the agent has told of the child: the summary waits for that for two seconds
# only.
IN_CHILD = """
import glob, time
if child := os.fork():
    assert os.wait()[1] == 0
    while not glob.glob(f"{os.environ['HALCYON_TRACE_DIR']}/*.{child}.*.coordinate"):
        time.sleep(0.01)
    sys.exit()
"""


@pytest.fixture
def scratch(prepare: Prepare) -> tuple[CoordinatorProcess, Path]:
    """A coordinator, and a folder of its in which everybody may write."""
    of = prepare(socket_permissions="0666")
    folder = of.folder / "scratch"
    folder.mkdir()
    folder.chmod(0o777)
    of.configure(paths=[str(folder)], socket_permissions="0666", times=PATIENT)
    of.start()
    return of, folder


def run(of: CoordinatorProcess, folder: Path, program: str) -> str:
    """What `halcyon run --coordinate` and the program say."""
    halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--no-predict", "--coordinators", str(of.config)]
    command = [sys.executable, "-c", f"import os, sys\n{program}", str(folder / "file")]
    done = subprocess.run(
        [*halcyon, "--", *command], cwd=of.folder, text=True, timeout=LIMIT_S, check=False,
        env=os.environ | {"HALCYON_COORDINATE_PATIENCE_MS": PATIENCE_MS},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_program_that_becomes_another_user_goes_on_with_its_turns_and_its_agent_tells_of_them(
    scratch: tuple[CoordinatorProcess, Path],
) -> None:
    of, folder = scratch
    said = run(of, folder, f"{IN_CHILD}{WRITES}; os.setuid({OTHER_USER}); os.write(fd, bytes(1 << 20))")
    assert f"process of user {OTHER_USER} cannot say here how I/O waited: Permission denied; its agent tries to" in said
    assert "1 process took turns: 2.10 MB in turn" in said
    assert "died" not in said
    assert "out of turn" not in said


def test_a_program_that_was_another_user_for_a_while_tells_of_its_turns(
    scratch: tuple[CoordinatorProcess, Path],
) -> None:
    of, folder = scratch
    said = run(of, folder, f"os.seteuid({OTHER_USER}); {WRITES}; os.seteuid(0); os.write(fd, bytes(1 << 20))")
    assert "1 process took turns: 2.10 MB in turn" in said
    assert "cannot say" not in said


@pytest.mark.skipif(
    not all(folder.stat().st_mode & 0o001 for folder in Path(sys.executable).parents),
    reason="other users cannot run this Python",
)
def test_another_users_processes_of_a_job_do_their_io_uncoordinated_and_are_counted_as_refused(
    scratch: tuple[CoordinatorProcess, Path],
) -> None:
    of, folder = scratch
    # The child's agent is refused, which is silence.
    child = f"pid = os.fork(); pid or os.setuid({OTHER_USER}); "
    child += f"pid or os.environ.update({impatient_agent(of.folder, 1000)}); "
    child += "pid or os.execv(sys.executable, [sys.executable, '-c', "
    child += f'"import os, sys; {WRITES}", sys.argv[1] + ".child"]); os.waitpid(pid, 0)'
    said = run(of, folder, f"{WRITES}; {child}")
    assert (folder / "file.child").stat().st_size == 1 << 20
    assert (folder / "file.child").stat().st_uid == OTHER_USER
    assert "1 process took turns: 1.05 MB in turn" in said
    assert f"process of user {OTHER_USER} cannot say here how I/O waited" in said
    assert of.count("refused_claims") >= 1


def test_the_status_says_that_bytes_do_not_count_until_the_process_may_see_its_own(
    scratch: tuple[CoordinatorProcess, Path],
) -> None:
    of, folder = scratch
    with ended(programs := []):
        programs.append(Program(folder, of.config, "A"))
        a = programs[0]
        a.hold()
        assert a.status["reason"] == ""
        a.do("become", user=OTHER_USER)
        assert a.status["coordination"] == "coordinated"
        assert "what this process moves does not count, since it may not read /proc/self/io" in a.status["reason"]
        a.do("show_itself")
        assert a.status["reason"] == ""
        a.do("write", file=str(folder / "file"), mib=2)
        a.do("release")
        assert a.status["bytes"] >= 2 << 20
        assert a.status["bytes_unasked"] == 0
