"""Processes that leave the run's folder behind, or /proc: what they do is recorded, or told to be missing."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from recorded_program import Run, compiled, recorded

from halcyon.layers.preload import find_library

PROGRAM = "a program that cannot write to the run's folder"
PROCESSES = "processes that could not write to the run's folder"
NAMED = ("absolute", "relative", "stream")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Where any user may go and write."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to leave it")
    made = (tmp_path / "files").resolve()
    made.mkdir()
    for folder in [made.parent, *list(made.parent.parents)[:3]]:
        folder.chmod(0o755)
    made.chmod(0o777)
    return made


def run_as(directory: Path, *command: Any) -> Run:
    """With a copy of the library that every user may load."""
    library = shutil.copy(find_library(), directory.parent)
    run = recorded([*command], directory.parent / "run", extra={"LD_PRELOAD": str(library)})
    if run.code == 77:
        pytest.skip(f"not permitted here: {run.complaints}")
    assert run.code == 0, run.complaints
    return run


def moved_in_every_manner(run: Run, directory: Path, root: str) -> None:
    for name in NAMED:
        assert run.moved(f"{root}/{name}", "write") == 1000, name
    written = sum(c["moved"] or 0 for c in run.calls if c["kind"] == "write" and c["level"] == "posix")
    expected = sum(path.stat().st_size for path in directory.iterdir())
    assert written == expected


def test_a_root_directory_without_proc(directory: Path) -> None:
    program = compiled("out_of_reach.c", directory.parent)
    run = run_as(directory, program, directory, "chroot")
    assert run.moved(directory / "before", "write") == 2000
    # The children's are missing, and told.
    (directory / "before").write_bytes(b"x" * 2000)
    moved_in_every_manner(run, directory, "")
    assert run.absences()[PROCESSES] == 2
    nameless = [c for c in run.calls if c["kind"] == "write" and c["path"].startswith("/(no name: device ")]
    assert sum(c["moved"] for c in nameless if c["path"].endswith("/beneath")) == 1000
    inode = (directory / "unseen").stat().st_ino
    assert sum(c["moved"] for c in nameless if c["path"].endswith(f"inode {inode})")) == 1000


def test_a_proc_that_is_gone(directory: Path) -> None:
    probe = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True)
    if probe.returncode != 0:  # as where / is no mount point
        pytest.skip(f"no mounts of its own: {probe.stderr.strip()}")
    program = compiled("out_of_reach.c", directory.parent)
    script = f"umount -l /proc && exec {program} {directory} files || exit 77"
    run = run_as(directory, "unshare", "--mount", "sh", "-c", script)
    moved_in_every_manner(run, directory, str(directory))
    assert str(program) in {row["program"] for row in run.rows("processes")}


def test_children_that_become_another_user(directory: Path) -> None:
    """They begin their recording before they may not any more."""
    program = compiled("out_of_reach.c", directory.parent)
    run = run_as(directory, program, directory, "forked_user")
    assert run.moved(directory / "before", "write") == 3000
    assert not run.absences()


def test_children_that_become_another_user_unseen(directory: Path) -> None:
    program = compiled("out_of_reach.c", directory.parent)
    run = run_as(directory, program, directory, "raw_user")
    assert run.moved(directory / "before", "write") == 1000
    assert run.complaints.count("cannot record here: Permission denied") == 2
    assert run.absences()[PROCESSES] == 2


@pytest.mark.parametrize("way", ["setpriv", "su", "runuser"])
def test_programs_of_another_user(directory: Path, way: str) -> None:
    if shutil.which(way) is None:
        pytest.skip(f"{way} is not installed")
    program = compiled("out_of_reach.c", directory.parent)
    words: dict[str, list[Any]] = {
        "setpriv": ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", program, directory, "files"],
        "su": ["su", "nobody", "-s", "/bin/sh", "-c", f"{program} {directory} files"],
        "runuser": ["runuser", "-u", "nobody", "--", program, directory, "files"],
    }
    run = run_as(directory, *words[way])
    assert (directory / "absolute").stat().st_size == 1000
    told = run.absences()
    started = "/bin/sh" if way == "su" else program
    assert told[f"{PROGRAM}: {started}"] == 1, told


def test_the_report_says_so(directory: Path) -> None:
    from halcyon.observe.report_tables import absences

    program = compiled("out_of_reach.c", directory.parent)
    run = run_as(directory, program, directory, "raw_user")
    told = [(a.subject, a.count, a.detail) for a in absences(run.data)]
    assert told == [(PROCESSES, 2, "nor is what they start recorded")]


def test_the_report_says_that_what_a_program_of_another_user_starts_is_not_recorded(directory: Path) -> None:
    from halcyon.observe.report_tables import absences

    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/bin/sh", "-c", "cat /etc/hostname;"]
    run = run_as(directory, *words)
    told = [(a.subject, a.count, a.detail) for a in absences(run.data)]
    assert told == [(PROGRAM, 1, "/bin/sh; nor is what it starts recorded")]


def test_a_killed_parent_leaves_what_its_children_told(directory: Path) -> None:
    program = compiled("out_of_reach.c", directory.parent)
    library = shutil.copy(find_library(), directory.parent)
    run = recorded([program, directory, "killed"], directory.parent / "run", extra={"LD_PRELOAD": str(library)})
    assert run.code == -9
    assert run.absences()[PROCESSES] == 2
