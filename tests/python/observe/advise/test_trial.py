"""A run is timed and recorded; one that fails says why and does not count."""

import sys
from pathlib import Path

import pytest

from halcyon.cli import main
from halcyon.errors import UsageError
from halcyon.observe.advise.trial import Launch

pytestmark = pytest.mark.usefixtures("recorder")


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_a_good_run_counts(tmp_path: Path) -> None:
    trial = Launch(python("import os; assert os.environ['COLOUR'] == 'red'")).run(tmp_path / "run", {"COLOUR": "red"})
    assert trial.problem is None
    assert trial.wall_s > 0
    assert trial.mpiio_s is None
    assert not (tmp_path / "run/trace").exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import sys; sys.exit('the mesh is torn')", "ended with exit code 1; it said last: the mesh is torn"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL"),
        (
            "import os; f = os.fork(); open(os.devnull).close(); f or os.kill(os.getpid(), 9); os.waitpid(f, 0)",
            "lost 1 of its processes: they were killed",
        ),
        ("import signal; signal.pause()", "was ended after 3 s (--limit)"),
    ],
)
def test_a_run_that_fails_says_why(tmp_path: Path, text: str, problem: str) -> None:
    # Only the one that never ends meets its limit, however slow the machine is.
    limit_s = 3 if "--limit" in problem else 300
    assert Launch(python(text), limit_s=limit_s).run(tmp_path / "run", {}).problem == problem


def test_room_is_made_before_each_run(tmp_path: Path) -> None:
    output = tmp_path / "out"
    launch = Launch(python(f"open({str(output)!r}, 'x')"), before=f"rm -f {output}")
    assert [launch.run(tmp_path / str(n), {}).problem for n in range(2)] == [None, None]
    assert "FileExistsError" in (Launch(launch.command).run(tmp_path / "again", {}).problem or "")


def test_a_hook_that_fails_ends_it_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ended with 3: no such queue"):
        Launch(python(""), before="echo no such queue >&2; exit 3").run(tmp_path / "run", {})


def test_a_command_that_suggests_nothing_is_run_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "--try", "--", *python("print(1)")]) == 0
    said = capfd.readouterr()
    assert "There was nothing to try" in said.out
    assert "round" not in said.err
