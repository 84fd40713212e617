"""The study of why logs win: what it takes of a writer's words, which run is next, which figure is met."""

import argparse
from dataclasses import replace
from pathlib import Path

import logs
import pytest
from logged_page import page
from logged_patterns import REPEAT, Key, Run, Setup, counted, keys, run_of
from logged_run import resampled, within
from logged_writers import outputs_of

from halcyon.delta.data_file import RunFile
from halcyon.errors import HalcyonSystemError

PRINTED = """some warning
wrote 4000 bytes, 2 files, 0.500000 s
  open 0.100000 0.200000
  write 0.300000 0.800000
  sync 0.100000 0.200000
read 4000 bytes, 2 files, 0.250000 s
  read 0.250000 0.500000
"""
ASKED = argparse.Namespace(smaller=1.0, only=None)


def run(key: Key, *, wall_s: float = 2.0, problem: str | None = None, programs: str = "build") -> Run:
    slowest, total = {"write": wall_s}, {"write": 2.0, "sync": 2.0, "open": 1.0}
    rates = {"effective_posix": 1e6}
    return Run(key, 10**6, 1, wall_s, slowest, total, rates, [1.0], 1.0, 0.0, programs, "boot", problem)


def test_words_of_a_writer_become_bandwidths() -> None:
    wrote, read = outputs_of(PRINTED)["wrote"], outputs_of(PRINTED)["read"]
    assert (wrote.bandwidth, read.bandwidth) == (8000, 16000)
    assert wrote.slowest_s == {"open": 0.1, "write": 0.3, "sync": 0.1}
    assert read.sum_s == {"read": 0.5}


def test_a_writer_without_times_failed() -> None:
    with pytest.raises(HalcyonSystemError, match="printed no times: nothing"):
        outputs_of("nothing")


def test_the_time_per_process_has_transfers_and_syncs_and_no_opens() -> None:
    assert run(Key("n1")).per_process == 250_000


def test_all_kinds_have_one_run_before_any_has_two() -> None:
    runs: list[Run] = []
    for repetition in range(2):
        for _ in keys():
            key = logs.next_key(runs, 2, None)
            assert key is not None
            assert sum(one.key == key for one in runs) == repetition
            runs.append(run(key))
    first, second = ([one.key for one in runs[begin : begin + len(list(keys()))]] for begin in (0, len(runs) // 2))
    assert set(first) == set(second) == set(keys())
    assert first != second
    assert logs.next_key(runs, 2, None) is None


def test_a_kind_that_always_fails_is_given_up() -> None:
    failing = next(keys())
    runs = [run(key) for key in keys() for _ in range(REPEAT) if key != failing]
    runs += [run(failing, problem="it failed")] * (2 * REPEAT - 1)
    assert logs.next_key(runs, REPEAT, None) == failing
    assert logs.next_key([*runs, runs[-1]], REPEAT, None) is None


def test_a_figure_is_met_by_seven_runs_of_one_build_that_agree() -> None:
    key = Key("n1")
    good = [run(key, wall_s=2 + 0.01 * i) for i in range(REPEAT)]

    def why(runs: list[Run], asked: argparse.Namespace = ASKED) -> str:
        return logs.why_unmet(counted(runs)[key], runs, asked)

    assert why(good) == ""
    assert why(good[1:]) == "6 of 7 runs; the same command goes on"
    assert "of several builds" in why([*good[1:], replace(good[0], programs="other")])
    assert "an interval of ±" in why([*good[1:], replace(good[0], wall_s=40.0)])
    assert why([*good, *[replace(good[0], problem="it failed")] * 3]) == "3 of 10 runs do not count"
    assert why(good, argparse.Namespace(smaller=5.0, only=None)) == "a trial with 5 times less data"


def test_a_curve_begins_with_the_first_transfer_and_ends_with_the_last() -> None:
    means = [0.0, 0.0, 1.0, 0.0, 3.0, 0.0]
    assert list(within(means)) == [1.0, 0.0, 3.0]
    assert list(within([0.0])) == []
    assert resampled([1.0] * 600) == [1.0] * 60
    assert resampled([]) == []


def test_runs_are_kept_and_printed(tmp_path: Path) -> None:
    file = tmp_path / "patterns.jsonl"
    assert page(file) == "*Not measured: `make study-logs`.*"
    kept = [run(Key("n1", way), wall_s=2 if way == "log" else 4) for way in ("plain", "log") for _ in range(REPEAT)]
    with RunFile(file, Setup.of(1), None, run_of) as data:
        for one in kept:
            data.add(one)
    with RunFile(file, Setup.of(1), None, run_of) as data:
        assert data.runs == kept
    row = next(line for line in page(file).splitlines() if line.startswith("| N-1: one file") and "durable" in line)
    assert "| 0.2 (0.2 … 0.2) | 0.5 (0.5 … 0.5) | 2.00 |" in row
