"""Messages to standard error (err, warn, error): the same bytes with and without recording, and each byte recorded."""

import os
import subprocess
from pathlib import Path

import pytest
from recorded_program import Run, compiled, recorded

ENDS = {"err": 2, "verrx": 4, "error": 5, "error_at_line": 6}
"""How the program ends, and the status that it ends with."""
REDIRECTIONS = {"apart": "> out 2> said", "together": "> said 2>&1", "buffered": "buffered > said 2>&1"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("messages.c", tmp_path_factory.mktemp("messages"))


def written(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def check_transfers(run: Run, path: Path) -> None:
    """One write behind the other, up to the end of the file."""
    end = 0
    transfers = [c for c in run.calls_on(path) if c["kind"] == "write" and c["level"] == "posix"]
    for call in sorted(transfers, key=lambda c: c["offset"]):
        assert call["offset"] == end
        end += call["moved"]
    assert end == path.stat().st_size


@pytest.mark.parametrize("streams", REDIRECTIONS)
@pytest.mark.parametrize("end", ENDS)
def test_messages(program: Path, tmp_path: Path, end: str, streams: str) -> None:
    command = ["bash", "-c", f"exec {program} {end} {REDIRECTIONS[streams]}"]
    plain, seen = tmp_path / "plain", tmp_path.resolve() / "seen"
    plain.mkdir()
    seen.mkdir()
    code = subprocess.run(command, cwd=plain, env=os.environ | {"LC_ALL": "C"}).returncode
    run = recorded(command, tmp_path / "run", extra={"LC_ALL": "C"}, cwd=seen)
    assert (code, run.code) == (ENDS[end], ENDS[end])
    assert written(seen) == written(plain)
    for name in written(seen):
        check_transfers(run, seen / name)
    made = {c["call"] for c in run.calls_on(seen / "said")}
    assert made >= {"error", "warn", "psignal", "perror", "err" if "err" in end and "error" not in end else "error"}
    assert [row["ended"] for row in run.rows("processes") if row["ended"] != "exec"] == ["exit"]


def test_functions_of_other_libraries_by_the_same_names(tmp_path: Path) -> None:
    """Libraries have an `error` or a `warn` of their own, with other parameters."""
    library = compiled("namesakes.c", tmp_path, "-DLIBRARY", "-shared", "-fPIC")
    program = compiled("namesakes.c", tmp_path, str(library))
    run = recorded([program], tmp_path / "run")
    assert run.code == 42, run.complaints
    assert run.complaints.endswith("of the C library\n")
