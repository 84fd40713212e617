"""How the folder of a run is named where the user names none."""

import threading
from pathlib import Path

import pytest

from halcyon.errors import UsageError
from halcyon.observe.recording import folder
from halcyon.observe.recording.folder import new_folder


def test_runs_that_begin_at_the_same_time_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runs, each = 8, 25
    together = threading.Barrier(runs)
    made: list[Path] = []

    def begin_some() -> None:
        try:
            for _ in range(each):
                together.wait()
                made.append(new_folder(None, ["./sim"]))
        except BaseException:
            together.abort()  # nobody waits for this thread any more
            raise

    threads = [threading.Thread(target=begin_some) for _ in range(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {"sim.halcyon", *(f"sim.{n}.halcyon" for n in range(2, runs * each + 1))}
    assert {one.name for one in made} == names
    assert all((one / "trace").is_dir() for one in made)


def test_a_program_with_too_many_runs_is_told_to_name_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folder, "_MOST_RUNS", 2)
    new_folder(None, ["./sim"])
    new_folder(None, ["./sim"])
    with pytest.raises(UsageError, match=r"sim\.2\.halcyon: exists already"):
        new_folder(None, ["./sim"])
