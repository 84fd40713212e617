"""What a run says of the processes that learnt their I/O."""

import subprocess
import sys
from pathlib import Path

import pytest

from halcyon.layers.learnt import read_learnt, say_what_was_learnt

FACTS = "end exit\ncalls_learnt 100\ncalls_without_room {room}\ncalls_missed 0\nloaded {loaded}\nsaved {saved}\n"


def test_counts_of_processes_are_added_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "n1.1.1.predict").write_text(FACTS.format(room=3, loaded="yes", saved="no") + "absence 4 rings\n")
    (tmp_path / "n2.1.1.predict").write_text(FACTS.format(room=2, loaded="no", saved="yes") + "absence 1 rings\n")
    (tmp_path / "n3.1.1.predict").write_text("end none\ncalls_learnt 1\n")
    learnt = read_learnt(tmp_path)
    assert (learnt.processes, learnt.untold, learnt.loaded, learnt.unsaved) == (3, 1, 1, 1)
    say_what_was_learnt(tmp_path)
    assert capsys.readouterr().err.splitlines() == [
        "halcyon: 2 processes learnt 200 calls; 1 process began with a saved model",
        (
            "halcyon: 1 process ended without saying how many calls it had learnt: killed, or its facts could not be "
            "written"
        ),
        "halcyon: 1 model was not saved",
        "halcyon: 5 calls were not learnt: their thread's memory was full (--predict-memory)",
        "halcyon: not seen: 5 rings",
    ]


def test_one_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = "end exit\ncalls_learnt 1\ncalls_without_room 1\ncalls_missed 1\ncalls_of_threads_beyond 1\n"
    (tmp_path / "n1.1.1.predict").write_text(f"{facts}threads_in_use_at_end 1\nfiles_unnamed 1\nloaded yes\n")
    say_what_was_learnt(tmp_path)
    assert capsys.readouterr().err.splitlines() == [
        "halcyon: 1 process learnt 1 call; it began with a saved model",
        "halcyon: 1 call was not learnt: its thread's memory was full (--predict-memory)",
        "halcyon: 1 call was not learnt: a forecast of its thread took too long, or a jump broke its model",
        "halcyon: 1 call was not learnt: of a thread beyond the first 256 at a time",
        "halcyon: 1 thread was learning when its process ended: its calls are not counted",
        "halcyon: 1 file has no name in forecasts",
    ]
    (tmp_path / "n2.1.1.predict").write_text("end none\ncalls_learnt 1\nloaded yes\n")
    (tmp_path / "n3.1.1.predict").write_text("")  # on a full disk
    say_what_was_learnt(tmp_path)
    first, second, *_ = capsys.readouterr().err.splitlines()
    assert first == "halcyon: 1 process learnt 1 call; 2 processes began with a saved model"
    assert second == (
        "halcyon: 2 processes ended without saying how many calls they had learnt: killed, or their facts could not "
        "be written"
    )


def test_of_a_killed_process_no_number_of_calls_is_invented(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "n1.1.1.predict").write_text("end none\ncalls_learnt 1\n")  # as its first call leaves it
    say_what_was_learnt(tmp_path)
    assert capsys.readouterr().err == (
        "halcyon: 1 process ended without saying how many calls it had learnt: killed, or its facts could not be "
        "written\n"
    )


def test_a_run_learns_and_goes_on_from_what_it_saved(tmp_path: Path) -> None:
    copy = [sys.executable, "-c", "for i in range(20): open(f'out.{i}', 'wb').write(bytes(100))"]

    def run(*options: str) -> str:
        words = [sys.executable, "-m", "halcyon", "run", "--predict", *options, "--", *copy]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stderr

    first = run("-o", "first", "--save-model", "models")
    assert "halcyon: 1 process learnt " in first
    assert "recorded" not in first, "nothing is"
    assert [path.suffix for path in (tmp_path / "models").iterdir()] == [".model"]
    assert "calls; it began with a saved model" in run("-o", "second", "--model", "models")
    assert [path.suffix for path in (tmp_path / "second" / "trace").iterdir()] == [".predict"]


def test_what_was_read_ahead_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = dict.fromkeys(("contiguous", "not_open", "unfit", "off_cached", "off_nothing", "off_no_thread"), 0)
    counts |= {"reads": 100, "asked": 50, "in_time": 30, "late": 5, "cached": 4, "failed": 1, "unsure": 2, "control": 3}
    counts |= {"asked_bytes": 50 << 20, "used_bytes": 40 << 20, "off_no_gain": 2, "reads_off": 40}
    counts |= {"shorter_ns": 3_000_000_000, "longer_ns": 500_000_000, "work_ns": 10_000_000}
    (tmp_path / "n1.1.1.predict").write_text(
        "end exit\n" + "".join(f"prefetch_{key} {count}\n" for key, count in counts.items())
    )
    say_what_was_learnt(tmp_path)
    reads, *others = capsys.readouterr().err.splitlines()[1:]
    assert reads.startswith("halcyon: of 100 reads 50 were asked for ahead: 30 came in time, 5 late, 4 were in memory,")
    assert reads.endswith("1 in vain, 10 not used (10.0 MiB)")
    assert others == [
        "halcyon: reads took 2.500 s less than those left alone would have let expect; own work: 0.010 s",
        "halcyon: not read ahead: 2 were not sure enough, 3 were left alone for comparison, 40 came while it was off",
        "halcyon: reading ahead was off for a while: 2 times since it did not pay",
    ]


def test_reading_ahead_implies_learning(tmp_path: Path) -> None:
    read = "import os; fd = os.open('data', os.O_RDONLY); [os.pread(fd, 8, 4096 * i) for i in range(9)]"
    (tmp_path / "data").write_bytes(bytes(100_000))
    words = [sys.executable, "-m", "halcyon", "run", "--prefetch", "--", sys.executable, "-c", read]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "halcyon: 1 process learnt " in done.stderr
    assert "were asked for ahead" in done.stderr


def test_settings_without_the_layer_are_refused(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "halcyon", "run", "--trace", "--save-model", "models", "--", "true"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "add --predict" in done.stderr
